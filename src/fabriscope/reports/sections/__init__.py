"""The sections of a report, one file each: results to titles, words, tables and figures (`reports/section.py`)."""

from __future__ import annotations

from fabriscope.analysis.results import Results
from fabriscope.registry import discover
from fabriscope.reports.section import Section


def sections_of(results: Results) -> list[Section]:
    """Return the sections that a run has, in the order in which a report shows them."""
    makers = sorted(discover("reports.sections", "SECTION").plugins.values(), key=lambda maker: maker.place)
    return [section for maker in makers for section in maker.build(results)]
