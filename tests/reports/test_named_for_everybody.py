"""What a screen reader tells of a page: every picture has a name, every head of a table says what it is the head of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markupsafe import Markup
from tests.analysis.made_up import Shape, write_run

from fabriscope.analysis.words import ratio_interval_text
from fabriscope.reports import html_page
from fabriscope.reports.base import Options
from fabriscope.reports.section import Picture


def test_every_picture_and_every_head_of_a_page_is_named(tmp_path: Path) -> None:
    data = write_run(tmp_path / "run", Shape(sizes=(1, 1024), launch_count=3, stacks=())).read()
    (page,) = html_page.render(data, tmp_path, Options())
    text = page.read_text()
    pictures = re.findall(r'<svg [^>]*role="img"[^>]*>(.{,7})', text, re.DOTALL)
    assert pictures and set(pictures) == {"<title>"}
    heads = re.findall(r"<th[ >][^>]*", text)
    assert heads and [head for head in heads if "scope=" not in head] == []


@pytest.mark.parametrize("drawn", [Markup("<path/>"), Markup("<title>of its own</title><path/>")])
def test_a_pictures_name_is_its_own_or_its_caption(drawn: Markup) -> None:
    picture = Picture("a < b", Markup('<svg role="img">{}</svg>').format(drawn))
    named = "of its own" if "title" in drawn else "a &lt; b"
    assert picture.named == f'<svg role="img"><title>{named}</title><path/></svg>'


def test_a_lead_with_a_very_wide_interval_is_told_by_its_nearer_end() -> None:
    assert ratio_interval_text(1.5, 3.0) == "1.50 to 3.00"
    assert ratio_interval_text(12.0, 5000.0) == "above 12.0"
    assert ratio_interval_text(1e-9, 0.4) == "below 0.40"
    assert ratio_interval_text(0.01, 50.0) == "launches differ too much"
    assert ratio_interval_text(None, None) == ""
