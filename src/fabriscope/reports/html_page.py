"""One self-contained page: figures, tables and words, with everything they need inside the file."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from fabriscope.analysis.results import Results, results_of
from fabriscope.model.errors import printable
from fabriscope.model.run_data import RunData
from fabriscope.reports._channels import LegendEntry
from fabriscope.reports._charts import draw
from fabriscope.reports._figure import Figure
from fabriscope.reports._made_of import made_of_json
from fabriscope.reports._packed import packed
from fabriscope.reports._script_library import ScriptLibrary
from fabriscope.reports._style import Style, config, style_of
from fabriscope.reports.base import Options, Report, write_file
from fabriscope.reports.section import figures_in
from fabriscope.reports.sections import sections_of

PAGE_NAME = "report.html"
TEMPLATES = Path(__file__).parent / "templates"


def render(run: RunData, out: Path, options: Options) -> list[Path]:  # noqa: ARG001 - the page has no options
    """Write report.html and return it."""
    scripts = ScriptLibrary()
    mark = secrets.token_hex(16)  # nothing in a run can be mistaken for it
    page = page_text(results_of(run), mark, digest_mark(mark), str(Path(run.path).absolute()))
    path = out / PAGE_NAME
    library = scripts.text()
    page = page.replace(digest_mark(mark), hashlib.sha256(library.encode()).hexdigest())
    write_file(path, page.replace(mark, library, 1).encode())
    return [path]


def digest_mark(mark: str) -> str:
    """Return what stands in a page for the digest of the script library until that is known."""
    return f"digest-of-{mark[::-1]}"


def page_text(results: Results, bundle: str, bundle_sha256: str = "", run_path: str = "") -> str:
    """Return the page, with `bundle` as its script library (gzip, in base64), of a run that lay in `run_path`."""
    style = style_of(results.looks(), for_page=True)
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined)
    environment.filters["words"] = words
    manifest, sections = results.run.manifest, sections_of(results)
    figures = [figure for section in sections for figure in figures_in(section.blocks)]
    return environment.get_template("report.html.j2").render(
        title=printable(manifest.name),
        description=manifest.plan.description or "",
        left_out=results.run.notes,
        answer=results.answer if results.paper is None else results.answer[:1],
        picture=next((section.picture for section in sections if section.picture and not results.paper), None),
        sections=sections,
        config=_json(config(style)),
        drawn={figure.figure_id: _drawn(figure, style) for figure in figures},
        made_of=Markup(made_of_json(results.run, run_path, bundle_sha256)),  # noqa: S704 - escaped there
        run_path=run_path,
        css=_inlined("style.css"),
        script=_inlined("script.js"),
        bundle=bundle,
    )


@dataclass(frozen=True)
class Drawn:
    """A figure as the page has it."""

    id: str
    title: str
    spec: Markup
    legend: list[LegendEntry]
    is_labelled: bool


def _drawn(figure: Figure, style: Style) -> Drawn:
    drawing = draw(figure, style, for_page=True)
    spec = _json(packed(drawing.spec, figure.title))
    return Drawn(figure.figure_id, figure.title, spec, drawing.legend, drawing.is_labelled)


def _json(value: Mapping[str, object]) -> Markup:
    # `<` must not stand in a script element: a label might hold `</script>`.
    text = json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return Markup(text)  # noqa: S704 - escaped above


def _inlined(name: str) -> Markup:
    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))  # noqa: S704 - our own file


REPORT = Report("html", "one self-contained page with interactive figures", render)


def words(text: str) -> Markup:
    """Return a sentence as HTML, with what stands between backticks as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one of them has no other
        return escape(text)
    code = Markup("<code>{}</code>")
    return Markup("").join(code.format(part) if place % 2 else escape(part) for place, part in enumerate(parts))
