"""`fabriscope run` that is asked to end before it measures, and options that are wrong: a sentence and a status."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabriscope.cli import fabriscope
from fabriscope.model.errors import FabriscopeError
from fabriscope.model.foreign import is_digits

PLAN = "name: x\nhosts: localhost\nplacements: [intra]\nlayers: [tcp]\nbenchmarks:\n  ping_pong: {sizes: [64]}\n"


def _catches(process: subprocess.Popen[bytes], number: int) -> bool:
    text = Path(f"/proc/{process.pid}/status").read_text()
    return bool(int(text.split("SigCgt:")[1].split()[0], 16) >> (number - 1) & 1)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_before_anything_is_measured_ends_with_its_status(number: int, status: int, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "plan.yaml")
    late = "import time, sys; sys.argv[0] = 'fabriscope'; from fabriscope.model import search_paths;"
    late += "search_paths.leave_current_folder = lambda: time.sleep(60); from fabriscope.__main__ import main; main()"
    process = subprocess.Popen([sys.executable, "-c", late, "run", "plan.yaml"], cwd=tmp_path, stderr=subprocess.PIPE)
    while process.poll() is None and not _catches(process, number):
        time.sleep(0.01)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == status
    name = signal.Signals(number).name
    assert said.decode() == f"fabriscope: ended by {name} before anything was measured\n"


def test_a_signal_while_python_leaves_changes_no_status() -> None:
    code = (
        "import atexit, os, signal, sys; sys.argv[1:] = ['run', '--help'];"
        "atexit.register(lambda: os.kill(os.getpid(), signal.SIGTERM));"
        "from fabriscope.__main__ import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--budget", "3x"], "--budget: budget: '3x' is not a duration"),
        (["--budget", "\u0663s"], "--budget: budget: "),
        (["--only", "nothing"], "--only: "),
    ],
)
def test_a_wrong_option_is_named_and_no_line_of_the_plan(words: list[str], says: str, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    asked = ["run", str(tmp_path / "plan.yaml"), "-o", str(tmp_path / "run"), *words]
    done = CliRunner().invoke(fabriscope, asked)
    assert isinstance(done.exception, FabriscopeError)
    assert str(done.exception).startswith(says)
    assert "plan.yaml" not in str(done.exception)


@pytest.mark.parametrize("count", ["\u0663", "0", "-1", "1_0", "010", "x"])
def test_launches_are_a_whole_number_in_decimal_digits(count: str, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    done = CliRunner().invoke(fabriscope, ["run", str(tmp_path / "plan.yaml"), "--launches", count])
    assert done.exit_code == 2
    assert "--launches" in done.output


def test_digits_are_those_of_ascii() -> None:
    assert [is_digits(text) for text in ("3", "010", "", "-1", "\u0663", "\u00b2", "1_0")] == [True, True, *[False] * 5]
