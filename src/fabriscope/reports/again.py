"""Making a report again from the samples, and comparing it with the one that is there, digit by digit."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

from fabriscope import __version__
from fabriscope.analysis.results import Results, results_of
from fabriscope.model import plain_files
from fabriscope.model.errors import ParseError, StoreError
from fabriscope.model.finding import Account, Finding
from fabriscope.model.foreign import decode_json
from fabriscope.model.run_data import RunData
from fabriscope.reports import csv_tables, html_page, markdown_page
from fabriscope.reports._made_of import Stated, launches_meant, read_json, read_line

FIGURE_SUFFIXES = (".png", ".svg", ".pdf")
SUFFIXES = (".html", ".md", ".csv", *FIGURE_SUFFIXES)
_MADE_OF = re.compile(r'<script type="application/json" id="made-of">(?P<json>.*?)</script>', re.DOTALL)
_LIBRARY = re.compile(r'(?<=id="library">\n).*?(?=\n</script>)', re.DOTALL)
_DATA = re.compile(r'<script type="application/json" data-figure="([^"]*)">(.*)</script>')
MOST_BYTES = 1 << 30
"""Of one file of a report."""
_AROUND = 24
"""Characters of a line that are shown around its first difference."""


def check_reports(run: RunData, place: Path, earlier: Callable[[int], RunData]) -> Account:
    """Compare a report (a file, or a folder of them) with what the run's samples give now.

    `earlier` returns the run as it was after a number of lines of its journal. What a file is its suffix says, else its
    content.
    """
    if not place.exists():
        return Account((Finding(str(place), "", "there is no such report"),))
    paths = sorted(place.iterdir()) if place.is_dir() else [place]
    checker = _Checker(run, place if place.is_dir() else place.parent, earlier)
    kinds = {path: _kind(path) for path in paths}
    for path, kind in kinds.items():
        if kind == ".html":
            checker.page(path)
        elif kind == ".md":
            checker.markdown(path)
        elif kind in FIGURE_SUFFIXES:
            checker.figure_count += 1
        elif kind is None:
            checker.pass_by(path)
    if tables := [path for path, kind in kinds.items() if kind == ".csv"]:
        checker.tables(tables, is_all=place.is_dir())
    return checker.account()


def _kind(path: Path) -> str | None:
    """Return the suffix that a file of a report has, or should have by what it says; None for no report."""
    if path.suffix in SUFFIXES:
        return path.suffix
    try:
        text = _text(path)
    except StoreError:  # a folder, a device, what we may not read
        return None
    if _MADE_OF.search(text):
        return ".html"
    return ".md" if read_line(text) else None


class _Checker:
    def __init__(self, run: RunData, folder: Path, earlier: Callable[[int], RunData]) -> None:
        self._run = run
        self._folder = folder
        self._earlier = earlier
        self._findings: list[Finding] = []
        self._notes: list[str] = []
        self._line_count = 0
        self._names: list[str] = []
        self._results: dict[int, Results] = {}
        self.figure_count = 0

    def account(self) -> Account:
        if self.figure_count:
            what = "exported figures were not compared; the page and the tables have their numbers"
            self._notes.append(f"{self.figure_count} {what}")
        checked = f"{self._line_count} lines of {', '.join(self._names)}, made again from the samples"
        return Account(tuple(self._findings), tuple(self._notes), (checked,) if self._names else ())

    def page(self, path: Path) -> None:
        text = _text(path)
        stated = _stated_in(text)
        library = _LIBRARY.search(text)
        if stated is None or library is None:
            what = "it is missing or unreadable: an older version made the report, or it was changed"
            self._findings.append(Finding(self._name(path), "the statement made-of", what))
            stated = stated or Stated()
        mark = secrets.token_hex(16)
        if library is not None:
            digest = hashlib.sha256(library[0].encode()).hexdigest()
            if digest != stated.library_sha256:
                what = "its digest is not the one that the page states"
                place = "the script library, or library_sha256 of made-of"
                self._findings.append(Finding(self._name(path), place, what))
            text = f"{text[: library.start()]}{mark}{text[library.end() :]}"
        stated_digest, run_path = str(stated.library_sha256), str(stated.run_path)
        results = self._results_of(path, stated)
        again = html_page.page_text(results, mark, stated_digest, run_path)
        self._compare(path, text, again, stated)

    def pass_by(self, path: Path) -> None:
        self._notes.append(f"{self._name(path)} is no file of a report, and was not compared")

    def markdown(self, path: Path) -> None:
        text = _text(path)
        stated = read_line(text)
        self._compare(path, text, markdown_page.page_text(self._results_of(path, stated)), stated)

    def tables(self, paths: list[Path], *, is_all: bool) -> None:
        beside = self._folder / "made-of.csv"
        stated = _stated_beside(beside) if beside.is_file() else None
        results = self._results_of(beside, stated)
        again = csv_tables.table_texts(results)
        if is_all:
            for name in again:
                if self._folder / f"{name}.csv" not in paths:
                    self._findings.append(Finding(self._name(self._folder / f"{name}.csv"), "", "the file is missing"))
        again |= csv_tables.section_texts(results)
        for path in paths:
            if path.stem in again:
                self._compare(path, _text(path), again[path.stem], stated)
            else:
                self._notes.append(f"{self._name(path)} is no table of a report, and was not compared")

    def _name(self, path: Path) -> str:
        return str(path)

    def _results_of(self, path: Path, stated: Stated | None) -> Results:
        count = launches_meant(self._run, stated)
        total = len(self._run.lines)
        if count < total:
            self._notes.append(f"{self._name(path)} was made of the first {count} of now {total} launches")
        if count not in self._results:
            self._results[count] = results_of(self._earlier(count))
        return self._results[count]

    def _compare(self, path: Path, text: str, again: str, stated: Stated | None) -> None:
        """Find the first line that differs, and say how many do."""
        self._names.append(path.name)
        lines, right = text.split("\n"), again.split("\n")
        self._line_count += len(right)
        if lines == right:
            return
        number = next((at for at, (one, other) in enumerate(zip(lines, right, strict=False)) if one != other), None)
        if number is None:
            number = min(len(lines), len(right))
            what = f"it ends after {len(lines)} lines, and {len(right)} are right"
            place = f"line {number + 1}"
        else:
            place, what = _difference(path, lines, right, number)
        matcher = sum(one != other for one, other in zip(lines, right, strict=False)) + abs(len(lines) - len(right))
        more = f"; {matcher - 1} more lines differ" if matcher > 1 else ""
        made_by = stated.fabriscope if stated else None
        if made_by not in (None, __version__):
            more += f" (fabriscope {made_by} made the report, this is {__version__}: make it again to be sure)"
        self._findings.append(Finding(self._name(path), place, what + more))


def _stated_in(page: str) -> Stated | None:
    match = _MADE_OF.search(page)
    try:
        return read_json(decode_json(match["json"], "the page")) if match else None
    except ParseError:
        return None


def _text(path: Path) -> str:
    return plain_files.text(path, MOST_BYTES, error=StoreError, what="the report")


def _stated_beside(path: Path) -> Stated | None:
    try:
        rows = list(csv.reader(_text(path).splitlines()))
        stated = {row[0]: row[1] for row in rows[1:]}
        return read_json({**stated, "launches": int(stated["launches"])})
    except (ValueError, KeyError, IndexError):
        return None


def _difference(path: Path, lines: list[str], right: list[str], number: int) -> tuple[str, str]:
    """Return where a line differs, and how."""
    place = f"line {number + 1}"
    line, other = lines[number], right[number]
    if path.suffix == ".csv":
        head, cells, wanted = (next(csv.reader([text]), []) for text in (right[0], line, other))
        for name, cell, one in zip(head, cells, wanted, strict=False):
            if cell != one:
                return f"{place}, {name}", f"it says {cell}, and {one} is right"
    found, made = (_DATA.match(text) for text in (line, other))
    if found and made and found[1] == made[1]:
        for path_text, one, wanted_one in _leaf_differences(found[2], made[2]):
            return f"{place}, figure {made[1]}, {path_text}", f"it says {one}, and {wanted_one} is right"
    said, meant = _around(line, other)
    return place, f"it says “{said}”, and “{meant}” is right"


def _around(line: str, other: str) -> tuple[str, str]:
    """Return what stands around the first difference of two lines, in both."""
    pairs = enumerate(zip(line, other, strict=False))
    start = next((at for at, (one, two) in pairs if one != two), min(len(line), len(other)))
    said, meant = (text[max(0, start - _AROUND) : start + _AROUND] for text in (line, other))
    return said, meant


def _leaf_differences(found: str, made: str) -> Iterator[tuple[str, str, str]]:
    """Yield path, what is there, and what is right, of every leaf of two JSON texts that differs."""
    try:
        one, two = (decode_json(text, "a figure") for text in (found, made))
    except ParseError:
        return
    yield from _walk(one, two, "")


def _walk(one: object, two: object, path: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(one, dict) and isinstance(two, dict) and one.keys() == two.keys():
        for name in two:
            yield from _walk(one[name], two[name], f"{path}.{name}" if path else name)
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        for index, (left, right) in enumerate(zip(one, two, strict=True)):
            yield from _walk(left, right, f"{path}[{index}]")
    elif one != two or type(one) is not type(two):
        yield path, _short(one), _short(two)


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 80 else f"{text[:80]}…"
