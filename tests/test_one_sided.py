"""One-sided operations, moved by a real MPI library: that they are right, and that wrong ones are found out."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests import needs

from fabriscope import engine_binary
from fabriscope.launch import mpi_jobs
from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.command import Command
from fabriscope.model.host import Host
from fabriscope.model.mpi import MpiStack

pytestmark = pytest.mark.timeout(1200)  # the engine is compiled, once

SYNCHRONIZATIONS = ("lock", "lock_all", "flush", "fence", "pscw")
WINDOW_MEMORIES = ("allocate", "create", "dynamic")
NAMES = tuple(name for name, kind in BENCHMARKS.items() if "window_memory" in kind.parameters)

# What a library could get wrong: the data on their way, the operation at the target, what is brought back.
SHIM = r"""
#include <mpi.h>

#include <cstdlib>
#include <cstring>

namespace {
bool is_wrong(const char* name) {
  const char* wanted = std::getenv("WRONG_CALL");
  return wanted != nullptr && std::strcmp(wanted, name) == 0;
}
}  // namespace

extern "C" {
int MPI_Put(const void* origin, int count, MPI_Datatype type, int target, MPI_Aint place, int target_count,
            MPI_Datatype target_type, MPI_Win window) {
  static unsigned char changed[4096];
  if (is_wrong("put")) {
    std::memcpy(changed, origin, count);
    changed[count / 2] ^= 1U;
    origin = changed;
  }
  return PMPI_Put(origin, count, type, target, place, target_count, target_type, window);
}
int MPI_Get(void* result, int count, MPI_Datatype type, int target, MPI_Aint place, int target_count,
            MPI_Datatype target_type, MPI_Win window) {
  if (is_wrong("get")) return MPI_SUCCESS;
  return PMPI_Get(result, count, type, target, place, target_count, target_type, window);
}
int MPI_Accumulate(const void* origin, int count, MPI_Datatype type, int target, MPI_Aint place, int target_count,
                   MPI_Datatype target_type, MPI_Op op, MPI_Win window) {
  if (is_wrong("accumulate")) op = MPI_REPLACE;
  return PMPI_Accumulate(origin, count, type, target, place, target_count, target_type, op, window);
}
int MPI_Get_accumulate(const void* origin, int count, MPI_Datatype type, void* result, int result_count,
                       MPI_Datatype result_type, int target, MPI_Aint place, int target_count,
                       MPI_Datatype target_type, MPI_Op op, MPI_Win window) {
  if (is_wrong("get_accumulate")) op = MPI_NO_OP;
  return PMPI_Get_accumulate(origin, count, type, result, result_count, result_type, target, place, target_count,
                             target_type, op, window);
}
int MPI_Fetch_and_op(const void* origin, void* result, MPI_Datatype type, int target, MPI_Aint place, MPI_Op op,
                     MPI_Win window) {
  static long long lost;
  return PMPI_Fetch_and_op(origin, is_wrong("fetch_and_op") ? &lost : result, type, target, place, op, window);
}
int MPI_Compare_and_swap(const void* origin, const void* comparison, void* result, MPI_Datatype type, int target,
                         MPI_Aint place, MPI_Win window) {
  if (is_wrong("compare_and_swap")) {
    return PMPI_Fetch_and_op(origin, result, type, target, place, MPI_REPLACE, window);
  }
  return PMPI_Compare_and_swap(origin, comparison, result, type, target, place, window);
}
}
"""


@dataclass(frozen=True)
class Bench:
    """An MPI library, and the engine that was compiled with it."""

    stack: MpiStack
    engine: Path

    def run(self, cases: Mapping[str, str], env: Mapping[str, str] | None = None) -> dict[str, list[dict[str, Any]]]:
        """Run cases (id to their other words) with two ranks on this host; return the stream's lines by type."""
        lines = [f"case id={name} window_size=4 {words}" for name, words in cases.items()]
        spec = "\n".join(["fabriscope-spec 1", "budget_ns 1", "case_timeout_ns 60000000000", *lines, "end", ""])
        words = ("--transport", "mpi", "--rendezvous", "mpi", "--spec", "-")
        command = Command(
            (str(self.engine), *words), "here", stdin=spec.encode(), rank_hosts=("here", "here"), env=env or {}
        )
        wrapped = mpi_jobs.wrap(command, self.stack, {"here": Host("here")}, None, None)
        done = subprocess.run(
            wrapped.argv,
            input=wrapped.stdin,
            capture_output=True,
            env={**os.environ, **wrapped.env},
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode() + done.stdout.decode()[-2000:]
        by_type: dict[str, list[dict[str, Any]]] = {"failure": [], "verification": [], "block": []}
        for line in done.stdout.decode().splitlines():
            if line.startswith("{"):
                said = json.loads(line)
                by_type.setdefault(said["type"], []).append(said)
        return by_type


@pytest.fixture(scope="module")
def bench() -> Bench:
    stack = needs.mpi_library()
    return Bench(stack, engine_binary.build_mpi_engine(stack))


@pytest.fixture(scope="module")
def shim(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shim")
    (folder / "shim.cc").write_text(SHIM)
    built = folder / "shim.so"
    argv = [str(bench.stack.mpicxx), "-shared", "-fPIC", "-o", str(built), str(folder / "shim.cc")]
    done = subprocess.run(
        argv, capture_output=True, text=True, env={**os.environ, **bench.stack.env}, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return built


def sizes(name: str) -> tuple[int, ...]:
    return (8,) if BENCHMARKS[name].is_of_one_element else (8, 5000 * 8)


def every_synchronization() -> Iterator[tuple[str, str]]:
    for name in NAMES:
        for synchronization in SYNCHRONIZATIONS:
            for memory in WINDOW_MEMORIES:
                words = f"benchmark={name} synchronization={synchronization} window_memory={memory}"
                for size in sizes(name):
                    yield f"{name}.{synchronization}.{memory}.{size}", f"{words} message_size_bytes={size}"
            if name in ("put_latency", "accumulate_latency", "put_bandwidth"):
                words = f"benchmark={name} synchronization={synchronization} far_check=0 message_size_bytes=64"
                yield f"{name}.{synchronization}.unchecked", words


def every_reduction() -> Iterator[tuple[str, str]]:
    sizes = {"byte": 1, "int32": 4, "int64": 8, "float": 4, "double": 8}
    arithmetic, bits, neither = ("sum", "prod", "max", "min"), ("band", "bor"), ("replace", "no_op")
    allowed = {
        "byte": (*bits, *neither),
        "int32": (*arithmetic, *bits, *neither),
        "int64": (*arithmetic, *neither),  # bits of int64 are wrong in Open MPI 5.0.11
        "float": (*arithmetic, *neither),
        "double": (*arithmetic, *neither),
    }
    for datatype, reductions in allowed.items():
        for reduction in reductions:
            for name in ("accumulate_latency", "get_accumulate_latency", "fetch_and_op_latency"):
                if (name, reduction) == ("accumulate_latency", "no_op"):
                    continue
                size = sizes[datatype] * (1 if name == "fetch_and_op_latency" else 13)
                words = f"benchmark={name} message_size_bytes={size} datatype={datatype} reduction={reduction}"
                yield f"{name}.{datatype}.{reduction}", words + " far_check=0"
    for datatype in ("byte", "int32", "int64"):
        words = f"benchmark=compare_and_swap_latency message_size_bytes={sizes[datatype]} datatype={datatype}"
        yield f"compare_and_swap.{datatype}", words


@pytest.mark.parametrize("make_cases", [every_synchronization, every_reduction])
def test_every_operation_moves_the_right_data(
    bench: Bench, make_cases: Callable[[], Iterator[tuple[str, str]]]
) -> None:
    cases = dict(make_cases())
    said = bench.run(cases)
    assert said["failure"] == []
    assert {one["case"]: one["ok"] for one in said["verification"]} == dict.fromkeys(cases, True)
    assert {one["case"] for one in said["block"] if one["phase"] == "measured"} == set(cases)


CALLS = {
    "put": "benchmark=put_latency message_size_bytes=8",
    "put.window": "benchmark=put_bandwidth message_size_bytes=512",
    "put.both": "benchmark=put_bidirectional_bandwidth message_size_bytes=512",
    "get": "benchmark=get_latency message_size_bytes=8",
    "get.window": "benchmark=get_bandwidth message_size_bytes=512",
    "accumulate": "benchmark=accumulate_latency message_size_bytes=8",
    "get_accumulate": "benchmark=get_accumulate_latency message_size_bytes=8",
    "fetch_and_op": "benchmark=fetch_and_op_latency message_size_bytes=8",
    "compare_and_swap": "benchmark=compare_and_swap_latency message_size_bytes=8",
}


@pytest.mark.parametrize("wrong", sorted({name.partition(".")[0] for name in CALLS}))
def test_a_library_that_errs_is_found_out(bench: Bench, shim: Path, wrong: str) -> None:
    said = bench.run(CALLS, {"LD_PRELOAD": str(shim), "WRONG_CALL": wrong})
    found = {one["case"] for one in said["verification"] if not one["ok"]}
    assert found == {name for name in CALLS if name.partition(".")[0] == wrong}
    assert {one["case"] for one in said["failure"]} == found
    for one in said["failure"]:
        assert "in message 0" in one["reason"]
        assert f"after {wrong}" in one["reason"]


REFUSED = [
    ("put_latency", 8, "synchronization=wish", "there is no synchronization 'wish'"),
    ("put_latency", 8, "window_memory=borrowed", "there is no window_memory 'borrowed'"),
    ("put_latency", 8, "far_check=2", "far_check is '2'"),
    ("put_latency", 0, "", "writes nothing that the far side could see"),
    ("get_latency", 8, "far_check=1", "is a check in itself"),
    ("accumulate_latency", 6, "", "no whole number of elements of 4 bytes"),
    ("accumulate_latency", 8, "reduction=min", "sees a sum, a replace or a max arrive, and no min"),
    ("accumulate_latency", 8, "reduction=no_op far_check=0", "no accumulate with the reduction no_op"),
    ("accumulate_latency", 8, "reduction=median far_check=0", "there is no reduction 'median'"),
    ("get_accumulate_latency", 8, "datatype=double reduction=bor", "MPI has no bor of the datatype double"),
    ("fetch_and_op_latency", 16, "", "moves one element of 8 bytes"),
    ("compare_and_swap_latency", 8, "datatype=double", "compares and swaps whole numbers and bytes, and no double"),
    ("put_bandwidth", 1 << 28, "", "need more than the 256 MiB"),
    ("put_bidirectional_bandwidth", 8, "far_check=0 synchronization=lock", "keep the two directions in step"),
]


def test_what_makes_no_sense_is_refused_in_one_sentence_and_the_rest_goes_on(bench: Bench) -> None:
    cases = {
        f"c{index}": f"benchmark={name} message_size_bytes={size} {words}"
        for index, (name, size, words, _) in enumerate(REFUSED)
    }
    said = bench.run({**cases, "sound": "benchmark=put_latency message_size_bytes=8"})
    reasons = {one["case"]: one["reason"] for one in said["failure"]}
    assert set(reasons) == set(cases)
    for index, (*_, sentence) in enumerate(REFUSED):
        assert sentence in reasons[f"c{index}"]
    assert {one["case"] for one in said["block"]} == {"sound"}
