"""A run folder is not made where a link leads nowhere, nor under a name that no terminal shows; both are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriscope.model.errors import StoreError
from fabriscope.store import refuse_impossible


def test_a_link_to_nowhere_is_named(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(StoreError, match=r"link: the run folder cannot be made: it is a link to nowhere, which is not"):
        refuse_impossible(tmp_path / "link")


def test_a_link_to_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    refuse_impossible(tmp_path / "link")
    refuse_impossible(tmp_path / "link" / "run")


@pytest.mark.parametrize("name", ["new\nline", "bell\a", "back\u202eward"])
def test_a_name_that_no_terminal_shows_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError, match="its name has a line end, or another character that no terminal shows"):
        refuse_impossible(tmp_path / name)


def test_a_name_in_any_script_is_taken(tmp_path: Path) -> None:
    refuse_impossible(tmp_path / "messung ä 測定")
