"""IMB before 2018, whose Mbytes have 2^20 bytes, and whose title is spelled otherwise."""

from __future__ import annotations

import pytest
from tests.readers.test_golden import read

OLD = [
    ("Intel (R) MPI Benchmark Suite V3.2, MPI-1 part", "3.2"),
    ("Intel (R) MPI Benchmarks 4.0 Update 1, MPI-1 part", "4.0 Update 1"),
    ("Intel(R) MPI Benchmarks 4.1 Update 1, MPI-1 part", "4.1 Update 1"),
    ("Intel(R) MPI Benchmarks 2017 Update 2, MPI-1 part", "2017 Update 2"),
]
NEW = [("Intel(R) MPI Benchmarks 2018, MPI-1 part", "2018"), ("Intel(R) MPI Benchmarks 2021.3, MPI-1 part", "2021.3")]


def log(title: str, megabyte: float) -> str:
    """Return what PingPong prints where a message takes 2 us and a byte 0.4 ns."""
    rows = [(size, 2 + size * 0.0004) for size in (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)]
    return (
        f"#{'-' * 60}\n#    {title}\n#{'-' * 60}\n\n# Benchmarking PingPong\n# #processes = 2\n"
        "       #bytes #repetitions      t[usec]   Mbytes/sec\n"
        + "".join(f"{size:13}{1000:13}{us:13.2f}{size / us * 1e6 / megabyte:13.2f}\n" for size, us in rows)
        + "\n\n# All processes entering MPI_Finalize\n\n"
    )


@pytest.mark.parametrize(("title", "version"), [*OLD, *NEW])
def test_the_version_says_how_many_bytes_a_megabyte_has(title: str, version: str) -> None:
    is_old = (title, version) in OLD
    document = read("imb", log(title, 1 << 20 if is_old else 1e6))
    assert not document.problems
    assert document.version == version
    (table,) = document.tables
    rates = [row.number("bandwidth_bytes_per_s") for row in table.rows]
    assert rates[-1] == pytest.approx(4096 / (2 + 4096 * 0.0004) * 1e6, rel=1e-5)
    assert table.rows[-1].number("time_ns") == pytest.approx(1e3 * (2 + 4096 * 0.0004), rel=1e-5)
    (printed_in,) = (column.printed_in for column in table.columns if column.head == "Mbytes/sec")
    assert ("2^20" in printed_in) is is_old


@pytest.mark.parametrize(("title", "version"), [OLD[2], NEW[0]])
def test_a_megabyte_of_another_version_is_refused(title: str, version: str) -> None:
    document = read("imb", log(title, 1e6 if (title, version) in OLD else 1 << 20))
    problem = document.problem("refused")
    assert problem is not None
    assert f"Mbytes/sec of {'2^20' if (title, version) in OLD else '10^6'} bytes" in problem.text
