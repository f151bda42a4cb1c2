"""Words of a command line that make a plan which cannot be: refused at once, as the plan's check would."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriscope.cli import main


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[object, str]:
    with pytest.raises(SystemExit) as ended:
        main(words)
    return ended.value.code, capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("gige", "nosuch", "--lab"), "init's plan, line 5 (`nosuch: {lab: nosuch}`): there is no lab preset 'nosuch'"),
        (("ev il", "--hosts", "a,b"), "'ev il' is no network interface's name, such as eth0"),
    ],
)
def test_init_writes_no_plan_that_its_check_refuses(
    words: tuple[str, ...], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, told = refused(capsys, "init", *words, "-o", str(tmp_path / "x.yaml"))
    assert status == 2
    assert says in told
    assert not (tmp_path / "x.yaml").exists()


def test_incast_names_no_file_that_nobody_has_seen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--to", "node1", "--from", "node[2-3]", "--lab", "gige,buffer=64", "-o", str(tmp_path / "run"))
    status, told = refused(capsys, "incast", *words)
    assert status == 2
    assert told.startswith("fabriscope: incast's plan, line 9 (`buffer: 64`): no whole frame of 1514 bytes fits into a")
    assert "incast.yaml" not in told


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--from", "", "--lab", "gige"), (2, "--from names no host")),
        (("--from", "node2", "--streams", "", "--lab", "gige"), (2, "many_to_one.streams: '' is neither a count")),
        (
            ("--from", "node2", "--over", "mpi", "--mpi", "nolib", "--lab", "gige"),
            (7, "incast's plan, line 23 (`- nolib`): there is no MPI library 'nolib' on this machine"),
        ),
    ],
)
def test_incast_says_what_is_missing(
    words: tuple[str, ...], says: tuple[int, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, told = refused(capsys, "incast", "--to", "node1", *words, "-o", str(tmp_path / "run"))
    assert (status, says[1] in told) == (says[0], True), told


def test_an_option_before_the_host_is_no_host(capsys: pytest.CaptureFixture[str]) -> None:
    status, told = refused(capsys, "lab", "exec", "--name", "clk", "g1", "--", "date")
    assert status == 2
    assert "no such option '--name'; before HOST may stand --lab NAME" in told
