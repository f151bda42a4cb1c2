"""Settings of an MPI library in a plan of real hosts that measures another: `plan check` asks about them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.plan.test_fresh_eyes import PLAN, REAL, checked

from fabriscope.model.errors import ToolMissing
from fabriscope.model.mpi import MpiStack
from fabriscope.running import library_settings

SETTINGS = "settings: {mpich_ofi_eager_limit: 1MiB}"
OF_HOSTS = PLAN.replace(*REAL)
OF_LIBRARY = f"{OF_HOSTS}layers: [mpi]\nmpi: [{{name: m, {SETTINGS}}}]\n"
OF_FABRIC = f"{OF_HOSTS.replace('eth0', f'eth0, {SETTINGS}')}layers: [mpi]\nmpi: [{{name: m}}]\n"


@pytest.mark.parametrize(("text", "line"), [(OF_LIBRARY, 9), (OF_FABRIC, 4)], ids=["library", "fabric"])
@pytest.mark.parametrize(("kind", "is_asked"), [("openmpi4", True), ("mpich", False), (None, False)])
def test_a_setting_of_another_library_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, line: int, kind: str | None, *, is_asked: bool
) -> None:
    def installed(*_: object) -> MpiStack:
        if kind is None:
            raise ToolMissing("it is not here")
        return MpiStack("m", kind, "1.0", "/opt/m/bin/mpirun", None)

    monkeypatch.setattr(library_settings, "installed", installed)
    said = "look again: mpich_ofi_eager_limit counts in launches of MPICH over libfabric, and m is of another library"
    asked = [one for one in checked(tmp_path, text).output.splitlines() if one.startswith(said)]
    assert [one.endswith(f"(line {line})") for one in asked] == [True] * is_asked
