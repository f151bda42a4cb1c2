"""What the kernel tells of memory with names, of processes too that nobody saw with it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests import needs

MAPS = """
import mmap, os, sys
file = os.open(sys.argv[1], os.O_RDWR)
if sys.argv[2:]: mmap.mmap(file, 4096)
os.close(file)
"""
READS = "import sys; open(sys.argv[1]).read()"


@pytest.fixture
def heard(parts: dict[str, Any]) -> Any:
    """Return the collector's processes, where the kernel tells it of memory."""
    looked = parts["Processes"]("ours", {})
    if looked.memories.group < 0:
        pytest.skip(needs.NO_WORD_ON_FILES)
    return looked


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    path = Path("/dev/shm") / f"fabriscope-test-{tmp_path.name}-{time.monotonic_ns()}"  # noqa: S108 - memory is there
    path.write_bytes(bytes(4096))
    yield path
    path.unlink()


def of_a_process(parts: dict[str, Any], looked: Any, *words: str) -> dict[str, int]:
    """Return what is known of the memory of a process of the job's that has ended before anybody looked."""
    with subprocess.Popen([sys.executable, "-c", *words]) as started:
        one = parts["Process"](started.pid, time.monotonic())
        looked.of_job[started.pid] = looked.new[started.pid] = one
    looked.look(time.monotonic())
    assert started.pid not in looked.of_job
    looked.rows()
    shared: dict[str, int] = one.shared
    return shared


def test_memory_of_a_process_that_has_ended_is_known(parts: dict[str, Any], heard: Any, memory: Path) -> None:
    shared = of_a_process(parts, heard, MAPS, str(memory), "mapped")
    ((identity, size),) = shared.items()
    assert identity.endswith(f":{memory.stat().st_ino} {memory}")
    assert size == 4096
    in_maps = Path("/proc/self/mountinfo").read_text()
    assert f" {int(identity[:2], 16)}:{int(identity[3:5], 16)} " in in_maps, "as maps write it"


def test_what_was_only_read_is_no_memory_that_is_shared(parts: dict[str, Any], heard: Any, memory: Path) -> None:
    assert not of_a_process(parts, heard, READS, str(memory))


def test_somebody_elses_memory_is_not_the_jobs(heard: Any, memory: Path) -> None:
    subprocess.run([sys.executable, "-c", MAPS, str(memory), "mapped"], check=True)
    assert not heard.rows()
