"""Logs as they are found: compressed, binary, with a launcher's tags before each line."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.readers.test_read_command import GOOD, read, refusal


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_log(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "log"
    data = compress(GOOD["hpl"].read_bytes())
    path.write_bytes(data)
    assert read(path).stdout.count("WR11C2R4") == 2
    path.write_bytes(data[: len(data) // 2])
    assert "is cut or damaged" in refusal(path)


def test_what_a_compressed_log_holds_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabriscope.readers.log.MOST_BYTES", 1 << 20)
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(b"\n" * (1 << 24)))
    assert path.stat().st_size < 1 << 20
    assert "it is longer than 1 MiB" in refusal(path)


def test_a_binary_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(GOOD["hpl"].read_bytes() + bytes(range(8)) * 1000)
    assert "it is a binary file, not a log" in refusal(path)
    path.write_bytes(b"PK\x03\x04" + bytes(100))
    assert "it is compressed by zip" in refusal(path)


def test_ranks_that_a_launcher_tells_apart_are_read_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "log"
    lines = GOOD["hpl"].read_text().splitlines()
    for tag in ("[1,{}]<stdout>:", "[node1@1,{}]<stdout>: ", "[rank {}] ", "[{}] ", "{}: "):
        path.write_text("".join(f"{tag.format(rank)}{line}\n" for line in lines for rank in (0, 1)))
        (document,) = json.loads(read(path, "--json").stdout)["documents"]
        assert [table["parameters"][-1] for table in document["tables"]] == [
            {"name": "rank", "value": rank, "unit": ""} for rank in (0, 1)
        ]
        assert [row["line"] for row in document["tables"][0]["rows"]] == [2 * 47 - 1, 2 * 57 - 1]


FRAME = """
===================================================================================
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 124 RUNNING AT g2
=   EXIT CODE: 15
=   CLEANING UP REMAINING PROCESSES
===================================================================================
"""


def test_what_mpich_says_of_a_job_that_it_ended_is_no_row_of_imb(tmp_path: Path) -> None:
    path = tmp_path / "log"
    whole = (Path(__file__).parents[1] / "adapters/data/imb/collectives.txt").read_text().splitlines(keepends=True)
    place = next(number for number, line in enumerate(whole, 1) if "t_avg[usec]" in line) + 1
    path.write_text("".join(whole[:place]) + FRAME)  # within a barrier's table, of four columns as one of its lines
    (document,) = json.loads(read(path, "--json").stdout)["documents"]
    assert [row["line"] for table in document["tables"] for row in table["rows"]][-1] == place
    assert "ends before" in document["problems"][0]["text"]
