"""Fifty logs of OSU, IMB and perftest as a site may have them, made up: `python -m tests.fifty_logs FOLDER`."""

from __future__ import annotations

import random
import sys
from pathlib import Path

SIZES = [2**power for power in range(23)]
FABRICS = {"eth": (25.0, 117.0), "roce": (2.2, 1170.0)}
"""Microseconds of the smallest message, and MB/s of the largest."""


def osu(title: str, head: str, rows: list[tuple[int, float]]) -> str:
    body = "".join(f"{size:<10}{value:>20.2f}\n" for size, value in rows)
    return f"# OSU MPI {title} Test v7.4\n# Datatype: MPI_CHAR.\n# Size{head:>26}\n{body}"


def imb(rows: list[tuple[int, int, float]]) -> str:
    body = "".join(f"{size:13}{count:13}{us:13.2f}{size / us:13.2f}\n" for size, count, us in rows)
    return (
        "#----------------------------------------------------------------\n"
        "#    Intel(R) MPI Benchmarks 2021.7, MPI-1 part\n"
        "#----------------------------------------------------------------\n"
        "# Calling sequence was: \n\n# IMB-MPI1 PingPong \n\n"
        "# Minimum message length in bytes:   0\n# Maximum message length in bytes:   4194304\n\n"
        "# Benchmarking PingPong \n# #processes = 2 \n"
        f"       #bytes #repetitions      t[usec]   Mbytes/sec\n{body}\n\n# All processes entering MPI_Finalize\n\n"
    )


def perftest(rows: list[tuple[int, float]]) -> str:
    body = "".join(
        f" {size:<10} {5000:<10} {mb / 1.048576 * 1.001:>16.2f} {mb / 1.048576:>18.2f} {mb / size:>16.6f}\n"
        for size, mb in rows
    )
    line = "-" * 87
    return (
        f"{line}\n                    RDMA_Write BW Test\n Dual-port       : OFF\t\tDevice         : mlx5_0\n"
        f" TX depth        : 128\n CQ Moderation   : 1\n{line}\n"
        f" #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n{body}{line}\n"
    )


def main(folder: Path) -> None:
    draw = random.Random(20)
    for fabric, (least_us, most_mb) in FABRICS.items():
        below = folder / fabric
        below.mkdir(parents=True)

        def us(size: int, noise: float, least: float = least_us, most: float = most_mb) -> float:
            return (least + size / most) * noise

        for number in range(10):
            noise = [draw.lognormvariate(0, 0.02) for _ in SIZES]
            rows = [(size, us(size, one)) for size, one in zip(SIZES, noise, strict=True)]
            (below / f"osu_latency.{number}.out").write_text(osu("Latency", "Latency (us)", rows))
            windows = [(size, most_mb * min(1, size / 4096) * one) for size, one in zip(SIZES, noise, strict=True)]
            if number < 5:
                (below / f"osu_bw.{number}.out").write_text(osu("Bandwidth", "Bandwidth (MB/s)", windows))
            if number < 6:
                timed = [(0, 1000, least_us)]
                timed += [(size, max(1, min(1000, 41943040 // size)), time * 1.03) for size, time in rows]
                (below / f"imb-{number}.log").write_text(imb(timed))
            if fabric == "roce" and number < 8:
                (below / f"ib_write_bw_{number}.txt").write_text(perftest([(s, mb) for s, mb in windows if s >= 2]))
    (folder / "labels.yaml").write_text(
        "'eth/*': {fabric: eth, mpi: openmpi, placement: inter, window: 64, rate: 1Gb/s, mtu: 1500}\n"
        "'roce/osu*': {fabric: roce, mpi: openmpi, placement: inter, window: 64, rate: 10Gb/s, mtu: 9000}\n"
        "'roce/imb*': {fabric: roce, mpi: openmpi, placement: inter, rate: 10Gb/s, mtu: 9000}\n"
        "'roce/ib_*': {fabric: roce, placement: inter, rate: 10Gb/s, mtu: 9000}\n"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
