"""A check that somebody else wrote, in a folder of theirs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.audit.made_up import scene

from fabriscope.audit import auditing

TEXT = """from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def judge(place: Place) -> Wrong | None:
    return Wrong("all EPYC", "buy another", [place.witness("cpu.model", "lscpu")])


CHECK = Check("no-epyc", "note", "a test", why="a test", source="a test", look=each(r"cpu\\.model", judge))
"""


def test_a_check_of_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "audit" / "checks"
    folder.mkdir(parents=True, mode=0o700)
    tmp_path.chmod(0o700)
    (folder / "no_epyc.py").write_text(TEXT)
    monkeypatch.setenv("FABRISCOPE_PLUGINS", str(tmp_path))
    (finding,) = auditing.audit(scene()).findings
    assert (finding.check, finding.hosts) == ("no-epyc", ("node0", "node1", "node2", "node3"))
