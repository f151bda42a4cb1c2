"""Every column says what it is: in which unit the program prints it, and what its table times, sends and counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.readers.test_read_command import GOOD, TEXTS, read

from fabriscope.readers.terms import printed_unit

DATA = Path(__file__).parent / "data"


def tables(path: Path) -> list[dict[str, Any]]:
    """Return the tables of a log as JSON has them."""
    return [table for one in json.loads(read(path, "--json").stdout)["documents"] for table in one["tables"]]


def printed_in(path: Path, column: str) -> str | None:
    """Return the unit in which a column of the first table is printed."""
    (unit,) = [one["printed_in"] for one in tables(path)[0]["columns"] if one["name"] == column]
    return None if unit is None else str(unit)


@pytest.mark.parametrize("program", GOOD)
def test_every_number_says_in_which_unit_it_is_printed(program: str) -> None:
    for table in tables(GOOD[program]):
        with_values = {name for row in table["rows"] for name in row["values"]}
        for column in table["columns"]:
            if column["unit"] and column["name"] in with_values:
                assert column["printed_in"], f"{column['name']} of {table['name']}"


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        (DATA / "osu/windows.txt", "MB/s, a MB of 10^6 B"),
        (TEXTS / "imb/windows.txt", "MB/s, a MB of 10^6 B"),
        (TEXTS / "netpipe/nptcp.txt", "Mbit/s, a Mbit of 2^20 bit"),
        (DATA / "netpipe/five.txt", "bit/s with prefixes of powers of 10^3"),
        (TEXTS / "perftest/write_bw.txt", "MB/s, a MB of 2^20 B"),
        (TEXTS / "perftest/mlx5_gigabits.txt", "Gbit/s, a Gbit of 10^9 bit"),
        (DATA / "ucx_perftest/stages.txt", "MB/s, a MB of 2^20 B"),
        (DATA / "dfsio/two.txt", "MB/s, a MB of 2^20 B"),
    ],
    ids=lambda part: part.stem if isinstance(part, Path) else "",
)
def test_a_megabyte_is_said_to_be_decimal_or_binary(path: Path, unit: str) -> None:
    assert printed_in(path, "bandwidth_bytes_per_s") == unit
    assert f"; printed in {unit}" in read(path).stdout


def test_no_unit_is_made_up() -> None:
    assert printed_unit("bytes_per_s", 3.0) == ""
    assert printed_unit("bytes_per_s", 1e9 / 8) == "Gbit/s, a Gbit of 10^9 bit"
    assert printed_unit("bytes", 1024.0) == "kB, a kB of 2^10 B"
    assert printed_unit("", 1.0) == ""


def test_directions_and_buffers_are_those_of_the_test() -> None:
    by_name = {table["name"]: table["terms"] for table in tables(TEXTS / "imb/windows.txt")}
    assert by_name["Uniband"]["bytes_counted"] == "once, in one direction"
    assert by_name["Biband"]["bytes_counted"] == "the sum of both directions"
    assert by_name["PingPong"]["buffers"].startswith("one to send and another one to receive")
    (terms,) = [table["terms"] for table in tables(TEXTS / "netpipe/nptcp.txt")]
    assert terms["buffers"].startswith("what arrived is sent back from the same buffer")
    assert terms["bytes_counted"] is None, "NetPIPE's text does not say whether both ends sent at once"


def test_what_is_not_known_of_a_test_is_null() -> None:
    (table,) = tables(DATA / "dfsio/two.txt")[:1]
    assert set(table["terms"].values()) == {None}


def test_tables_of_two_ranks_each_say_whose_they_are(tmp_path: Path) -> None:
    path = tmp_path / "log"
    lines = GOOD["hpl"].read_text().splitlines()
    path.write_text("".join(f"[rank {rank}] {line}\n" for line in lines for rank in (0, 1)))
    shown = read(path).stdout
    assert shown.index("rank: 0") < shown.index("WR11C2R4") < shown.index("rank: 1")
    assert shown.count("until the linear system is solved") == 1
