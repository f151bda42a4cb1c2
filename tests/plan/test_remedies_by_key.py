"""What is wrong at a key of its own is answered with what that key takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.plan.test_fresh_eyes import END, PING_PONG, PLAN, Row, changed, checked

from fabriscope.model.errors import PlanError

REFUSED: list[Row] = [
    (END, "ssh: -p 2222\n", 8, "its first word is the program: write `ssh -p 2222`"),
    ("{sizes: [8]}", "{verbs: {ack_timeout: 67ms}}", 7, "write it in digits, from 0 to 31"),
    ("lab: gige", "lab: gige, traffic_class: AF31", 4, "write it in digits, from 0 to 255"),
    (PING_PONG, "bandwidth: {window: 64KiB}", 7, "counts messages: write 64; bytes are `in_flight_limit: 64KiB`"),
    ("{lab: gige}\n  far: {lab: ethernet-100}", "{interface: {'node[1-2]': ib0}}", 4,
     "write one line for each host: lists of hosts are not unfolded here"),
    ("benchmarks:\n  ping_pong", "  benchmarks:\n    ping_pong", 6,
     "'benchmarks' stands below 'fabrics', as if it were a fabric -- write it at the left margin"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "said"), REFUSED, ids=[row[1].strip() for row in REFUSED])
def test_it_is_refused_with_what_the_key_takes(tmp_path: Path, old: str, new: str, line: int, said: str) -> None:
    told = checked(tmp_path, changed(PLAN, old, new))
    assert isinstance(told.exception, PlanError), told.output
    assert any(f"plan.yaml:{line}: " in one and said in one for one in str(told.exception).splitlines()), told.exception
