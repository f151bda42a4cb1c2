"""Texts that the Python of a host runs: our own gets them compiled, that of another machine as they are."""

from __future__ import annotations

import subprocess
import sys

from fabriscope.hosts import access
from fabriscope.model.host import HERE, Host

TEXT = 'import math\nWORDS = "as it is"\ndef main(number):\n    print(math.floor(number), WORDS, __name__)\n'
FAR = Host("far", access=("ssh", "far"), kind="machine")
INSIDE = Host("node1", access=("nsenter", "node1"), kind="namespace")


def test_a_text_says_the_same_compiled_or_not() -> None:
    said = []
    for host in (Host("localhost"), INSIDE, FAR):
        (_, *words), text = access.python_program(host, TEXT, "main(2.5)")
        done = subprocess.run([sys.executable, *words], input=text, capture_output=True, timeout=60, check=True)
        said.append(done.stdout)
    assert said == [b"2 as it is __main__\n"] * 3


def test_what_is_compiled_here_runs_here() -> None:
    assert access.python_program(FAR, TEXT, "main(1)") == (("python3", "-I", "-S", "-"), f"{TEXT}\nmain(1)\n".encode())
    for host in (HERE, INSIDE):
        (program, *_), text = access.python_program(host, TEXT, "main(1)")
        assert program == sys.executable, "another one's code may be another"
        assert b"def main" not in text
