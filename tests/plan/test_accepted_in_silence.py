"""What a plan could say without a word from `plan check`: each is asked about, with its line and what to write."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fabriscope.cli import fabriscope

FABRICS = "  gige: {lab: gige}\n  slow: {lab: ethernet-100}\n"
REAL = "  gige: {interface: eth0}\n  slow: {interface: ib0}\n"
PING_PONG = "ping_pong: {sizes: [8, 1KiB]}"
PLAN = f"""name: t
hosts: node[1-2]
fabrics:
{FABRICS}benchmarks:
  {PING_PONG}
launches: 5
budget: 20s
"""
MPI = "layers: [mpi]\nmpi: [openmpi]\n"
APPLICATION = f"benchmarks:\n  {PING_PONG}\n"
END = ""

Change = tuple[str, str]


def of_npb(told: str) -> Change:
    return APPLICATION, f"{MPI}applications:\n  npb: {told}\n"


def of_hpl(told: str) -> Change:
    return APPLICATION, f"{MPI}applications:\n  hpl: {told}\n"


def of_lab(told: str) -> Change:
    return "slow: {lab: ethernet-100}", f"slow: {{lab: {{preset: ethernet-100, {told}}}}}"


ASKED: list[tuple[str, list[Change], int, str]] = [
    ("both windows cut", [(PING_PONG, "bandwidth: {sizes: [1MiB], window: [16, 64]}")], 7,
     "bandwidth: at 1 MiB the windows 16 and 64 are one measurement: the in_flight_limit of 4 MiB leaves 4; write "
     "`in_flight_limit: 64MiB`"),
    ("windows cut beyond a size", [(PING_PONG, "bandwidth: {sizes: 64KiB..1MiB, window: [16, 64]}")], 7,
     "bandwidth: at 256 KiB and above the windows 16 and 64 are one measurement"),
    # time
    ("many launches", [("launches: 5", "launches: 1000")], 8, "the start of "),
    ("streams of many sizes", [(PING_PONG, "many_to_one: {sizes: 1..64MiB}")], 7, "of which many_to_one takes "),
    ("a large matrix", [of_hpl("{n: 100000}")], 9, "of which hpl takes "),
    ("FT D", [of_npb("{kernels: [FT], class: D}")], 9, "and is ended at its time_limit of 10min; choose a smaller"),
    ("FT C, often", [of_npb("{kernels: [FT], class: C, repeats: 50}")], 9, "npb: NAS FT C takes about "),
    ("an endless matrix", [of_hpl("{n: 1000000}")], 9, "and is ended at its time_limit of 1h; choose a smaller n"),
    # what a run would refuse on this machine
    ("memory of a matrix", [of_hpl("{n: 1000000}")], 9, "on 2 ranks needs 7629394 MiB of memory, and "),
    ("memory of messages", [(PING_PONG, "alltoall: {sizes: [1GiB]}"), (END, f"{MPI}ranks: 64\n")], 7,
     "alltoall: at 1 GiB its 64 ranks hold 8.19e+03 GiB of messages, and this machine has "),
    ("no such program", [of_hpl("{n: 1000, program: /opt/nope/xhpl}")], 9,
     "/opt/nope/xhpl is no program on this machine: a run would be refused; name the path of xhpl or hpcc"),
    ("no such reference", [of_npb("{kernels: [FT], reference: /opt/nope}")], 9,
     "npb: there is no program ft.S.x in /opt/nope: a run would be refused; build it there"),
    ("threads", [of_hpl("{n: 1000, threads: 4000}")], 9, "HPL's 2 ranks with 4000 threads each would share "),
    ("a processor", [(END, "layers: [mpi]\nmpi: [{name: openmpi, bind: [0, 8000]}]\n")], 11,
     "openmpi: bind names processor 8000, and this machine lets this run use "),
    ("a block beyond the matrix", [of_hpl("{n: 100, nb: 512}")], 9, "hpl: a block of nb: 512 is more than the matrix"),
    ("a tiny matrix", [of_hpl("{n: 10}")], 9, "hpl: n: 10 is solved before anything can be timed; write for example"),
    # jobs
    ("two schedulers", [("node[1-2]", "pbs"), (FABRICS, REAL), (END, "submit: {nodes: 2, scheduler: slurm}\n")], 2,
     "hosts: pbs are the hosts of a job of pbs, and submit asks slurm for one; write `hosts: slurm`"),
    ("hosts of a job, and a lab", [("node[1-2]", "slurm"), (END, "submit: {nodes: 2}\n")], 2,
     "hosts: slurm are the hosts of a batch job, and the fabrics are of the lab"),
    ("more nodes than hosts", [(FABRICS, REAL), (END, "submit: {nodes: 3}\n")], 10,
     "submit: a job of 3 nodes is asked for, and the plan names 2 hosts; write `hosts: @allocation`"),
    ("nodes for a lab", [(END, "submit: {nodes: 3}\n")], 10, "3 nodes is asked for, and a lab is all on its first"),
    ("a job of weeks", [(END, "submit: {nodes: 2, duration: 1000h}\n")], 10, "a duration of 1000h is more than 100"),
    ("a time-out of weeks", [(END, "case_timeout: 500h\n")], 10, "a launch that hangs is waited for 500h; write for"),
    ("srun in a lab", [(END, f"{MPI}launcher: srun\n")], 12, "launcher: srun starts jobs of Slurm, and hosts of a "),
    ("srun without a job", [(FABRICS, REAL), (END, f"{MPI}launcher: srun\n")], 12,
     "launcher: srun starts jobs of Slurm, and this plan is in none; write `hosts: slurm`, or leave it out"),
    # what changes nothing
    ("an incast of one", [("node[1-2]", "node[1-5]"), (PING_PONG, "incast: {sizes: [32KiB]}")], 7,
     "incast: with 2 of 5 hosts it is one stream; write `ranks: all`, or a count"),
    ("an incast of two ranks", [("node[1-2]", "node[1-5]"), (PING_PONG, "incast: {}"), (END, "ranks: 2\n")], 10,
     "incast: with 2 of 5 hosts it is one stream; write `ranks: all`, or a count"),
    ("sizes of a barrier", [(PING_PONG, "barrier: {sizes: [8]}"), (END, MPI)], 7, "barrier: sizes do nothing: it has"),
    ("dealt out in turn", [(PING_PONG, "allreduce: {sizes: [8]}"), (END, f"{MPI}arrangement: [block, cyclic]\n")], 12,
     "arrangement: cyclic does nothing where each host has one rank; write `ranks` for more"),
    ("a limit of one message", [("1KiB]", "1KiB], in_flight_limit: 1MiB")], 7, "ping_pong: in_flight_limit does "),
    ("frames that do not wait", [of_lab("rx_coalesce_frames: 15, rx_coalesce_time: 0s")], 5,
     "slow: rx_coalesce_frames does nothing: no frame waits without rx_coalesce_time"),
    ("a seed of nothing", [of_lab("fault_seed: 3")], 5, "slow: fault_seed does nothing: nothing happens by chance"),
    ("a link that is down", [of_lab("flap_period: 1s, flap_down: 999ms")], 5, "links are down for 999 of each 1000 ms"),
    ("no RDMA to mark", [(FABRICS, REAL.replace("eth0", "eth0, service_level: 3"))], 4,
     "gige: service_level is of what verbs send, and no fabric has `rdma`; leave it out"),
    ("no RDMA to keep", [(FABRICS, REAL.replace("ib0", "ib0, lossless_priority: 3"))], 5,
     "slow: lossless_priority is of what verbs send, and no fabric has `rdma`; leave it out"),
    ("a DSCP", [(FABRICS, REAL.replace("ib0", "ib0, traffic_class: 46"))], 5, "the DSCP 46 is the class 184"),
    ("nothing to sharpen", [("[8, 1KiB]", "[8]"), (END, "sharpen: 5\n")], 10, "none has two; add sizes, or leave it "),
    ("one library twice",
     [(END, "layers: [mpi]\nmpi:\n  - {name: a, library: openmpi}\n  - {name: b, library: openmpi}\n")], 13,
     "nothing differs between a and b: the same library is compared with itself"),
    ("one interface twice", [(FABRICS, REAL.replace("ib0", "eth0, line_rate: 10Gb/s"))], 5,
     "nothing differs between gige and slow: the same network is compared with itself"),
    *(
        (name, [(END, f"layers: [mpi]\nmpi: [{{name: openmpi, env: {{{name}: x}}}}]\n")], 11,
         f"openmpi: {name} says what carries it, and so does each launch, by its fabric; leave it out, or name")
        for name in ("OMPI_MCA_btl", "UCX_TLS", "I_MPI_FABRICS")
    ),
]  # fmt: skip


def checked(folder: Path, text: str) -> Result:
    path = folder / "plan.yaml"
    path.write_text(text)
    return CliRunner().invoke(fabriscope, ["plan", "check", str(path)])


def asked(told: Result) -> list[str]:
    return [one for one in told.output.splitlines() if one.startswith("look again: ")]


@pytest.mark.parametrize(("changes", "line", "said"), [row[1:] for row in ASKED], ids=[row[0] for row in ASKED])
def test_it_is_asked_about_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: list[Change], line: int, said: str
) -> None:
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    text = PLAN
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1) if old else text + new
    told = checked(tmp_path, text)
    assert any(said in one and one.endswith(f"(line {line})") for one in asked(told)), told


def test_a_plan_without_any_of_it_is_not_asked_about(tmp_path: Path) -> None:
    assert asked(checked(tmp_path, PLAN)) == []


def test_streams_whose_time_the_plan_says_are_not_asked_about(tmp_path: Path) -> None:
    assert asked(checked(tmp_path, PLAN.replace(PING_PONG, "many_to_one: {sizes: 1..1MiB, duration: 2s}"))) == []
    allowed = sorted(os.sched_getaffinity(0))[:1]
    bound = f"layers: [mpi]\nmpi: [{{name: openmpi, bind: {allowed}}}]\n"
    assert asked(checked(tmp_path, PLAN + bound)) == []


def test_an_application_is_not_asked_to_keep_to_the_budget(tmp_path: Path) -> None:
    old, new = of_hpl("{n: 1000}")
    assert not any("it takes about" in one for one in asked(checked(tmp_path, PLAN.replace(old, new))))
