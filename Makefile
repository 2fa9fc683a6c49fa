# Needs make and Python 3.11 or later. `make` alone lists the targets.
#
#   PYTHON=python3.12      the interpreter, when the first suitable one is not the right one
#   ARGS="-k verify -x"    passed on to `belay chat`, pytest, uv or the benchmarks

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VENV ?= .venv
PYTHON ?=
ARGS ?=

PY := $(VENV)/bin/python
BELAY := $(VENV)/bin/belay
# Two threads that spin-wait for each other are slower than one as soon as the machine is busy.
QUIET_ENV := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 LANGSMITH_TRACING=false
NODE_PEERS := $(addsuffix node_modules/.package-lock.json,$(dir $(wildcard tests/peers/*/package-lock.json)))

.PHONY: help setup run test peers check fix lock bench clean programs

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

setup: $(VENV)/.installed ## virtual environment with the locked packages and Belay itself
	@:

# In a data folder of their own: a later `belay sync ~/runbooks` is not mixed with the examples.
run: setup ## index the example documents and open the chat
	@export BELAY_HOME="$${BELAY_HOME:-.belay}/examples"; \
	$(BELAY) sync examples/docs </dev/null >&2 && $(BELAY) chat $(ARGS)

test: check peers ## everything: check, then the test suite
	@$(QUIET_ENV) $(PY) -m pytest --numprocesses auto --dist loadfile $(ARGS)

peers: programs $(VENV)/.peers $(NODE_PEERS) ## what the tests talk to: a browser, Redis, emulators, a model

check: setup ## format, lint, types, import rules, generated documentation
	@$(PY) -m ruff format --quiet --check .
	@$(PY) -m ruff check --quiet .
	@$(PY) -m mypy
	@$(VENV)/bin/lint-imports
	@$(QUIET_ENV) $(PY) scripts/docs.py --check

fix: setup ## format, repair what the linter can repair, write the generated documentation
	@$(PY) -m ruff format .
	@$(PY) -m ruff check --fix .
	@$(QUIET_ENV) $(PY) scripts/docs.py

# The runtime and build locks take their versions from the full one, so the image runs what was tested.
UV_COMPILE = PATH="$(VENV)/bin:$$PATH" UV_SYSTEM_CERTS=true uv pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-annotate --no-header

lock: $(VENV)/.created ## resolve the three lock files again (ARGS=--upgrade for newer versions)
	@command -v uv >/dev/null || $(PY) -m pip install --quiet uv
	@$(UV_COMPILE) pyproject.toml --group dev --all-extras $(ARGS) -o requirements.lock
	@$(UV_COMPILE) pyproject.toml --extra mcp --extra otel -c requirements.lock -o requirements-runtime.lock
	@printf '%s\n' hatchling editables | $(UV_COMPILE) - -c requirements.lock -o requirements-build.lock

clean: ## remove the virtual environment and caches; indexed documents in .belay stay
	rm -rf $(VENV) .venv-bench dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .cache
	rm -rf tests/peers/*/node_modules
	find bot graph adapters tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.created:
	@scripts/venv $(VENV) "$(PYTHON)" </dev/null
	@touch $@

$(VENV)/.locked: requirements.lock $(VENV)/.created
	@scripts/install $(PY) $<
	@touch $@

$(VENV)/.installed: pyproject.toml requirements-build.lock $(VENV)/.locked
	@scripts/install $(PY) requirements-build.lock
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.peers: requirements-peers.txt $(VENV)/.locked
	@scripts/install $(PY) $< --no-deps
	@touch $@

programs:
	@scripts/peers

# Without npm, or without its registry, nothing is made, and the tests that need it are skipped.
# Node brings certificates of its own; a registry behind a company's proxy needs those of the system.
SYSTEM_CERTIFICATES := $(wildcard /etc/ssl/certs/ca-certificates.crt)
ifneq ($(SYSTEM_CERTIFICATES),)
export NODE_EXTRA_CA_CERTS ?= $(SYSTEM_CERTIFICATES)
endif

%/node_modules/.package-lock.json: %/package-lock.json | programs
	@if command -v npm >/dev/null; then \
		echo "Installing $<" >&2; \
		npm ci --prefix $* --ignore-scripts --loglevel=error --no-audit --no-fund </dev/null >/dev/null \
		|| echo "$* could not be installed: its tests are skipped" >&2; \
	fi

BENCH_DOCS ?= examples/docs
BENCH_QUESTIONS ?= examples/questions.jsonl

bench: setup ## ratios side by side, written to docs/benchmarks.md (BENCH_DOCS, BENCH_QUESTIONS; ARGS="--only chat" prints one part)
	@$(MAKE) .venv-bench/.installed || echo "the contenders are left out: they could not be installed" >&2
	@$(QUIET_ENV) $(PY) -m benchmarks --docs $(BENCH_DOCS) --questions $(BENCH_QUESTIONS) $(ARGS)

.venv-bench/.installed: benchmarks/requirements.txt
	@scripts/venv .venv-bench "$(PYTHON)" </dev/null
	@scripts/install .venv-bench/bin/python $<
	@touch $@
