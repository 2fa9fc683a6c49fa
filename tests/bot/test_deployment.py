"""What is shipped to run the bot fits it: compose.yaml, dashboard, alerts, Dockerfile, docs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.metrics import MetricWrapperBase

from bot.meter import Trouble
from bot.metrics import DEGRADED, Metrics
from bot.ports import SyncState
from bot.settings import PREFIX, Settings
from graph.model import Outcome

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
EXAMPLE = (ROOT / "deploy" / ".env.example").read_text(encoding="utf-8")
DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "belay.json").read_text(encoding="utf-8"))
ALERTS = yaml.safe_load(
    (ROOT / "deploy" / "prometheus" / "alerts.yaml").read_text(encoding="utf-8")
)
OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
KNOWN = {PREFIX + name.upper() for name in (*Settings.model_fields, "config")}
OF_PROMETHEUS = {"job", "instance"}


def samples() -> dict[str, set[str]]:
    """Every series that /metrics can have, with its labels."""
    registry = Metrics().registry
    found: dict[str, set[str]] = {}
    for family in registry.collect():
        collector = registry._names_to_collectors.get(family.name)
        labels = set(collector._labelnames) if isinstance(collector, MetricWrapperBase) else set()
        ends = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count")}
        for end in ends.get(family.type, ("",)):
            found[family.name + end] = labels | ({"le"} if end == "_bucket" else set())
    return found


SAMPLES = samples()


def expressions() -> Iterator[tuple[str, str]]:
    """Where it stands, and a PromQL expression."""
    for panel in DASHBOARD["panels"]:
        for number, target in enumerate(panel["targets"]):
            yield f"panel {panel['title']} {number}", target["expr"]
    for group in ALERTS["groups"]:
        for rule in group["rules"]:
            yield f"alert {rule['alert']}", rule["expr"]


EXPRESSIONS = dict(expressions())
VALUES = {
    "cause": {*Trouble, *DEGRADED, "failed", "index_down", "index_empty"},
    "outcome": {*Outcome},
    "state": {*SyncState},
    "result": {"ok", "found", "empty", "failed"},
}
"""Of labels whose lists are closed."""


def shown() -> Iterator[tuple[str, str]]:
    """Where it stands, and what people read beside its figures."""
    for panel in DASHBOARD["panels"]:
        for number, target in enumerate(panel["targets"]):
            yield f"panel {panel['title']} {number}", target.get("legendFormat", "")
    for group in ALERTS["groups"]:
        for rule in group["rules"]:
            yield f"alert {rule['alert']}", " ".join(rule["annotations"].values())


SHOWN = dict(shown())


@pytest.mark.parametrize("place", EXPRESSIONS)
def test_every_figure_that_is_asked_for_exists(place: str) -> None:
    expression = EXPRESSIONS[place]
    used = set(re.findall(r"\b(?:belay|process)_\w+", expression))
    assert used
    assert used <= set(SAMPLES)
    labels = set(re.findall(r'(\w+)\s*(?:=~|!=|!~|=)\s*"', expression))
    for names in re.findall(r"\bby \(([^)]*)\)", expression):
        labels |= {name.strip() for name in names.split(",")}
    known = set().union(*(SAMPLES[name] for name in used)) | OF_PROMETHEUS
    assert labels <= known


@pytest.mark.parametrize("place", EXPRESSIONS)
def test_every_selector_names_labels_and_values_of_its_own_figure(place: str) -> None:
    for name, inside in re.findall(r"\b(belay_\w+)\{([^}]*)\}", EXPRESSIONS[place]):
        for label, values in re.findall(r'(\w+)\s*(?:=~|!=|!~|=)\s*"([^"]*)"', inside):
            assert label in SAMPLES[name] | OF_PROMETHEUS, name
            if label in VALUES:
                assert set(values.split("|")) <= VALUES[label], label


@pytest.mark.parametrize("place", EXPRESSIONS)
def test_every_label_that_is_grouped_by_is_one_of_its_figure(place: str) -> None:
    """Also through a function: what is summed first is what has the label."""
    for names, name in re.findall(r"\bby \(([^)]*)\) \(\w*\(?(belay_\w+)", EXPRESSIONS[place]):
        assert {one.strip() for one in names.split(",")} <= SAMPLES[name] | OF_PROMETHEUS


@pytest.mark.parametrize("place", SHOWN)
def test_a_legend_shows_labels_that_are_left(place: str) -> None:
    wanted = set(re.findall(r"\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}", SHOWN[place]))
    grouped = re.findall(r"\bby \(([^)]*)\)", EXPRESSIONS[place])
    left = {name.strip() for names in grouped for name in names.split(",")}
    used = re.findall(r"\b(?:belay|process)_\w+", EXPRESSIONS[place])
    assert wanted <= (
        left if grouped else set().union(*(SAMPLES[name] for name in used)) | OF_PROMETHEUS
    )


def test_the_dashboard_shows_every_figure() -> None:
    """Whatever is counted can be seen without writing a query."""
    shown = set(re.findall(r"\bbelay_\w+", " ".join(EXPRESSIONS.values())))
    families = {re.sub(r"_(bucket|sum|count|total)$", "", name) for name in shown}
    counted = {re.sub(r"_(bucket|sum|count|total)$", "", n) for n in SAMPLES if "belay_" in n}
    assert counted <= families


def test_panels_do_not_lie_on_each_other() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        grid = panel["gridPos"]
        cells = {(grid["x"] + x, grid["y"] + y) for x in range(grid["w"]) for y in range(grid["h"])}
        assert not cells & taken, panel["title"]
        assert grid["x"] + grid["w"] <= 24
        taken |= cells


@pytest.mark.parametrize(
    "name", [rule["alert"] for group in ALERTS["groups"] for rule in group["rules"]]
)
def test_every_alert_says_what_to_do(name: str) -> None:
    assert f"`{name}`" in OPERATIONS


@pytest.mark.parametrize("name", SERVICES)
class TestCompose:
    def test_the_image_is_pinned(self, name: str) -> None:
        assert re.search(r":\d+\.\d+\.\d+", SERVICES[name]["image"])

    def test_its_health_is_checked(self, name: str) -> None:
        check = SERVICES[name]["healthcheck"]
        assert check["test"][0] in ("CMD", "CMD-SHELL")
        assert {"interval", "timeout", "retries"} <= set(check)

    def test_it_is_bounded_and_cannot_become_more_than_it_is(self, name: str) -> None:
        service = SERVICES[name]
        assert {"cpus", "memory"} <= set(service["deploy"]["resources"]["limits"])
        assert "no-new-privileges:true" in service["security_opt"]
        assert service["cap_drop"] == ["ALL"]

    def test_its_volumes_exist(self, name: str) -> None:
        for volume in SERVICES[name]["volumes"]:
            source = volume.partition(":")[0]
            assert source.startswith("$") or source in COMPOSE["volumes"]

    def test_no_secret_stands_in_the_file(self, name: str) -> None:
        for key, value in SERVICES[name].get("environment", {}).items():
            if re.search(r"PASSWORD|KEYS|_KEY|TOKEN", key):
                assert value.startswith("${")


def test_two_bots_wait_for_healthy_engines() -> None:
    bot = SERVICES["bot"]
    assert bot["deploy"]["replicas"] == 2
    assert bot["depends_on"] == {
        "redis": {"condition": "service_healthy"},
        "weaviate": {"condition": "service_healthy"},
    }
    assert bot["read_only"] is True
    assert "/readyz" in bot["healthcheck"]["test"][-1]


def test_the_variables_of_the_bot_are_settings_and_make_one() -> None:
    given = SERVICES["bot"]["environment"]
    named = set(given) | set(re.findall(r"^#?(BELAY_\w+)=", EXAMPLE, re.MULTILINE))
    assert {name.partition("__")[0] for name in named} <= KNOWN
    settings = Settings.model_validate({"sources": json.loads(given["BELAY_SOURCES"])})
    assert settings.sources[0].path == Path("/docs")
    Settings.model_validate({"http": given["BELAY_HTTP"], "log_format": given["BELAY_LOG_FORMAT"]})


def test_what_compose_asks_for_stands_in_the_example() -> None:
    wanted = set(re.findall(r"\$\{(\w+)", (ROOT / "compose.yaml").read_text(encoding="utf-8")))
    assert wanted <= set(re.findall(r"^(\w+)=", EXAMPLE, re.MULTILINE))


def test_the_bot_stops_in_the_time_that_it_is_given() -> None:
    settings = Settings()
    needed = settings.desk.grace + settings.desk.options().last_call + settings.sessions.last_run
    assert int(SERVICES["bot"]["stop_grace_period"].removesuffix("s")) > needed


def test_docker_itself_reads_the_file(tmp_path: Path) -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], check=False,
                                        capture_output=True).returncode:  # fmt: skip
        pytest.skip("needs docker with its compose plugin")
    filled = re.sub(r"^(\w+)=$", r"\1=x", EXAMPLE, flags=re.MULTILINE)
    (tmp_path / "env").write_text(filled, encoding="utf-8")
    shown = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    file = tmp_path / "compose.yaml"
    file.write_text(shown.replace("deploy/.env", str(tmp_path / "env")), encoding="utf-8")
    command = [docker, "compose", "--env-file", str(tmp_path / "env"), "-f", str(file), "config"]
    done = subprocess.run([*command, "--quiet"], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_image_looks_after_itself() -> None:
    """What is asked there is served by `belay run`, at the address of the settings."""
    (check,) = re.findall(r"^HEALTHCHECK ((?:.*\\\n)*.*)", DOCKERFILE, re.MULTILINE)
    assert "/healthz" in check
    assert Settings().http.rpartition(":")[2] in check


def test_every_figure_is_explained() -> None:
    rows = set(re.findall(r"^\| `(belay_\w+)`", OPERATIONS, re.MULTILINE))
    assert rows == {name for name in families() if name.startswith("belay_")}


def families() -> set[str]:
    """As Prometheus names them: counters end in _total, histograms have no end."""
    return {
        family.name + ("_total" if family.type == "counter" else "")
        for family in Metrics().registry.collect()
    }
