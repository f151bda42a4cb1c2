"""Applications from Maven: what is fetched is checked file by file, and what is half there goes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabriscope.cli.apps import COMMAND
from fabriscope.hosts import java_apps
from fabriscope.model.errors import FabriscopeError, LaunchError, ToolMissing

MAVEN = """#!/bin/sh
for word; do case $word in -DoutputDirectory=*) folder=${{word#*=}} ;; esac; done
{body}
"""
FETCH = 'mkdir "$folder" && printf %s one > "$folder/a.jar" && printf %s {second} > "$folder/b.jar"'


class Machine:
    """A machine with nothing on PATH but what is put there, and a program `toy` that can be added."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bin, self.known = folder / "bin", folder / "known"
        for made in (self.bin, self.known):
            made.mkdir()
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        monkeypatch.setenv("PATH", f"{self.bin}:/usr/bin:/bin")
        monkeypatch.setattr(java_apps, "_HERE", self.known)
        monkeypatch.setattr("shutil.which", self._which)
        (self.known / "toy.xml").write_text(
            '<project xmlns="http://maven.apache.org/POM/4.0.0"><version>1.2</version></project>'
        )
        digests = {"a.jar": "one", "b.jar": "two"}
        lines = [f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in digests.items()]
        (self.known / "toy.sha256").write_text("".join(lines))

    def _which(self, name: str) -> str | None:
        return str(self.bin / name) if (self.bin / name).exists() else None

    def put(self, name: str, body: str = "exit 0") -> None:
        (self.bin / name).write_text(MAVEN.format(body=body))
        (self.bin / name).chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_what_is_missing_is_named_with_its_package(machine: Machine) -> None:
    with pytest.raises(ToolMissing, match="java is not on this machine -- install the package default-jdk-headless"):
        java_apps.add("toy")
    machine.put("java")
    with pytest.raises(ToolMissing, match="mvn is not on this machine -- install the package maven"):
        java_apps.add("toy")
    with pytest.raises(FabriscopeError, match="known: toy"):
        java_apps.add("spark")


def test_added_programs_are_listed_found_and_removed(machine: Machine) -> None:
    machine.put("java")
    machine.put("mvn", FETCH.format(second="two"))
    app = java_apps.add("toy")
    assert (app.name, app.version, app.size_bytes) == ("toy", "1.2", 6)
    assert java_apps.added() == [app] == [java_apps.find("toy")]
    assert app.folder.parent.stat().st_mode & 0o077 == 0
    machine.put("mvn", "exit 1")
    assert java_apps.add("toy") == app  # nothing is fetched twice
    assert java_apps.remove("toy") == [app.folder]
    assert not app.folder.exists()
    with pytest.raises(FabriscopeError, match="'toy' was not added by fabriscope -- added: none"):
        java_apps.remove("toy")
    with pytest.raises(ToolMissing, match="`fabriscope apps add toy` fetches it"):
        java_apps.find("toy")


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (FETCH.format(second="bad"), "b.jar has the SHA-256 digest .*, and .* is expected"),
        (FETCH.format(second="two") + ' && rm "$folder/a.jar"', "a.jar was not fetched"),
        (FETCH.format(second="two") + ' && touch "$folder/c.jar"', "c.jar is not expected"),
        ("echo '[ERROR] no such host'; exit 1", "Maven cannot fetch it: no such host -- is Maven's repository"),
    ],
)
def test_what_is_not_as_it_should_be_leaves_nothing(machine: Machine, body: str, why: str) -> None:
    machine.put("java")
    machine.put("mvn", body)
    with pytest.raises(LaunchError, match=why):
        java_apps.add("toy")
    assert [path.name for path in java_apps.cache_folder().iterdir()] == ["lock"]
    assert java_apps.added() == []


def test_what_others_can_write_is_not_used(machine: Machine) -> None:
    machine.put("java")
    machine.put("mvn", FETCH.format(second="two"))
    app = java_apps.add("toy")
    (app.jars / "a.jar").chmod(0o666)
    with pytest.raises(LaunchError, match=r"what is kept there is not executed: .*can be written by other users"):
        java_apps.find("toy")


def test_the_command_line_lists_what_can_be_added(machine: Machine) -> None:
    listed = CliRunner().invoke(COMMAND, ["list"])
    assert listed.output.split() == ["toy", "1.2", "`fabriscope", "apps", "add", "toy`", "fetches", "it"]
    assert "choose toy" in CliRunner().invoke(COMMAND, ["add", "spark"]).output


def test_every_program_that_we_know_has_its_digests() -> None:
    known = java_apps.known()
    assert {"hadoop", "hbase"} <= set(known)
    for name in known:
        lines = (Path(java_apps.__file__).parent / f"{name}.sha256").read_text().splitlines()
        assert all(len(line.split()[0]) == 64 and line.endswith(".jar") for line in lines)
