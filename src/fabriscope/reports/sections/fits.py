"""Time over size in pieces: where one ends, a protocol, a buffer or a packet does."""

from __future__ import annotations

from fabriscope.analysis.comparing.findings import PLACEMENT_NAMES
from fabriscope.analysis.results import Results
from fabriscope.analysis.rows import parts
from fabriscope.analysis.values.fits import FittedPiece, fit_words
from fabriscope.analysis.words import UNKNOWN, rate_text, significant, sizes_text, time_text
from fabriscope.reports.section import Block, Bullets, Cell, Column, Heading, Paragraph, Row, Section, Sections, Table

_MOST_PIECES = 16
_HEAD = (
    "Half a round trip as latency + size / bandwidth, in as many pieces as the launches justify: where one ends, a "
    "protocol, a buffer or a packet does."
)
_NOTE = (
    "Latency and bandwidth are Hockney’s; of LogGP, G is the inverse of the bandwidth, g the time per message of a "
    "window at the smallest size, and the latency of the first piece is L\N{NO-BREAK SPACE}+\N{NO-BREAK SPACE}2o. The "
    "held-out error is what the model, fitted to the other launches, misses a launch by; the noise floor what their "
    "mean does."
)


def _build(results: Results) -> list[Section]:
    pieces = results.fitted
    if not pieces:
        return []
    numbers = ("latency", "bandwidth", "G, ns/B", "g", "held-out error", "noise floor")
    columns = [Column("what"), Column("sizes"), *(Column(name, "number") for name in numbers)]
    groups = [(piece.label(), piece.placement) for piece in pieces]
    table = Table(columns, [_row(piece) for piece in pieces], groups, most=_MOST_PIECES, rest="more pieces")
    blocks: list[Block] = [Paragraph(_HEAD), table, Paragraph(_NOTE, is_note=True)]
    return [Section("fits", "Time over size in pieces", blocks, "Time over size", brief=_brief(results))]


def _row(piece: FittedPiece) -> Row:
    """Return a piece; what is of a whole curve stands in its first row."""
    is_first, slope = piece.piece == 1, piece.ns_per_byte
    errors = [piece.held_out_error, piece.noise_floor] if is_first else [None, None]
    return [
        Cell(piece.label(), PLACEMENT_NAMES[piece.placement]),
        sizes_text(piece.first_size_bytes, piece.last_size_bytes),
        time_text(piece.latency_ns),
        rate_text(1e9 / slope) if slope > 0 else UNKNOWN,
        significant(slope) if slope > 0 else UNKNOWN,
        time_text(piece.message_gap_ns) if is_first else "",
        *("" if error is None else f"{error:.1%}" for error in errors),
    ]


def _brief(results: Results) -> list[Block]:
    """Return the curves between hosts in words."""
    curves = parts((piece for piece in results.fitted if piece.placement == "inter"), lambda piece: piece.curve)
    words = [fit_words(pieces) for pieces in curves]
    return [Heading("Half a round trip over the message size, in pieces"), Bullets(words)] if words else []


SECTION = Sections("fits", 90, _build)
