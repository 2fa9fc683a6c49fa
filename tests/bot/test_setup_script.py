"""scripts/venv and scripts/peers on machines that have little: what there is stands in for Python,
apt-get and sudo on the path."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
PYTHON = """#!/bin/bash
case "$*" in
  *"sys.exit(sys.version_info"*) exit {old} ;;
  *ensurepip*) test -e {flag} ;;
  *print*) echo python3.11-venv ;;
  "-m venv "*) mkdir -p "$3" ;;
  *) exit 99 ;;
esac
"""
APT = """#!/bin/bash
echo "apt-get $*" >>{log}
case "$*" in *install*) touch {flag} ;; esac
"""
BROKEN_APT = """#!/bin/bash
echo "E: nothing can be fetched" >&2
exit 100
"""
SUDO = '#!/bin/bash\necho "sudo" >>{log}\nexec "$@"\n'


class Machine:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"
        self.bin = folder / "bin"
        self.bin.mkdir()
        for tool in ("bash", "id", "mkdir", "touch", "env"):
            found = next(p / tool for p in map(Path, os.get_exec_path()) if (p / tool).exists())
            (self.bin / tool).symlink_to(found)

    def has(self, name: str, text: str, **values: object) -> Machine:
        tool = self.bin / name
        tool.write_text(text.format(flag=self.folder / "flag", log=self.log, **values))
        tool.chmod(0o755)
        return self

    def makes_venv(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.runs("venv", self.folder / "venv", *words)

    def gets_peers(self) -> subprocess.CompletedProcess[str]:
        return self.runs("peers")

    def runs(self, script: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.bin / "bash", SCRIPTS / script, *words],
            check=False,
            env={"PATH": str(self.bin)},
            capture_output=True,
            text=True,
        )

    @property
    def done(self) -> str:
        return self.log.read_text() if self.log.exists() else ""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_debian_without_venv_gets_it_from_apt(machine: Machine) -> None:
    machine.has("python3.11", PYTHON, old=0).has("apt-get", APT).has("sudo", SUDO)
    made = machine.makes_venv()
    assert made.returncode == 0, made.stderr
    assert (machine.folder / "venv").is_dir()
    assert "apt-get update" in machine.done
    assert "python3.11-venv" in machine.done
    assert ("sudo" in machine.done) == (os.geteuid() != 0)
    assert "Installing python3.11-venv" in made.stderr


def test_a_python_with_venv_asks_nobody(machine: Machine) -> None:
    (machine.folder / "flag").touch()
    machine.has("python3", PYTHON, old=0).has("apt-get", APT).has("sudo", SUDO)
    assert machine.makes_venv().returncode == 0
    assert machine.done == ""


def test_without_apt_the_package_is_named(machine: Machine) -> None:
    machine.has("python3.11", PYTHON, old=0).has("sudo", SUDO)
    made = machine.makes_venv()
    assert made.returncode != 0
    assert "python3.11-venv" in made.stderr
    assert not (machine.folder / "venv").exists()


@pytest.mark.parametrize("words", [(), ("python3",)])
def test_an_old_python_is_refused(machine: Machine, words: tuple[str, ...]) -> None:
    machine.has("python3", PYTHON, old=1)
    made = machine.makes_venv(*words)
    assert made.returncode != 0
    assert "No Python 3.11 or later" in made.stderr
    assert "make PYTHON=" in made.stderr


def test_a_debian_without_peers_gets_those_that_are_missing(machine: Machine) -> None:
    machine.has("google-chrome", PYTHON, old=0).has("apt-get", APT).has("sudo", SUDO)
    got = machine.gets_peers()
    assert got.returncode == 0, got.stderr
    (installed,) = [line for line in machine.done.splitlines() if "install" in line]
    # sshd is also looked for outside of PATH, where this machine may have it
    wanted = "git npm redis-server"
    assert installed.replace(" openssh-server", "").endswith(f" {wanted}")
    assert f"Installing {wanted}" in got.stderr.replace("openssh-server ", "")


def test_a_machine_with_all_peers_asks_nobody(machine: Machine) -> None:
    for name in ("chromium", "git", "sshd", "npm", "redis-server", "apt-get", "sudo"):
        machine.has(name, APT)
    assert machine.gets_peers().returncode == 0
    assert machine.done == ""


def test_without_apt_the_missing_peers_are_named_and_nothing_fails(machine: Machine) -> None:
    machine.has("chromium", PYTHON, old=0).has("sudo", SUDO)
    got = machine.gets_peers()
    assert got.returncode == 0
    assert "npm redis-server" in got.stderr
    assert "skipped" in got.stderr


def test_peers_that_apt_cannot_fetch_are_a_failure(machine: Machine) -> None:
    machine.has("apt-get", BROKEN_APT).has("sudo", SUDO)
    got = machine.gets_peers()
    assert got.returncode != 0
    assert "nothing can be fetched" in got.stderr
