"""The command line: help, exit codes, and one sentence for every mistake."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests import forked
from tests.needs import ROOT

from fabriscope import cli
from fabriscope.registry import Room, discover


def _fabriscope(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return forked.fabriscope(words)


def test_help_lists_every_command() -> None:
    done = _fabriscope("--help")
    assert done.returncode == 0
    for name in ("run", "report", "show", "plan", "lab", "doctor", "mpi"):
        assert f"\n  {name} " in done.stdout


@pytest.mark.parametrize("name", sorted(discover("cli", "COMMAND").plugins))
def test_every_command_has_help(name: str) -> None:
    assert _fabriscope(name, "--help").returncode == 0


@pytest.mark.parametrize("word", [None, "", "x"])
def test_completion_without_a_line_is_told(word: str | None) -> None:
    env = {**os.environ, "_FABRISCOPE_COMPLETE": "bash_complete", "COMP_WORDS": "fabriscope sh"}
    env |= {} if word is None else {"COMP_CWORD": word}
    argv = [sys.executable, "-m", "fabriscope", "show", "run"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, env=env)
    assert (done.returncode, done.stdout) == (1, "")
    assert "there is no line -- `unset _FABRISCOPE_COMPLETE`" in done.stderr
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, env={**env, "COMP_CWORD": "1"})
    assert (done.returncode, done.stdout) == (0, "plain,show\n")


def test_help_imports_nothing_heavy() -> None:
    probe = "import sys, fabriscope.cli\nfrom fabriscope.registry import discover\ndiscover('cli', 'COMMAND')\n"
    probe += "print([name for name in ('polars', 'vl_convert', 'numpy', 'pydantic') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_a_plan_is_checked_without_what_reckons_results() -> None:
    probe = "import sys\nfrom fabriscope import cli\n"
    probe += f"try: cli.main(['plan', 'check', {str(ROOT / 'examples/demo.yaml')!r}])\nexcept SystemExit: pass\n"
    probe += "print([name for name in ('polars', 'numpy', 'scipy', 'rich', 'jinja2') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=60, check=True)
    assert "launches of each entry" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_help_looks_for_the_commands_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counted(package: str, constant: str) -> Room:
        asked.append(package)
        return discover(package, constant)

    monkeypatch.setattr(cli, "discover", counted)
    assert "\n  report " in CliRunner().invoke(cli.fabriscope, ["--help"]).output
    assert asked == ["cli"]


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (("run",), 2, "give a plan, or --resume RUN"),
        (("run", "absent.yaml"), 2, "absent.yaml: the plan cannot be read: No such file"),
        (("run", "--resume", "absent"), 8, "there is no such run folder"),
        (("run", "a", "--resume", "b"), 2, "give a plan, or --resume RUN"),
        (("report", "absent"), 8, "there is no such run folder"),
        (("show", "absent"), 8, "there is no such run folder"),
        (("plan", "check", "absent.yaml"), 2, "cannot be read"),
        (("nonsense",), 2, "No such command 'nonsense'"),
        (("compare", "a", "./a"), 2, "what is compared with itself"),
        (("compare", "a", "--left", "gige", "--right", "gige"), 2, "what is compared with itself"),
        (("compare", "a", "--margin", "100%"), 2, "--margin: 100% is not more than 0 and less than 100%"),
        (("lab", "up", "--hosts", "n[1-999999999]"), 2, "--hosts: 'n[1-999999999]' names up to 999999999 hosts"),
        (("lab", "up", "--hosts", ""), 2, "--hosts: the host list is empty"),
        (("lab", "up", "--fabric", "gige,rate=1GB/s"), 2, "rate: '1GB/s' is not a rate in bits"),
        (("lab", "up", "--fabric", "gige,mtu=900,mtu=9000"), 2, "a key stands twice"),
        (("lab", "up", "--fabric", "gige,flap_down=2s"), 5, "fabric gige: the links would be down for longer"),
        (("prove", "--idle", "500s", "--", "true"), 2, "--idle: 500s is not from 0 to 60 s"),
        (("prove", "--hosts", "", "--", "true"), 2, "--hosts: the host list is empty"),
        (("prove", "--ssh", "ssh '", "--", "true"), 2, "cannot be split into words"),
        (("show", "x" * 5000), 2, "File name too long"),
        (("run", "x" * 5000), 2, "File name too long"),
        (("submit", "absent.yaml", "--nodes", "010"), 2, "'010' is no whole number in decimal digits"),
        (("submit", "absent.yaml", "--nodes", "\uff15"), 2, "is no whole number in decimal digits"),
        (("submit", "absent.yaml", "--nodes", " 2"), 2, "is no whole number in decimal digits"),
        (("submit", "absent.yaml", "--cores-per-node", "1_0"), 2, "is no whole number in decimal digits"),
        (("submit", "absent.yaml", "--nodes", "0"), 2, "0 is not in the range 1<=x<=4096"),
        (("mpi", "add", "nonsense"), 2, "there is no MPI 'nonsense' to add; choose intelmpi"),
    ],
)
def test_a_mistake_is_one_sentence(
    words: tuple[str, ...], status: int, says: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In this process: that a status reaches whoever started one is shown by the tests below."""
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, getattr(sys, name))  # main has its own
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    said = capfd.readouterr().err
    assert ended.value.code == status, said
    assert says in said
    assert "Traceback" not in said


def test_an_output_folder_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text("name: x\nhosts: localhost\nplacements: [intra]\nbenchmarks: {ping_pong: {sizes: [8]}}\n")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "precious").write_text("data")
    done = _fabriscope("run", plan, "-o", tmp_path / "run", "-q")
    assert done.returncode == 8
    assert "not empty" in done.stderr
    assert (tmp_path / "run" / "precious").read_text() == "data"


def test_a_run_folder_that_cannot_be_made_has_nothing_to_resume(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text("name: x\nhosts: localhost\nplacements: [intra]\nbenchmarks: {ping_pong: {sizes: [8]}}\n")
    done = _fabriscope("run", plan, "-o", plan / "below", "-q")
    assert done.returncode == 8
    assert f"the run folder cannot be made: {plan} is no folder -- choose another place" in done.stderr
    assert "resume" not in done.stderr


def test_a_run_inside_a_run_is_refused(tmp_path: Path) -> None:
    for name in ("manifest.json", "plan.yaml"):
        (tmp_path / name).write_text("{}")
    plan = tmp_path / "mine.yaml"
    plan.write_text("name: x\nhosts: localhost\nplacements: [intra]\nbenchmarks: {ping_pong: {sizes: [8]}}\n")
    done = _fabriscope("run", plan, "-o", tmp_path / "samples" / "other", "-q")
    assert done.returncode == 8
    assert f"it would lie inside the run {tmp_path}" in done.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", "2>/dev/full"])
def test_streams_that_cannot_be_used_change_no_status(closed: str, tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "fabriscope", "plan", "check", str(tmp_path / "absent.yaml")]
    script = f'"$@" {closed}'
    done = subprocess.run(["sh", "-c", script, "sh", *argv], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr + done.stdout
    assert "Exception ignored" not in done.stderr


PLAN = "name: x\nhosts: localhost\nplacements: [intra]\nlayers: [shm]\nbenchmarks: {ping_pong: {sizes: [8]}}\n"
NO_ROOM = "fabriscope: standard output cannot be written: No space left on device -- make room, or write it elsewhere"


def _in_shell(script: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
    argv = ["bash", "-c", script, "bash", sys.executable, "-m", "fabriscope", *map(str, words)]
    return subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)


def test_a_full_disk_behind_standard_output_is_told(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(f"{PLAN}launches: 1\ncounters: false\nbudget: 1s\n")
    for words in (
        ("plan", "schema"),
        ("show", Path(__file__).parent / "store" / "data" / "run-before-ranks"),
        ("run", plan, "-o", tmp_path / "run", "--json"),
    ):
        done = _in_shell('"$@" >/dev/full', *words)
        assert done.returncode == 8, done.stderr
        assert done.stderr.splitlines()[-1].startswith(NO_ROOM)
        assert "Exception ignored" not in done.stderr
        assert "its log is" not in done.stderr
    assert _fabriscope("verify", tmp_path / "run").returncode == 0


def test_a_reader_that_goes_away_changes_no_status(tmp_path: Path) -> None:
    """The pipe is gone before anything is said, so that the test does not depend on who is faster."""
    gone = 'exec 3> >(exec true); wait $!; "$@" >&3'
    folder = Path(__file__).parent / "store" / "data" / "run-before-ranks"
    for status, words in ((0, ("show", folder)), (0, ("plan", "schema")), (13, ("verify", tmp_path))):
        done = _in_shell(gone, *words)
        assert (done.returncode, done.stderr) == (status, ""), words


@pytest.mark.parametrize("words", [("plan", "check", "PLAN"), ("doctor",)])
def test_too_small_a_limit_of_address_space_is_told_at_once(words: tuple[str, ...], tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN)
    for limit in (250_000, 600_000, 1_200_000):
        done = _in_shell(f'ulimit -v {limit}; "$@"', *(str(plan) if word == "PLAN" else word for word in words))
        assert done.returncode == 7, done.stderr
        assert f"the address space is limited to {limit >> 10} MiB (ulimit -v), and " in done.stderr
    assert _in_shell('ulimit -v 250000; "$@"', "--help").returncode == 0


def test_a_number_of_threads_that_polars_does_not_understand_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ("0", "-1", "", "two"):
        monkeypatch.setenv("POLARS_MAX_THREADS", wrong)
        done = _fabriscope("show", Path(__file__).parent / "store" / "data" / "run-before-ranks")
        assert done.returncode == 1
        assert done.stderr.startswith(f"fabriscope: POLARS_MAX_THREADS is {wrong!r}, which is no number of threads")
        assert done.stderr.count("\n") == 1


def test_a_name_that_is_no_text_is_written_as_an_escape(tmp_path: Path) -> None:
    plan = tmp_path / os.fsdecode(b"\xff.yaml")
    plan.write_text("name: x\nhosts: localhost\nplacements: [intra]\nbenchmarks: {ping_pong: {sizes: [8]}}\n")
    argv = [sys.executable, "-m", "fabriscope", "plan", "check", str(plan)]
    done = subprocess.run(argv, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert b"\\udcff.yaml: a good plan" in done.stdout


def test_a_folder_that_was_removed_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    script = 'cd "$0" && rmdir "$0" && "$@"'
    argv = ["sh", "-c", script, str(folder), sys.executable, "-P", "-m", "fabriscope", "plan", "check", "x.yaml"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "the current folder cannot be used: No such file or directory -- change into another" in done.stderr


def test_plan_check_says_what_will_run(tmp_path: Path) -> None:
    done = _fabriscope("plan", "check", Path(__file__).parents[1] / "examples" / "demo.yaml")
    assert done.returncode == 0, done.stderr
    assert "gige-untuned · TCP" in done.stdout
    beside = "4 of the instrument's floor (null) and 4 of the A/A control"
    assert f"44 launches in all ({beside}), about " in done.stdout


def test_what_verify_finds_is_its_status(tmp_path: Path) -> None:
    done = _fabriscope("verify", tmp_path)
    assert done.returncode == 13, done.stdout
    assert "manifest.json: the file is missing" in done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_run_that_may_not_be_read_is_told_as_any_other_that_cannot_be(tmp_path: Path) -> None:
    from fabriscope.cli import _usage
    from fabriscope.model.errors import StoreError
    from fabriscope.store import open_run

    folder = tmp_path / "run"
    folder.mkdir()
    folder.chmod(0)
    for above in (*tmp_path.parents[:2], tmp_path):
        above.chmod(0o755)
    os.seteuid(54321)
    try:
        assert _usage.PATH.convert(str(folder), None, None) == folder
        with pytest.raises(StoreError, match="Permission denied"):
            open_run(folder)
    finally:
        os.seteuid(0)
