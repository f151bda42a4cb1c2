"""What OSU's programs say of the data that arrived, with `-c`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabriscope.adapters._foreign import ending, text_of
from fabriscope.model.case import Case
from fabriscope.model.command import Outcome
from fabriscope.readers.osu import READER, RIGHT


def invalid(outcome: Outcome, program: str, cases: Sequence[Case]) -> Mapping[str, str]:
    """Return the ids of the cases whose data were not seen to arrive whole, and why; raises ParseError."""
    document = READER.read(text_of(outcome.stdout))
    said = {
        int(row.values.get("message_size_bytes", 0)): str(row.values.get("validation", ""))
        for table in document.tables
        if table.name == program
        for row in table.rows
    }
    reasons = {}
    for case in cases:
        size = case.message_size_bytes
        word = said.get(size)
        if word is None:
            reasons[case.case_id] = f"{size} B were not validated: {ending(outcome, f'{program} -c')}"
        elif word not in RIGHT:
            reasons[case.case_id] = f"{program} -c says {word or 'nothing'} of the data of {size} B"
    return reasons
