"""How a command begins on its host."""

from __future__ import annotations

import shlex
import subprocess

from fabriscope.launch._start import Start, start_of
from fabriscope.model.command import Command
from fabriscope.model.host import Host

COMMAND = Command(("prog", "two words"), "h", env={"FABRISCOPE_TOKEN": "secret", "K": "a b"}, stdin=b"spec")


def test_here_and_in_the_lab_the_environment_is_kept() -> None:
    assert start_of(COMMAND, Host("h")) == Start(COMMAND.argv, COMMAND.env, b"spec")
    space = Host("h", access=("nsenter", "-t", "1"), kind="namespace")
    assert start_of(COMMAND, space) == Start(("nsenter", "-t", "1", *COMMAND.argv), COMMAND.env, b"spec")


def test_a_remote_shell_gets_one_line_and_no_secret_in_it() -> None:
    start = start_of(COMMAND, Host("h", access=("ssh", "h")))
    assert start.argv[:2] == ("ssh", "h")
    assert len(start.argv) == 3
    assert "secret" not in start.argv[2]
    assert start.env == {}


def test_the_remote_shell_s_line_does_what_it_says() -> None:
    script = 'printf "%s|%s|%s|" "$FABRISCOPE_TOKEN" "$K" "$1"; cat'
    command = Command(("sh", "-c", script, "sh", "two words"), "h", env=COMMAND.env, stdin=b"first\nsecond\n")
    start = start_of(command, Host("h", access=("sh", "-c")))
    done = subprocess.run(start.argv, input=start.stdin, capture_output=True, check=True, timeout=60)
    assert done.stdout == b"secret|a b|two words|first\nsecond\n"


def test_a_remote_command_without_variables_is_only_quoted() -> None:
    start = start_of(Command(("prog", "two words"), "h"), Host("h", access=("ssh", "h")))
    assert shlex.split(start.argv[2]) == ["prog", "two words"]
    assert start.stdin is None
