"""Which folders and files are trusted: as ssh judges keys."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from fabriscope.model import folders

STRANGER = 54321
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    return tmp_path


def test_ours_is_trusted(place: Path) -> None:
    (place / "a").mkdir(mode=0o755)
    (place / "a" / "program").write_text("")
    (place / "a" / "program").chmod(0o755)
    assert folders.problem(str(place / "a")) is None
    assert folders.problem(str(place / "a" / "program")) is None
    assert folders.problem("/usr/bin/env") is None, "root's own is trusted too"


@pytest.mark.parametrize("mode", [0o777, 0o757, 0o702])
def test_what_others_can_write_is_not(place: Path, mode: int) -> None:
    (place / "open" / "below").mkdir(parents=True)
    (place / "open").chmod(mode)
    why = folders.problem(str(place / "open" / "below"))
    assert why == f"{place / 'open'} can be written by other users (mode {mode:04o})"


def test_a_sticky_folder_may_lead_there_and_hold_temporaries_and_nothing_else(place: Path) -> None:
    (place / "sticky" / "ours").mkdir(parents=True)
    (place / "sticky").chmod(0o1777)
    assert folders.problem(str(place / "sticky" / "ours")) is None
    assert folders.problem(str(place / "sticky"), folders.SHARED) is None
    assert "can be written by other users (mode 1777)" in (folders.problem(str(place / "sticky")) or "")
    (place / "sticky").chmod(0o777)
    assert folders.problem(str(place / "sticky"), folders.SHARED) is not None


@needs_root
def test_what_belongs_to_somebody_else_is_not(place: Path) -> None:
    (place / "theirs" / "below").mkdir(parents=True)
    os.chown(place / "theirs", STRANGER, STRANGER)
    assert (
        folders.problem(str(place / "theirs" / "below")) == f"{place / 'theirs'} belongs to user {STRANGER}, not to us"
    )


@needs_root
def test_every_link_on_the_way_is_looked_at(place: Path) -> None:
    """A link that somebody else can put elsewhere leads where they like, wherever it leads now."""
    (place / "good" / "below").mkdir(parents=True)
    (place / "far").mkdir()
    (place / "far" / "hop").symlink_to(place / "good")
    (place / "near").symlink_to("far/hop")
    assert folders.problem(str(place / "near" / "below")) is None
    (place / "far").chmod(0o777)
    assert (
        folders.problem(str(place / "near" / "below")) == f"{place / 'far'} can be written by other users (mode 0777)"
    )
    (place / "far").chmod(0o1777)
    assert folders.problem(str(place / "near" / "below")) is None
    os.lchown(place / "far" / "hop", STRANGER, STRANGER)
    assert folders.problem(str(place / "near")) == f"{place / 'far' / 'hop'} belongs to user {STRANGER}, not to us"


def test_links_in_a_circle_end(place: Path) -> None:
    (place / "a").symlink_to("b")
    (place / "b").symlink_to("a")
    with pytest.raises(OSError, match="too many links"):
        folders.problem(str(place / "a"))


def test_a_pipe_is_neither_folder_nor_file(place: Path) -> None:
    os.mkfifo(place / "pipe", 0o600)
    assert folders.problem(str(place / "pipe")) == f"{place / 'pipe'} is neither a folder nor a file"


def test_a_private_folder_is_made_and_closed(place: Path) -> None:
    folder = place / "a" / "b"
    assert folders.private_folder(str(folder)) is None
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o755)
    assert folders.private_folder(str(folder)) is None
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    assert "can be written by other users" in (folders.private_folder(str(folder)) or "")
    assert folder.stat().st_mode & 0o777 == 0o777, "what others may have filled is not taken over"


def test_a_link_is_no_private_folder(place: Path) -> None:
    (place / "real").mkdir()
    (place / "link").symlink_to("real")
    with pytest.raises(OSError, match=r"link|Not a directory"):
        folders.private_folder(str(place / "link"))


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o077])
def test_what_we_make_is_ours_alone_whatever_the_umask_says(mask: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        folders.make(str(tmp_path / "a" / "b"))
        folders.make(str(tmp_path / "a" / "b"))  # it may be there
    finally:
        os.umask(before)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "a", tmp_path / "a/b")] == [0o700, 0o700]
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"exists|Not a directory"):
        folders.make(str(tmp_path / "file" / "below"))


def test_a_tree_is_open_where_anything_in_it_is(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir(mode=0o755)
    (tmp_path / "bin" / "mpirun").touch(mode=0o755)
    (tmp_path / "bin" / "link").symlink_to("mpirun")
    assert folders.open_below(str(tmp_path)) is None
    (tmp_path / "bin" / "mpirun").chmod(0o777)
    assert folders.open_below(str(tmp_path)) == f"{tmp_path}/bin/mpirun can be written by other users (mode 0777)"
    (tmp_path / "bin" / "mpirun").chmod(0o755)
    (tmp_path / "bin").chmod(0o777)
    assert folders.open_below(str(tmp_path)) == f"{tmp_path}/bin can be written by other users (mode 0777)"
