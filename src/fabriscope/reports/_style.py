"""Colours, dashes and shapes: one for each fabric and layer, the same in all figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fabriscope.analysis.curve import Curve

# After Okabe & Ito, whose colours people with any colour vision tell apart. Each has a contrast of at least 3:1 with a
# light page and a dark one, for which their orange and sky blue are darker here.
PALETTE = ("#0b7bc1", "#d55e00", "#009e73", "#cc79a7", "#b07d00", "#2f93a8", "#8c7ae6", "#7f7f7f")
DASHES = ([1, 0], [7, 3], [3, 2], [9, 3, 2, 3], [1, 2], [5, 2, 1, 2, 1, 2])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
Spec = dict[str, Any]
"""A Vega-Lite specification, as JSON has it."""
FONT = "Charter, 'Bitstream Charter', 'Source Serif 4', Cambria, Georgia, serif"


@dataclass(frozen=True)
class Style:
    """How the curves of one run look."""

    hues: Mapping[str, str]
    """Fabric, or layer where there is no fabric, to colour."""
    layers: tuple[str, ...]
    """Layer labels in their order: they share dashes and shapes."""
    ink: str = "#1d2126"
    grid: str = "#d8dbe0"
    font: str = field(default=FONT)

    def hue_of(self, curve: Curve) -> str:
        """Return the key of the curve's colour."""
        return curve.fabric or curve.layer_label

    def scale(self, names: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return domain and range of the colours of those names."""
        return list(names), [self.hues.get(name, PALETTE[-1]) for name in names]

    def dash(self, layer: str) -> list[int]:
        """Return the dash of a layer."""
        return list(DASHES[self.layers.index(layer) % len(DASHES)])

    def shape(self, layer: str) -> str:
        """Return the point shape of a layer."""
        return SHAPES[self.layers.index(layer) % len(SHAPES)]


def style_of(curves: Iterable[Curve], *, for_page: bool) -> Style:
    """Return the style of a run; on a page, lines and text follow the page's colour, light or dark."""
    curves = list(curves)
    by_fabric = sorted(curves, key=lambda curve: curve.fabric is None)
    names = dict.fromkeys(curve.fabric or curve.layer_label for curve in by_fabric)
    layers = tuple(dict.fromkeys(curve.layer_label for curve in curves))
    hues = {name: PALETTE[index % len(PALETTE)] for index, name in enumerate(names)}
    if for_page:
        return Style(hues, layers, "currentColor", "var(--rule)")
    return Style(hues, layers)


def config(style: Style) -> Spec:
    """Return the Vega-Lite configuration: thin lines, no frame, text in the page's ink."""
    text = {"labelColor": style.ink, "titleColor": style.ink, "labelFont": style.font, "titleFont": style.font}
    return {
        "background": None if style.ink == "currentColor" else "white",
        "font": style.font,
        "view": {"stroke": None},
        "title": {"color": style.ink, "font": style.font},
        "axis": {
            **text,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "gridColor": style.grid,
            "gridOpacity": 0.7,
            "domainColor": style.ink,
            "domainOpacity": 0.4,
            "tickColor": style.ink,
            "tickOpacity": 0.4,
            "titlePadding": 8,
        },
        "axisX": {"labelFlush": False, "labelSeparation": 8},
        "locale": {"number": {"decimal": ".", "thousands": "\N{THIN SPACE}", "grouping": [3], "currency": ["", ""]}},
        "legend": {
            **text,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "orient": "top",
            "symbolStrokeWidth": 2,
            "symbolStrokeColor": style.ink,
            "labelLimit": 260,
            "offset": 6,
        },
    }
