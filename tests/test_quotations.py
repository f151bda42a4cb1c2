"""What the pages quote of outputs can be printed: the fixed words stand in the sources as quoted, values between."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.printed_words import JOINING, ROOT, Explained, words

PAGES = sorted([*(ROOT / name for name in ("README.md", "CONTRIBUTING.md")), *(ROOT / "docs").glob("*.md")])
FENCE = re.compile(r"^```([a-z]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LANGUAGES = {"", "console", "text", "plain", "yaml", "python", "json"}
"""Blocks without one are commands, `console` has outputs below `$ command`, `text` outputs alone, `plain` neither."""
PROGRAMS = re.compile(
    r"fabriscope|scripts/|make |python |mpirun |podman |spack |pip |salloc |ssh-keygen |eval |man |mkdir |printf "
    r"|chmod |cd |export |sleep |head |rm |_?[A-Z_]+=|for |\$ "
)
NAMES = frozenset(re.findall(r"\w+", "gige fast localhost lo client foo mtu mbit bit pmap pfact nbmin ndiv"))
"""What quotes name and no text of the source is: fabrics, hosts, interfaces, settings, units, words of logs."""
FOREIGN = (
    "Resources are low on NN",
    "could only be written to 0 of the 1 minReplication nodes",
    "sh: 7: /usr/bin/java: Permission denied",
    "Row-major process mapping",
)
"""What others say within what we print."""
MADE = "transport-corpus.md"
"""Written by the campaign, whose cases it names."""


def outputs(page: Path) -> Iterator[str]:
    """Yield each line of output in a page's blocks."""
    for language, block in FENCE.findall(page.read_text()):
        for line in block.splitlines():
            if language == "text" or (language == "console" and not line.startswith("$ ")):
                yield line


def sentences(page: Path) -> Iterator[str]:
    """Yield what a page quotes in a line of text, of three words or more that make part of a sentence."""
    for quote in re.findall(r"`([^`]+)`", FENCE.sub("", page.read_text())):
        if not PROGRAMS.match(quote) and len(words(quote)) >= 3 and JOINING.intersection(words(quote)):
            yield " ".join(quote.split())


def form(line: str) -> str:
    """Return a line without its numbers and without how it is spaced."""
    return re.sub(r"[\d.,]+", "0", " ".join(line.split()))


@cache
def printed_by_others() -> frozenset[str]:
    """Return the forms of all lines of the logs that the readers are tested with."""
    files = [file for file in (ROOT / "tests/readers/data").rglob("*") if file.is_file()]
    return frozenset(form(line) for file in files for line in file.read_text(errors="replace").splitlines())


@cache
def keyed_sources() -> str:
    """Return the sources that write JSON, the engine's, and one that reads what another program wrote."""
    native = [file for end in ("*.cc", "*.h") for file in (ROOT / "engine").rglob(end)]
    return "".join(file.read_text() for file in (*native, ROOT / "src/fabriscope/readers/iperf3.py"))


def cannot_be_printed(line: str) -> list[str]:
    """Return the parts of a line of output that nothing prints: cells of a table, keys of JSON, a sentence."""
    if form(line) in printed_by_others():
        return []
    if re.match(r'[ {]?"\w+":|\{"', line):
        return [key for key in re.findall(r'"(\w+)":', line) if f'"{key}"' not in keyed_sources()]
    cells = [cell for cell in re.split(r"\s{2,}", line.strip()) if re.search(r"[A-Za-z]{2}", cell)]
    return [cell for cell in cells if not can_be_printed(cell)]


def can_be_printed(text: str) -> bool:
    for foreign in FOREIGN:
        text = text.replace(foreign, "...")
    return Explained(text, NAMES).whole()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_say_what_they_are(page: Path) -> None:
    """A block without a language that is no commands would be checked by nothing."""
    for language, block in FENCE.findall(page.read_text()):
        assert language in LANGUAGES, f"{page.name} has a block of {language!r}"
        for line in block.replace("\\\n", " ").splitlines() if not language else ():
            assert PROGRAMS.match(line), (
                f"{page.name}: is this an output? Then its block is `text` or `console`: {line}"
            )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_of_output_can_be_printed(page: Path) -> None:
    for line in outputs(page):
        assert not cannot_be_printed(line), f"{page.name} quotes what nothing prints: {cannot_be_printed(line)}"


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != MADE], ids=lambda page: page.name)
def test_quoted_sentences_can_be_printed(page: Path) -> None:
    for quote in sentences(page):
        assert can_be_printed(quote), f"{page.name} quotes what nothing prints: {quote}"


CHANGED = {
    "gige leads ethernet-100 in 8 of 10 comparisons": "beats",
    "1 of 3 DataNodes are live after 60 s": "were",
    "tcp over eth1 carried 20.0 MB between the job and other processes on node2": "moved",
    "the lead passes to ethernet-100 between 2 KiB and 4 KiB": "goes",
}


@pytest.mark.parametrize("true", CHANGED)
def test_a_changed_word_is_found(true: str) -> None:
    assert can_be_printed(true)
    assert not can_be_printed(re.sub("leads|are|carried|passes", CHANGED[true], true))
