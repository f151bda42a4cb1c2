"""Where a proof can be written, told before there is one."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fabriscope.model.counters import Reading, Watch
from fabriscope.model.errors import StoreError
from fabriscope.model.proof import Observed
from fabriscope.store import proofs

NOBODY = 65534


@pytest.fixture
def shut() -> Iterator[Path]:
    """A folder that everybody may read and nobody write, with one in it that only its owner may enter."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "own").mkdir(mode=0o000)
        (folder / "empty").mkdir(mode=0o555)
        (folder / "file").touch(mode=0o444)
        folder.chmod(0o555)
        yield folder
        folder.chmod(0o755)


def sentence_for_a_user(check: Callable[[Path], None], path: Path) -> str:
    """Return what a check says to somebody who is not root."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        try:
            check(path)
        except StoreError as error:
            os.write(writer, error.sentence().encode())
        except BaseException as error:
            os.write(writer, f"Traceback: {error!r}".encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(pid, 0)
    with os.fdopen(reader) as stream:
        return stream.read()


@pytest.mark.parametrize("check", [proofs.check_new, proofs.check_file])
@pytest.mark.parametrize("name", ["new", "own/new", "empty", "file"])
def test_what_cannot_be_written_is_refused(check: Callable[[Path], None], name: str, shut: Path) -> None:
    assert sentence_for_a_user(check, shut / name).startswith(f"{shut / name}: ")


def test_what_can_be_written_is_left_as_it_is(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_text("so far")
    proofs.check_file(there)
    proofs.check_file(tmp_path / "new")
    assert there.read_text() == "so far"
    assert not (tmp_path / "new").exists()
    proofs.check_new(tmp_path / "a" / "folder")
    proofs.check_new(tmp_path / "a" / "folder")


@pytest.mark.parametrize("name", ["manifest.json", "journal.jsonl", "samples/new", "link"])
def test_what_a_run_consists_of_is_not_overwritten(name: str, tmp_path: Path) -> None:
    for one in ("manifest.json", "journal.jsonl"):
        (tmp_path / one).write_text("{}")
    (tmp_path / "samples").mkdir()
    (tmp_path / "link").symlink_to("manifest.json")
    with pytest.raises(StoreError, match="is part of the run") as told:
        proofs.check_file(tmp_path / name)
    assert told.value.where == str(tmp_path / name)
    proofs.check_file(tmp_path / "verdict.xml")


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    with pytest.raises(StoreError, match="there is something already"):
        proofs.check_new(tmp_path)


def observed() -> Observed:
    """A program that was watched on one host."""
    reading = Reading(10**9, 10**18, 5, {"eth0": {"rx_bytes": 1, "tx_bytes": 2}}, protocols={"Udp.InDatagrams": 1})
    watch = Watch("a", "boot", {"eth0": ("10.0.0.1",)}, {"eth0": 1500}, (reading, reading))
    return Observed(("app", "-x"), "eth0", ("a",), 10**18, 10**9, 0, False, {"a": watch}, {"a": watch})


def test_what_was_observed_comes_back(tmp_path: Path) -> None:
    proofs.write(tmp_path / "proof", observed())
    assert proofs.read(tmp_path / "proof") == observed()


@pytest.mark.parametrize(
    ("name", "value"),
    [("argv", "app"), ("argv", [1]), ("hosts", None), ("elapsed_ns", 1.5), ("exit_status", "0"), ("was_signalled", 1),
     ("fabrics", {"x": 1}), ("said", 3), ("version", "2"), ("format", [])],
)  # fmt: skip
def test_a_proof_with_another_type_is_damaged(name: str, value: object, tmp_path: Path) -> None:
    proofs.write(tmp_path, observed())
    about = json.loads((tmp_path / "observed.json").read_text())
    (tmp_path / "observed.json").write_text(json.dumps({**about, name: value}))
    with pytest.raises(StoreError, match=r"observed\.json: "):
        proofs.read(tmp_path)


@pytest.mark.parametrize("name", ["observed.json", "counters.json.gz", "idle.json.gz"])
def test_a_pipe_in_the_place_of_a_file_is_refused(name: str, tmp_path: Path) -> None:
    proofs.write(tmp_path, observed())
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    with pytest.raises(StoreError, match=f"{name}: it is not a regular file"):
        proofs.read(tmp_path)
    with pytest.raises(StoreError, match="a pipe"):
        proofs.check_file(tmp_path / name)
