"""What is written of priorities is what is read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fabriscope.model.priorities import listed, paired, pairs, priorities


@given(st.sets(st.integers(0, 7)))
def test_lists(wanted: set[int]) -> None:
    assert priorities(listed(wanted)) == wanted
    assert listed(wanted) == listed(sorted(wanted, reverse=True)) != ""


@given(st.dictionaries(st.integers(0, 63), st.integers(0, 7)))
def test_maps(wanted: dict[int, int]) -> None:
    assert pairs(paired(wanted)) == wanted
