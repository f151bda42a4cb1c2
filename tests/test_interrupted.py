"""Ctrl-C while a command is still being loaded, and while Python leaves: a sentence and a status, never a traceback."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

MOMENTS = [
    "fabriscope.model", "fabriscope.model.endings", "typing", "fabriscope.__main__",
    "fabriscope.model.search_paths", "pathlib", "fabriscope.cli", "click",
    "fabriscope.bug_log", "fabriscope.registry", "fabriscope.cli.run", "fabriscope.cli.show", "fabriscope.store",
    "polars", "fabriscope.store.shapes",
]  # fmt: skip
"""Modules, in the order in which `show` loads them; Ctrl-C comes when each is looked for."""
INTERRUPT = """
import os, signal, sys
sys.argv = ["/usr/bin/fabriscope", "show", "/"]
for name in ("typing", "pathlib"):
    sys.modules.pop(name, None)
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {moment!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from fabriscope.__main__ import main
main()
"""
SENTENCES = ("fabriscope: interrupted before anything was begun\n", "interrupted\n")


@pytest.mark.parametrize("moment", MOMENTS)
def test_while_a_command_is_loaded_it_ends_in_a_sentence(moment: str) -> None:
    code = INTERRUPT.format(moment=moment)
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, check=False, timeout=60)
    assert done.returncode == 128 + signal.SIGINT, done.stderr.decode()
    assert done.stderr.decode().lstrip() in SENTENCES  # click begins a line of its own
    assert not done.stdout


def test_where_python_can_raise_nothing_it_comes_again() -> None:
    code = """
import os, signal, sys, time
sys.argv = ["fabriscope", "read"]
from fabriscope import cli
from fabriscope.model import endings
endings.begun()
class Left:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0)
def late():
    Left()
    time.sleep(20)
cli._refuse_removed_folder = late
cli.main()
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, check=False, timeout=15)
    assert (done.returncode, done.stderr.decode()) == (130, "interrupted\n")


def test_while_python_leaves_it_leaves_no_traceback() -> None:
    code = (
        "import atexit, os, signal, sys; sys.argv = ['fabriscope', '--version'];"
        "atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT));"
        "from fabriscope.__main__ import main; main()"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")


def test_a_program_that_loads_us_keeps_its_own_answer() -> None:
    code = "import signal, fabriscope; assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    assert subprocess.run([sys.executable, "-P", "-c", code], check=False, timeout=60).returncode == 0
