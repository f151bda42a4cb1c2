"""What looks like something else in a plan is refused: a small `b` may be a bit, and digits are those of ASCII."""

from __future__ import annotations

import pytest

from fabriscope.model.errors import HostError
from fabriscope.model.host_lists import unfolded
from fabriscope.model.units import parse_size_bytes


@pytest.mark.parametrize("unit", ["b", "kb", "Kb", "mb", "Mb", "gb", "Gb"])
def test_a_size_that_may_be_bits_is_refused(unit: str) -> None:
    with pytest.raises(ValueError, match=f"'64{unit}' may be bits: write 64{unit.upper()} for bytes"):
        parse_size_bytes(f"64{unit}")


def test_sizes_in_bytes_are_read() -> None:
    assert [parse_size_bytes(f"2{unit}") for unit in ("B", "kB", "KB", "KiB", "kib", "k", "K")] == [
        *(2, 2000, 2000, 2048, 2048, 2048, 2048)
    ]


@pytest.mark.parametrize("text", ["node[\u0661-\u0662]", "node\u0661", "node[1-2],n\uff11"])
def test_digits_of_another_script_name_no_host(text: str) -> None:
    with pytest.raises(HostError, match="has digits of another script than ASCII's"):
        unfolded(text)
