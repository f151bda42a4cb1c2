"""`--verbose` and `--quiet`: every command has both, and they say what starts, or nothing of what is under way."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from tests import forked

from fabriscope import cli


def _leaves(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _leaves(command, (*path, name))
        else:
            yield (*path, name)


def _options(path: tuple[str, ...]) -> list[str]:
    command: click.Command = cli.fabriscope
    for name in path:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None
        command = found
    return [word for param in command.params for word in param.opts]


def _fabriscope(*words: str) -> subprocess.CompletedProcess[str]:
    return forked.fabriscope(words)


@pytest.mark.parametrize("path", sorted(_leaves(cli.fabriscope)), ids=" ".join)
def test_every_command_has_both_once(path: tuple[str, ...]) -> None:
    words = _options(path)
    assert [words.count(word) for word in ("--verbose", "--quiet")] == [1, 1]
    assert len(words) == len(set(words))


def test_verbose_says_which_programs_start() -> None:
    done = _fabriscope("prove", "--verbose", "--", "true")
    started = [line for line in done.stderr.splitlines() if line.startswith("+ ")]
    assert any(line.split()[-1] == "true" for line in started), done.stderr
    assert not any(line.startswith("+ ") for line in _fabriscope("prove", "--", "true").stderr.splitlines())


def test_a_script_among_the_words_is_cut_to_its_first_line(tmp_path: Path) -> None:
    done = _fabriscope("prove", "-v", "--", "sh", "-c", "true\necho two >/dev/null")
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("+ ") and " sh -c " in line]
    assert line.endswith("'true...")


def test_quiet_leaves_the_answer_and_what_is_wrong(tmp_path: Path) -> None:
    loud = _fabriscope("prove", "-o", str(tmp_path / "loud"), "--", "true")
    quiet = _fabriscope("prove", "--quiet", "-o", str(tmp_path / "quiet"), "--", "true")
    assert "kept in" in loud.stderr
    assert "kept in" not in quiet.stderr
    assert quiet.stderr.strip(), "the verdict is told"
    refused = _fabriscope("prove", "--quiet", "--read", str(tmp_path / "absent"))
    assert refused.returncode != 0
    assert "absent" in refused.stderr
