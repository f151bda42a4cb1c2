"""A log of which every line has something in front that nobody knows is refused by what stands there."""

from __future__ import annotations

import pytest
from tests.adapters.test_foreign import DATA

from fabriscope.model.errors import ParseError
from fabriscope.readers.log import documents
from fabriscope.registry import discover

READERS = discover("readers", "READER").plugins


@pytest.mark.parametrize("prefix", ["zork#7> ", "zork#7>", "app$ ", "2026/11/27-05:00:00,123 "])
@pytest.mark.parametrize("name", ["netpipe/nptcp", "perftest/send_lat"])
def test_what_stands_before_every_line_is_named_or_passed_by(name: str, prefix: str) -> None:
    program = name.partition("/")[0]
    text = (DATA / f"{name}.txt").read_text()
    lines = "".join(f"{prefix}{line}\n" for line in text.splitlines())
    try:
        (document,) = documents(lines, READERS, "x.log")
    except ParseError as error:
        assert "every line begins with something like" in error.what
        assert prefix.strip() in error.what
        assert program in error.what
    else:
        assert document.rows() == READERS[program].read(text).rows()


def test_text_without_a_prefix_is_of_no_known_program() -> None:
    with pytest.raises(ParseError, match="no known program wrote this"):
        documents("one thing\nanother thing\n" * 9, READERS, "x.log")
