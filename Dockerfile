# syntax=docker/dockerfile:1
ARG PYTHON_VERSION=3.11

FROM python:${PYTHON_VERSION}-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_ROOT_USER_ACTION=ignore
WORKDIR /src

# The environment that is copied has no pip: the one of the base image installs into it.
RUN python -m venv --without-pip /opt/belay
COPY requirements-runtime.lock ./
RUN pip --python /opt/belay/bin/python install --require-hashes --only-binary :all: \
        -r requirements-runtime.lock

COPY requirements-build.lock ./
RUN pip install --require-hashes -r requirements-build.lock
COPY pyproject.toml README.md LICENSE ./
COPY graph graph
COPY bot bot
COPY adapters adapters
RUN pip wheel --no-deps --no-build-isolation --wheel-dir /dist . \
    && pip --python /opt/belay/bin/python install --no-deps /dist/*.whl


FROM python:${PYTHON_VERSION}-slim-bookworm
LABEL org.opencontainers.image.title="Belay" \
      org.opencontainers.image.description="A chat bot that answers a team's questions from the team's own documents" \
      org.opencontainers.image.licenses="Apache-2.0"

# Repositories are read with git, over ssh as well. Debian's stable release fixes the versions.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends git openssh-client \
    && rm -rf /var/lib/apt/lists/*

RUN useradd --no-log-init --uid 10001 --user-group --home-dir /data --create-home belay
COPY --from=build /opt/belay /opt/belay

# With LANGSMITH_TRACING set to true in the host's environment, prompts would leave the machine.
# One thread a library: spin-waiting threads slow each other down in a small container.
ENV PATH=/opt/belay/bin:$PATH \
    BELAY_HOME=/data \
    LANGSMITH_TRACING=false \
    OMP_NUM_THREADS=1 \
    OPENBLAS_NUM_THREADS=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1

USER 10001:10001
WORKDIR /data
VOLUME /data

# Whether the process lives, not whether it can answer: a container that is restarted because Redis
# or a remote model is down would lose time, and help nobody. Balancers ask /readyz.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen('http://127.0.0.1:' + os.environ.get('BELAY_HTTP', '8080').rpartition(':')[2] + '/healthz', timeout=4)"]

ENTRYPOINT ["belay"]
CMD ["run"]
