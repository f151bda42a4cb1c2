"""A proof as a page that stands alone: the verdict, the books, and the drawing over time."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path

import vl_convert
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from fabriscope.analysis.proof import words as proof_words
from fabriscope.analysis.proof.traffic import Flow
from fabriscope.analysis.words import time_text
from fabriscope.model.proof import Observed, Proof
from fabriscope.reports._proof_chart import chart, drawn_hosts

PAGE_NAME = "proof.html"
FIGURE_NAME = "traffic"
PNG_SCALE = 2
_TEMPLATES = Path(__file__).parent / "templates"


def write(observed: Observed, proof: Proof, flows: Sequence[Flow], out: Path) -> list[Path]:
    """Write the page, the drawing as PNG and SVG, and the table as CSV into a folder; return them."""
    paths = [out / PAGE_NAME, out / "books.csv"]
    paths[0].write_text(page_text(observed, proof, flows), encoding="utf-8")
    paths[1].write_text(books_csv(proof), encoding="utf-8")
    drawing = chart(flows, for_page=False)
    if drawing is not None:
        text = json.dumps(drawing)
        paths += [out / f"{FIGURE_NAME}.png", out / f"{FIGURE_NAME}.svg"]
        paths[2].write_bytes(vl_convert.vegalite_to_png(text, scale=PNG_SCALE))
        paths[3].write_text(vl_convert.vegalite_to_svg(text), encoding="utf-8")
    return paths


def page_text(observed: Observed, proof: Proof, flows: Sequence[Flow]) -> str:
    """Return the page."""
    environment = Environment(loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined)
    drawing = chart(flows, for_page=True)
    # vl-convert writes the labels into the picture, escaped; colours follow the page.
    picture = None if drawing is None else Markup(vl_convert.vegalite_to_svg(json.dumps(drawing)))  # noqa: S704
    ending = proof_words.ending_sentence(observed)
    left_out = len(observed.hosts) - len(drawn_hosts(flows))
    return environment.get_template("proof.html.j2").render(
        title=proof_words.command_text(observed),
        verdict=proof.books.verdict,
        expected=proof.expected,
        because=proof.books.because,
        contradiction=proof.contradiction,
        notes=[ending[:1].upper() + ending[1:] + "."] if ending else [],
        rows=proof_words.rows(proof.books.carriers),
        closure=proof_words.closure_sentence(proof),
        drawing=picture,
        left_out=f"{left_out} hosts that moved less are left out." if left_out > 0 and picture else "",
        library=proof_words.library_sentences(observed, proof),
        problems=proof_words.problems(observed.watches),
        about=_about(observed),
        css=Markup((_TEMPLATES / "style.css").read_text(encoding="utf-8")),  # noqa: S704 - our own file
    )


def _about(observed: Observed) -> list[tuple[str, str]]:
    began = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(observed.started_unix_ns / 1e9))
    readings = [len(watch.readings) for watch in observed.watches.values()]
    return [
        ("command", proof_words.command_text(observed)),
        ("started", began),
        ("took", time_text(observed.elapsed_ns)),
        ("ended with", str(observed.exit_status)),
        ("hosts", ", ".join(observed.hosts)),
        ("readings of a host", str(min(readings, default=0))),
    ]


def books_csv(proof: Proof) -> str:
    """Return the books as CSV: bytes of payload, empty where they cannot be counted."""
    lines = ["host,kind,name,sent_bytes,received_bytes"]
    for one in proof.books.carriers:
        counts = ["" if count is None else str(count) for count in (one.sent_bytes, one.received_bytes)]
        name = f'"{one.name}"' if "," in one.name else one.name
        lines.append(",".join([one.host, one.kind, name, *counts]))
    return "\n".join(lines) + "\n"
