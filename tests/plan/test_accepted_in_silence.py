"""What a plan could say without a word from `plan check`: each is asked about, with its line and what to write."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fabriscope.cli import fabriscope
from fabriscope.cli._doubts import settings

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


def of_settings(told: str) -> Change:
    return "slow: {lab: ethernet-100}", f"slow: {{lab: ethernet-100, settings: {{{told}}}}}"


VICTIM: list[Change] = [
    ("node[1-2]", "node[1-6]"),
    (END, "many_to_one: {to: node1, from: 'node[2-4]', victim: {from: node5, to: node6}}\n"),
]
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
    ("memory of a kernel", [of_npb("{kernels: [FT], class: D}")], 9, "npb: NAS FT D on 2 ranks needs 98304 MiB of"),
    ("fewer processors than ranks", [(END, "layers: [mpi]\nmpi: [{name: openmpi, bind: [0]}]\nplacements: [intra]\n")],
     11, "openmpi: bind names 1 processor for 2 ranks of a host: its launches would fail; name one for each"),
    # settings that hosts do not have
    *(
        (f"{name} of a lab", [of_settings(f"{name}: {value}")], 5,
         f"{name}: it is of a real card, and hosts of a lab have none (veth): its launches would fail; {fix}")
        for name, value, fix in [
            ("rx_ring", 512, "write `switch_buffer: 64KiB`, which a lab has, or leave it out"),
            ("rx_pause", "on", "write `switch_on_full: pause`, which a lab has, or leave it out"),
            ("pfc_priorities", 3, "write `pfc: 3` in its `lab:`, which a lab has, or leave it out"),
            ("lro", "on", "write `gro: on`, which a lab has, or leave it out"),
            ("irq_affinity", 0, "leave it out"),
        ]
    ),
    ("a tuned ring", [(END, "tune: {knobs: {rx_ring: [64, 512]}, fabric: slow, objective: {benchmark: ping_pong, "
                            "size: 8}}\n")], 10, "rx_ring: it is of a real card"),
    # priorities
    ("a class without priorities", [("{lab: gige}", "{lab: gige, traffic_class: 32}")], 4,
     "gige: traffic_class does nothing: its switch has one queue for all priorities; write `lab: {preset: gige, pfc: "),
    ("a class that none pauses", [("{lab: gige}", "{lab: {preset: gige, alpha: 2}, traffic_class: 32}")], 4,
     "gige: traffic_class does nothing: all that crosses it has one priority, which is not paused; write `lab: {pre"),
    ("a class that MPI does not send",
     [("{lab: gige}", "{lab: {preset: gige, pfc: 3}, traffic_class: 96}"), (END, MPI)], 4,
     "gige: traffic_class does nothing: nothing measured over it sends a class; TCP by itself and RDMA do; add the"),
    ("a priority that nothing has", [("{lab: gige}", "{lab: {preset: gige, pfc: 3}}")], 4,
     "gige: pfc pauses nothing that is measured: what crosses it has the priority 0; write `traffic_class: 96` beside"),
    ("a victim without priorities", [*VICTIM, (PING_PONG, "victim_latency: {sizes: [8], victim_traffic_class: 32}")], 7,
     "victim_latency: victim_traffic_class does nothing: no switch here has priorities; write `lab: {preset: gige, p"),
    ("a victim of one priority",
     [*VICTIM, (PING_PONG, "victim_latency: {sizes: [8], victim_traffic_class: 100}"),
      ("{lab: gige}", "{lab: {preset: gige, pfc: 3}, traffic_class: 96}")], 7,
     "victim_latency: victim_traffic_class does nothing: the incast beside it has the priority 3, too; write for exam"),
    # jobs
    ("two schedulers", [("node[1-2]", "pbs"), (FABRICS, REAL), (END, "submit: {nodes: 2, scheduler: slurm}\n")], 2,
     "hosts: pbs are the hosts of a job of pbs, and submit asks slurm for one; write `hosts: slurm`"),
    ("hosts of a job, and a lab", [("node[1-2]", "slurm"), (END, "submit: {nodes: 2}\n")], 2,
     "hosts: slurm are the hosts of a batch job, and the fabrics are of the lab"),
    ("more nodes than hosts", [(FABRICS, REAL), (END, "submit: {nodes: 3}\n")], 10,
     "submit: a job of 3 nodes is asked for, and the plan names 2 hosts; write `hosts: slurm` for"),
    ("nodes for a lab", [(END, "submit: {nodes: 3}\n")], 10, "3 nodes is asked for, and a lab is all on its first"),
    ("a job shorter than its tuning",
     [(END, "submit: {duration: 2min}\ntune: {knobs: {switch_delay: [1us, 9us]}, fabric: slow, objective: {benchmark: "
            "ping_pong, size: 8}}\n")], 10, "submit: a duration of 2min ends the job before the run, about "),
    ("a job of weeks", [(END, "submit: {nodes: 2, duration: 1000h}\n")], 10, "a duration of 1000h is more than 100"),
    ("a time-out of weeks", [(END, "case_timeout: 500h\n")], 10, "a launch that hangs is waited for 500h; write for"),
    ("srun in a lab", [(END, f"{MPI}launcher: srun\n")], 12, "launcher: srun starts jobs of Slurm, and hosts of a "),
    ("srun without a job", [(FABRICS, REAL), (END, f"{MPI}launcher: srun\n")], 12,
     "launcher: srun starts jobs of Slurm, and this plan is in none; write `hosts: slurm`, or leave it out"),
    # real networks
    *(
        (f"the interface {name}", [(FABRICS, REAL.replace("ib0", f"{name!r}"))], 5, f"slow: {name} {said}")
        for name, said in [
            ("mlx5_0", "is the name of an RDMA device; write its network interface, such as ib0 or eth0"),
            ("mlx5_0:1", "is the name of an RDMA device"),
            ("rxe0", "is the name of an RDMA device"),
            ("lo", "carries nothing between hosts; write the network's interface, such as eth0"),
        ]
    ),
    ("RoCE on InfiniBand", [(FABRICS, REAL.replace("ib0", "ib0, rdma: roce")), (END, "layers: [verbs]\n")], 5,
     "slow: ib0 is how an interface of InfiniBand is called, and RoCE is RDMA over Ethernet; write `rdma: ib`, or"),
    ("InfiniBand on Ethernet", [(FABRICS, REAL.replace("eth0", "eth0, rdma: ib")), (END, "layers: [verbs]\n")], 4,
     "gige: eth0 is how an interface of Ethernet is called, whose RDMA is RoCE; write `rdma: roce`, or an interface"),
    ("priorities of InfiniBand",
     [(FABRICS, REAL.replace("ib0", "ib0, rdma: ib, lossless_priority: 3")), (END, "layers: [verbs]\n")], 5,
     "slow: lossless_priority does nothing: priorities that are paused (PFC) are of Ethernet"),
    ("a rate of terabits", [(FABRICS, REAL.replace("ib0", "ib0, line_rate: 100000Gb/s"))], 5,
     "slow: a line_rate of 100 Tb/s is more than a port has; write for example 100Gb/s"),
    ("a rate of megabits", [(FABRICS, REAL.replace("ib0", "ib0, line_rate: 10m"))], 5,
     "slow: a line_rate of 10 Mb/s is less than a network of today has; write for example 10Gb/s"),
    ("an incast without a rate",
     [("node[1-2]", "node[1-5]"), (FABRICS, REAL), (PING_PONG, "many_to_one: {sizes: [64KiB]}"),
      (END, "many_to_one: {to: node1, from: 'node[2-5]', streams: [2]}\n")], 4,
     "many_to_one: nobody says what the wire of gige and slow allows, so that its state is undecided; add for exampl"),
    ("a library of nobody", [(FABRICS, REAL), (END, "layers: [mpi]\nmpi: [nobodys]\n")], 11,
     "mpi: there is no MPI library 'nobodys' on this machine: a run that this machine starts would be refused; "),
    ("a library nowhere", [(FABRICS, REAL), (END, "layers: [mpi]\nmpi: [{name: site, path: /opt/nobodys}]\n")], 11,
     "mpi: /opt/nobodys: there is no mpirun or mpiexec: a run that this machine starts would be refused; give the"),
    ("a misspelt algorithm", [(FABRICS, REAL.replace("ib0", "ib0, settings: {congestion_control: cubicc}"))], 5,
     "congestion_control: Linux has no 'cubicc' of its own; did you mean 'cubic'? it has bbr, bic"),
    ("a class of RoCE without it", [(FABRICS, REAL.replace("ib0", "ib0, settings: {roce_traffic_class: 106}"))], 5,
     "roce_traffic_class does nothing: it is of what RDMA sends, and no fabric has `rdma`; leave it out"),
    # what is the same whatever it is written as, and what is of something else
    ("a switch set to what it is", [("{lab: ethernet-100}", "{lab: gige, settings: {switch_rate: 1Gb/s}}")], 5,
     "nothing differs between gige and slow: the same network is compared with itself"),
    ("a profile without curves", [of_npb("{kernels: [FT], class: S, profile: true}")], 9,
     "npb: its profile explains differences between fabrics by what ping_pong measures over each; add `ping_pong: {}`"),
    ("sizes of one element", [(PING_PONG, "fetch_and_op_latency: {sizes: [1KiB]}"), (END, MPI)], 7,
     "fetch_and_op_latency: sizes do nothing: its message is one element; leave them out"),
    ("a reference elsewhere", [of_npb("{kernels: [FT], reference: /opt/nope}"), (FABRICS, REAL)], 9,
     "npb: there is no program ft.S.x in /opt/nope on this machine; the hosts need it there, or name its folder"),
    ("a job of as many", [(FABRICS, REAL), (END, "submit: {nodes: 2}\n")], 10,
     "submit: a job of 2 nodes is asked for, and its hosts need not be those of the plan; write `hosts: slurm` for"),
    ("a wide perturbation", [(PING_PONG, "bandwidth: {sizes: {from: 1, to: 1MiB, perturbation: 100000}}")], 7,
     "bandwidth: a perturbation of 100000 B is more than 17 of 21 sizes; 3 is usual"),
    ("turns over RDMA",
     [(FABRICS, REAL.replace("eth0", "ens1, rdma: roce").replace("ib0", "ib0, rdma: ib")),
      (END, "layers: [libfabric-verbs]\nfloor: false\nturns: auto\n")], 12,
     "turns: auto does nothing: an RDMA port counts for its host, and MPI libraries and libfabric open every device;"),
    ("turns of a program",
     [(FABRICS, REAL), (PING_PONG, "bandwidth: {sizes: [64KiB]}"), (END, "instruments: [iperf3]\nturns: 20ms\n")], 11,
     "turns: 20ms does nothing: iperf3 cannot wait for its turn; leave it out"),
    ("a port", [("node[1-2]", "root@node1,root@node2:22"), (FABRICS, REAL)], 2,
     "hosts: root@node2:22 is the name of a host here; ports are said to ssh, as `ssh: ssh -p 22`"),
    # more than hosts elsewhere can have
    ("ranks of a host", [(FABRICS, REAL), (PING_PONG, "allreduce: {sizes: [8]}"), (END, f"{MPI}ranks: 4096\n")], 12,
     "2048 ranks on each of 2 hosts are more than a server of today has processors, and mostly wait for one; write"),
    *(
        (f"pairs: {said}", [(FABRICS, REAL), (PING_PONG, "message_rate: {sizes: [8]}"), ("launches: 5\n", ""),
                            (END, "pairs: 4096\n")], 9, said)
        for said in ("4096 ranks on each of 2 hosts are more", "; write fewer pairs or launches")
    ),
    ("a rate without a unit",
     [(FABRICS, REAL.replace("eth0", "eth0, line_rate: 10")), (PING_PONG, "bandwidth: {sizes: [64KiB, 1MiB]}"),
      ("budget: 20s\n", "")], 7, "bandwidth: every size once takes about "),
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


@pytest.mark.parametrize("count", [1, 2])
def test_ranks_of_a_labs_hosts_on_one_processor_are_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(count)))
    told = asked(checked(tmp_path, f"{PLAN}layers: [mpi]\nmpi: [{{name: openmpi, bind: [0]}}]\n"))
    said = "look again: openmpi: bind puts a rank of each of 2 hosts on processor 0, since hosts of a lab share this "
    assert [one.startswith(said) for one in told] == [True] * (count - 1), told


def test_a_governor_that_processors_lack_is_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "POLICIES", tmp_path)
    text = PLAN.replace(*of_settings("governor: ondemand"))
    (told,) = asked(checked(tmp_path, text))
    assert "governor: this machine's processors have none that could be set: its launches would fail" in told
    (tmp_path / "policy0").mkdir()
    known = tmp_path / "policy0" / "scaling_available_governors"
    known.write_text("performance powersave\n")
    (told,) = asked(checked(tmp_path, text))
    assert "processors have performance and powersave, and not 'ondemand'" in told
    known.write_text("performance ondemand\n")
    assert asked(checked(tmp_path, text)) == []


def test_an_application_is_not_asked_to_keep_to_the_budget(tmp_path: Path) -> None:
    old, new = of_hpl("{n: 1000}")
    assert not any("it takes about" in one for one in asked(checked(tmp_path, PLAN.replace(old, new))))
