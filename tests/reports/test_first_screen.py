"""The top of a report: the answer, a picture of the verdicts, figures that everybody can see, and little to load."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.analysis.made_up import Shape, write_run

from fabriscope.analysis.comparing.questions import LOOSE, SOUND, WEAK
from fabriscope.reports import html_page
from fabriscope.reports._forest import LEGEND, ForestLine, forest
from fabriscope.reports._packed import packed
from fabriscope.reports._style import PALETTE
from fabriscope.reports.base import Options

LIGHT, DARK = "#fdfdfb", "#15181c"
LEAST_CONTRAST = 3.0


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("page", [LIGHT, DARK])
@pytest.mark.parametrize("colour", PALETTE)
def test_lines_stand_out_from_the_page(colour: str, page: str) -> None:
    low, high = sorted((luminance(colour), luminance(page)))
    assert (high + 0.05) / (low + 0.05) >= LEAST_CONTRAST


def test_packed_data_is_the_rows() -> None:
    rows = [{"x": x, "curve": f"c{x // 8}", "same": "s", "none": None, "flag": x == 3, "y": x / 2,
             "half": f"h{x % 2}"} for x in range(16)]  # fmt: skip
    layer = [{"encode": {name: f"datum.{name}" for name in rows[0]}}]
    unseen = [{**row, "unseen": 1} for row in rows]
    spec = packed({"datasets": {"marks": unseen}, "config": {"a": 1}, "layer": layer}, "a title")
    assert (spec["description"], "config" in spec) == ("a title", False)
    table = json.loads(json.dumps(spec["datasets"]["marks"]))
    assert table["columns"]["same"] == "s"
    assert table["columns"]["curve"] == {"of": ["c0", "c1"], "times": [8, 8]}
    assert table["columns"]["half"] == {"of": ["h0", "h1"], "at": [0, 1] * 8}
    assert [_row(table, row) for row in range(table["count"])] == rows


def _row(table: dict[str, object], row: int) -> dict[str, object]:
    """Do what the page's script does."""
    columns = table["columns"]
    assert isinstance(columns, dict)
    return {name: _cell(column, row) for name, column in columns.items()}


def _cell(column: object, row: int) -> object:
    if isinstance(column, list):
        return column[row]
    if not isinstance(column, dict):
        return column
    if "times" in column:
        return [one for one, times in zip(column["of"], column["times"], strict=True) for _ in range(times)][row]
    return column["of"][column["at"][row]]


def test_one_and_true_are_not_one_value() -> None:
    rows = [{"a": 1}, {"a": True}, {"a": 1.0}]
    spec = packed({"datasets": {"marks": rows}, "layer": [{"field": "a"}]}, "")
    assert spec["datasets"]["marks"]["columns"]["a"] == [1, True, 1.0]


def test_the_picture_puts_a_lead_right_of_one_and_says_itself() -> None:
    lines = [
        ForestLine("a / b", "at every size", "faster", 2.0, 4.0, (1.8, 4.4)),
        ForestLine("<c> / d", "at 1 B", "undecided", 0.9, 0.9, (0.5, 1.6)),
        ForestLine("e / f", "at 1 B", "faster", 1e6, 1e9, None),
    ]
    picture = str(forest(lines))
    bars = [
        float(left) + float(width) / 2 for left, width in re.findall(r'<rect x="([\d.]+)".*?width="([\d.]+)"', picture)
    ][-len(lines) :]
    one = float(re.findall(r'<path d="M([\d.]+) [\d.]+v15" stroke="currentColor"', picture)[0])
    assert bars[0] > one > bars[1]
    assert "&lt;c&gt; / d" in picture
    assert "<title>a / b: 2.00 to 4.00 times as fast, faster;" in picture
    width = float(re.findall(r'viewBox="0 0 (\d+)', picture)[0])
    assert all(0 <= bar <= width for bar in bars), "what is beyond the axis stays in the picture"


@pytest.mark.parametrize(
    ("strength", "look"),
    [
        (SOUND, 'fill="var(--good, #00795a)" stroke'),
        (WEAK, 'fill-opacity=".3"'),
        (LOOSE, 'fill="var(--paper, #fff)" st'),
    ],
)
def test_a_lead_of_weak_numbers_does_not_look_like_one_of_sound_ones(strength: str, look: str) -> None:
    picture = str(forest([ForestLine("a leads b", "at 1 B", "faster", 2.0, 4.0, (1.8, 4.4), strength)]))
    assert look in picture.split("<rect ")[-1]


@pytest.mark.parametrize("span", [1.1, 1.5, 1.71, 2.4, 3.0, 9.0, 40.0, 900.0])
def test_the_axis_has_numbers_on_both_sides_of_one(span: float) -> None:
    picture = str(forest([ForestLine("a / b", "at 1 B", "undecided", 0.95, 1.05, (1 / span, span))]))
    ticks = [float(text) for text in re.findall(r'text-anchor="middle" font-size="12">([\d.]+)<', picture)]
    assert ticks[0] < 1 < ticks[-1]
    assert len(ticks) <= 13


def test_the_legend_has_the_looks_that_the_picture_has() -> None:
    lines = [ForestLine("a leads b", "at 1 B", "faster", 2.0, 4.0, (1.8, 4.4), strength) for strength in (SOUND, WEAK)]
    lines += [ForestLine("a / b", "at 1 B", "undecided", 0.9, 1.1, (0.5, 1.6), LOOSE)]
    picture = str(forest(lines))
    shown = [words for words, *_ in LEGEND if f">{words}</text>" in picture]
    assert shown == ["shown, trust A or B", "shown, in part trust C or D: weak", "undecided"]


@pytest.mark.parametrize("verdict", ["faster", "slower", "equivalent", "undecided"])
@pytest.mark.parametrize("strength", [SOUND, WEAK, LOOSE])
def test_no_look_is_without_a_word_in_the_legend(verdict: str, strength: str) -> None:
    picture = str(forest([ForestLine("a / b", "at 1 B", verdict, 0.9, 1.1, (0.5, 1.6), strength)]))
    assert sum(f">{words}</text>" in picture for words, *_ in LEGEND) == 1


def test_the_answer_and_its_picture_stand_before_the_first_section(tmp_path: Path) -> None:
    data = write_run(tmp_path / "run", Shape(sizes=(1, 1024), launch_count=3, stacks=())).read()
    (page,) = html_page.render(data, tmp_path, Options())
    text = page.read_text()
    head = text[: text.index("<h2")]
    assert "gige leads ethernet-100 in all " in head
    places = re.findall(r">(between hosts, [^<]*)</text>", head)
    assert any(re.fullmatch(r"between hosts, in all \d+ comparisons", place) for place in places)
    assert not any("\N{HORIZONTAL ELLIPSIS}" in place for place in places), "each is whole"
    assert 'class="forest"' in head
    assert text.index('id="verdicts"') < text.index('id="setup"')
    assert page.stat().st_size < 600_000, "a page is little to load"
