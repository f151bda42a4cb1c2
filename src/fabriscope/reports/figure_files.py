"""Every figure as PNG, SVG and PDF, from the specification that the page draws."""

from __future__ import annotations

import json
from pathlib import Path

import vl_convert

from fabriscope.analysis.results import results_of
from fabriscope.model.run_data import RunData
from fabriscope.reports._charts import draw
from fabriscope.reports._figures import figures
from fabriscope.reports._style import style_of
from fabriscope.reports.base import Options, Report, write_file

PNG_SCALE = 2


def render(run: RunData, out: Path, options: Options) -> list[Path]:
    """Write one file for each figure and format, and return them."""
    results = results_of(run)
    style = style_of(results.looks(), for_page=False)
    paths = []
    for figure in figures(results):
        text = json.dumps(draw(figure, style, for_page=False).spec)
        for suffix in options.figure_formats:
            paths.append(out / f"{figure.figure_id}.{suffix}")
            write_file(paths[-1], _converted(text, suffix))
    return paths


def _converted(specification: str, suffix: str) -> bytes:
    if suffix == "svg":
        svg: str = vl_convert.vegalite_to_svg(specification)
        return svg.encode()
    if suffix == "pdf":
        pdf: bytes = vl_convert.vegalite_to_pdf(specification)
        return pdf
    png: bytes = vl_convert.vegalite_to_png(specification, scale=PNG_SCALE)
    return png


REPORT = Report("figures", "every figure as PNG, SVG or PDF", render)
