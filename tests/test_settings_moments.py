"""One kill of `campaigns.settings.moments`, of a host over ssh: the campaign has the rest of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests import needs


def test_what_a_kill_leaves_set_is_put_back(labs: None, tmp_path: Path) -> None:
    needs.root("sshd changes users, which only root can")
    needs.program("sshd")
    argv = [sys.executable, "-m", "campaigns.settings.moments", "--output", str(tmp_path / "c")]
    argv += ["--count", "1", "--first", "2", "--seed", "2"]
    done = subprocess.run(argv, cwd=needs.ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ssh: 1 kills" in done.stdout
