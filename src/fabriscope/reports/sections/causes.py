"""What an audit's findings cost: each was changed in launches of its own, in the same blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabriscope.analysis.comparing.compared import Compared
from fabriscope.analysis.comparing.comparisons import sign_of
from fabriscope.analysis.results import Results
from fabriscope.analysis.words import size_text
from fabriscope.model.fabric import Fabric
from fabriscope.model.metrics import metric_of
from fabriscope.reports.section import Bullets, Cell, Column, Heading, Paragraph, Section, Sections, Table

_HEADS = ("finding", "set instead", "of", "at", "costs", "95 % interval")


def _build(results: Results) -> list[Section]:
    by_cost = ranked(results)
    if not by_cost:
        return []
    rows = [cost.row for _, costs in by_cost for cost in costs]
    groups = [one.name for one, costs in by_cost for _ in costs]
    table = Table([Column(head) for head in _HEADS], rows, groups=groups, most=24, rest="sizes")
    note = "What was changed has been put back after its launches. The largest cost that is decided stands first."
    words = [_sentence(one, costs) for one, costs in by_cost]
    title = "What findings cost"
    return [
        Section(
            "causes",
            title,
            [Bullets(words), table, Paragraph(note, is_note=True)],
            brief=[Heading(title), Bullets(words)],
        )
    ]


def ranked(results: Results) -> list[tuple[Fabric, list[Cost]]]:
    """Return what was changed with its costs, the largest that is decided first."""
    causes = [one for one in results.run.manifest.fabrics.values() if one.instead_of]
    found = [(one, [Cost(one, row) for row in _rows(one, results.compared)]) for one in causes]
    return sorted(found, key=lambda one: max((cost.least for cost in one[1]), default=0.0), reverse=True)


def _rows(cause: Fabric, compared: Sequence[Compared]) -> Iterator[Compared]:
    """Yield the comparisons of a fabric as it is with the one on which something is changed."""
    names = {cause.name, cause.instead_of}
    for row in compared:
        ends = {row.pair.left_curve.fabric, row.pair.right_curve.fabric}
        if row.pair.kind == "fabric" and ends == names:
            yield row


class Cost:
    """What a finding costs at one size."""

    def __init__(self, cause: Fabric, row: Compared) -> None:
        is_left = row.pair.left_curve.fabric == cause.name
        # How many times as fast it is where the finding is changed.
        gain = row.stated if is_left else 1 / row.stated
        ends = (
            []
            if row.stated_low is None or row.stated_high is None
            else sorted(one if is_left else 1 / one for one in (row.stated_low, row.stated_high))
        )
        is_rate = sign_of(row.pair.metric_id) > 0
        self._of = metric_of(row.pair.metric_id).words.partition(", ")[0]  # whatever its buffers
        self._more = "" if is_rate else "longer"
        self.share = 1 - 1 / gain if is_rate else gain - 1
        self.ends = [1 - 1 / one if is_rate else one - 1 for one in ends]
        self._size, self._cause, self._layer = row.message_size_bytes, cause, row.pair.left_curve.label(fabric=False)

    @property
    def least(self) -> float:
        """Return the least cost that is not excluded; 0 where none is decided."""
        return max(0.0, self.ends[0]) if self.ends else 0.0

    @property
    def interval(self) -> str:
        """Return the interval in words."""
        return f"{self.ends[0]:.1%} to {self.ends[1]:.1%}" if self.ends else "one block has none"

    @property
    def text(self) -> str:
        """Return `8.9% of bandwidth at 64 KiB (8.5% to 9.2%)`."""
        what = f"{self.share:.1%} of {self._of}" if not self._more else f"{self.share:.1%} longer {self._of}"
        return f"{what} at {size_text(self._size)} ({self.interval})"

    @property
    def row(self) -> Sequence[str | Cell]:
        """Return it as a row of the table."""
        set_instead = ", ".join(f"{name} {value}" for name, value in self._cause.knobs.items())
        of = f"{self._of}, {self._layer}"
        more = self._more if self.share >= 0 else self._more.replace("longer", "shorter")
        cost = f"{abs(self.share) if more else self.share:.1%}{f' {more}' if more else ''}"
        return (
            f"{self._cause.cause} ({self._cause.instead_of})",
            set_instead,
            of,
            size_text(self._size),
            cost,
            self.interval,
        )


def _sentence(cause: Fabric, costs: Sequence[Cost]) -> str:
    what = f"{cause.cause}, over {cause.instead_of}"
    if not costs:
        return f"{what}: what it costs could not be measured."
    worst = max(costs, key=lambda one: (one.least, one.share))
    if worst.share <= 0:
        return f"{what}: no cost is decided, and none was seen at any size; put back."
    if worst.least <= 0:
        return f"{what}: no cost is decided; the most seen is {worst.text}; put back."
    return f"{what}: costs {worst.text}; put back."


SECTION = Sections("causes", 26, _build)
