"""The curves, as a paper draws them."""

from __future__ import annotations

from fabriscope.analysis.results import Results
from fabriscope.reports._figures import curve_figures
from fabriscope.reports.section import Block, Figures, Paragraph, Section, Sections, Styled


def _build(results: Results) -> list[Section]:
    delay = ", and for ping-pong the propagation delay" if results.run.manifest.fabrics else ""
    words = (
        "Lines go through the centre of the launches; bands, and whiskers of many curves and of one size, are "
        "95\N{NO-BREAK SPACE}% intervals over launches; what is undecided is hollow. "
        f"Both axes are logarithmic. Dotted lines show what the wire allows: line rate less headers{delay}."
    )
    on_screen = Styled(" Click a name to see its line alone; point at a mark for its numbers.", "screen")
    curves = list(curve_figures(results))
    if not curves and results.grouped:
        return []  # applications have no sizes to be drawn over, and a table of their own
    blocks: list[Block] = [Paragraph((words, on_screen), is_note=True), Figures(curves, can_show_launches=True)]
    if not curves:
        blocks.append(Paragraph("There is nothing to draw: no case has a result."))
    return [Section("figures", "Figures", blocks, is_page_only=True)]


SECTION = Sections("figures", 30, _build)
