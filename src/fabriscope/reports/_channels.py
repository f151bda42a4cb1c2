"""Colour, dash and shape of one figure, and its legend.

A page draws the legend itself: its entries wrap on a phone and are buttons. Exported figures carry Vega's legend.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from fabriscope.reports._style import PALETTE, Spec, Style
from fabriscope.reports._vega import channel

PICKED = (
    "(picked_hue == '' || datum.hue == picked_hue) && "
    "(picked_layer == '' || datum.layer == '' || datum.layer == picked_layer)"
)
PARAMETERS = ("picked_hue", "picked_layer")
LEGEND_COLUMNS = 3


class Told(Protocol):
    """A mark, as far as it is told from others."""

    @property
    def hue(self) -> str:
        """Return what its colour stands for."""

    @property
    def layer(self) -> str:
        """Return what its dash and shape stand for."""


@dataclass(frozen=True)
class LegendEntry:
    """An entry of the page's legend."""

    parameter: str
    """That a click sets."""
    name: str
    colour: str
    dash: str
    shape: str


@dataclass(frozen=True)
class Channels:
    """How the curves of one figure are told apart."""

    hues: dict[str, str]
    """What a colour stands for, to colour."""
    layers: dict[str, tuple[list[int], str]]
    """Layer to dash and shape."""
    is_merged: bool
    """Colours and layers are the same thing: one legend serves both."""
    has_legend: bool

    def color(self, *, of_hue: bool = False) -> Spec:
        """Return the colour channel; `of_hue` for rows that belong to no layer, such as bounds."""
        scale = {"domain": list(self.hues), "range": list(self.hues.values())}
        if self.is_merged and not of_hue:
            return channel("layer:N", scale=scale, legend=self._legend())
        legend = None
        if self.has_legend and not self.is_merged:
            legend = {"title": None, "symbolType": "stroke", "symbolOpacity": 1, "symbolSize": 300}
        return channel("hue:N", scale=scale, legend=legend)

    def dash(self) -> Spec:
        """Return the dash channel, with the shape's legend: they become one."""
        scale = {"domain": list(self.layers), "range": [dash for dash, _ in self.layers.values()]}
        return channel("layer:N", scale=scale, legend=self._legend())

    def shape(self) -> Spec:
        """Return the shape channel."""
        scale = {"domain": list(self.layers), "range": [shape for _, shape in self.layers.values()]}
        return channel("layer:N", scale=scale, legend=self._legend())

    def legend(self) -> list[LegendEntry]:
        """Return the page's legend."""
        if self.is_merged:
            return [_entry("picked_layer", name, self.hues[name], *self.layers[name]) for name in self.layers]
        hues = [_entry("picked_hue", name, colour, [1, 0], "") for name, colour in self.hues.items()]
        layers = [_entry("picked_layer", name, "currentColor", *look) for name, look in self.layers.items()]
        return [*hues, *layers]

    def _legend(self) -> Spec | None:
        if not self.has_legend:
            return None
        legend: Spec = {"title": None, "symbolOpacity": 1, "symbolStrokeWidth": 0, "columns": LEGEND_COLUMNS}
        if not self.is_merged:
            legend["symbolFillColor"] = "#1d2126"
        return legend


def channels_of(marks: Sequence[Told], style: Style, *, by_series: bool, has_legend: bool) -> Channels:
    """Return the channels of a figure's marks."""
    names = list(dict.fromkeys(mark.hue for mark in marks))
    seen = {mark.layer for mark in marks}
    layers = {layer: (style.dash(layer), style.shape(layer)) for layer in style.layers if layer in seen}
    if by_series or not any(name in style.hues for name in names):
        hues = {name: PALETTE[index % len(PALETTE)] for index, name in enumerate(names)}
    else:
        hues = {name: style.hues.get(name, PALETTE[-1]) for name in names}
    is_merged = not by_series and bool(marks) and all(mark.hue == mark.layer for mark in marks)
    return Channels(hues, layers, is_merged, has_legend)


def _entry(parameter: str, name: str, colour: str, dash: list[int], shape: str) -> LegendEntry:
    return LegendEntry(parameter, name, colour, " ".join(map(str, dash)), shape)
