"""What a person with a fresh eye wrote into plans: each mistake is answered with its line and its remedy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fabriscope.cli import fabriscope
from fabriscope.cli._doubts import amounts, idle_keys, machine, oddities, times
from fabriscope.model.errors import PlanError, ToolMissing
from fabriscope.plan import expand, load
from fabriscope.running.site import planned_fabrics
from fabriscope.running.vocabulary import vocabulary

PLAN = """name: x
hosts: node[1-2]
fabrics:
  near: {lab: gige}
  far: {lab: ethernet-100}
benchmarks:
  ping_pong: {sizes: [8]}
"""
FABRICS = "  near: {lab: gige}\n  far: {lab: ethernet-100}\n"
PING_PONG = "ping_pong: {sizes: [8]}"
REAL = ("lab: gige}\n  far: {lab: ethernet-100}", "interface: eth0}\n  far: {interface: eth1}")
MPI = "layers: [mpi]\nmpi: [m]\n"
END = ""
"""Stands for the plan's end: what is written there is appended."""

Row = tuple[str, str, int, str]
"""What is replaced, by what, the line that is named, and what is said."""

REFUSED: list[Row] = [
    # hosts and paths
    ("node[1-2]", "node[2-1]", 2, "a range begins with its smaller number: write [1-2]"),
    ("node[1-2]", "node1 node2", 2, "put commas between hosts: node1,node2"),
    ("node[1-2]", "node1;node2", 2, "put commas between hosts: node1,node2"),
    ("node[1-2]", "node[1..2]", 2, "write [1-2]"),
    ("node[1-2]", "'node{1..2}'", 2, "write a range in brackets: [1-2]"),
    ("node[1-2]", "\u201cnode1,node2\u201d", 2, "write plain quotes, or none"),
    ("lab: gige", "interface: 10.0.0.1", 4, "'10.0.0.1' is no network interface's name, such as eth0"),
    (END, "layers: tcp, shm\n", 8, "there is no layer 'tcp, shm' -- write [tcp, shm]"),
    (PING_PONG, "osu_bibw: {}", 7, "did you mean 'bidirectional_bandwidth'?"),
    ("node[1-2]", "node1,node1", 2, "the plan has one ('node1,node1' names it twice) -- add a host, or write `"),
    ("node[1-2]", "10.0.0.1,10.0.0.2", 2, "for an address -- choose another name, such as node1: a lab makes its"),
    ("node[1-2]", "$HOSTS", 2, "hosts: variables such as '$HOSTS' are not replaced -- write the value itself"),
    (END, "layers: [mpi]\nmpi: [{name: m, path: $HOME/mpi}]\n", 9, "variables such as '$HOME/mpi' are not replaced"),
    (END, "layers: [mpi]\nmpi: [{name: m, path: ../mpi}]\n", 9, "write the whole path, such as /opt/mpi"),
    (END, f"{MPI}osu: ./osu\n", 10, "launches do not start in this folder: write the whole path, such as /opt/osu"),
    # names of other programs
    (PING_PONG, "MPI_Allreduce: {}", 7, "did you mean 'allreduce'?"),
    (PING_PONG, "all_reduce: {}", 7, "did you mean 'allreduce'?"),
    (PING_PONG, "broadcast: {}", 7, "did you mean 'bcast'?"),
    (END, "ppn: 2\n", 8, "did you mean 'ranks_per_host'?"),
    *(
        ("lab: gige", f"lab: gige, settings: {{{name}: 1}}", 4, f"did you mean {meant!r}?")
        for name, meant in [
            ("tcp_wmem", "tcp_send_buffer"),
            ("tcp_rmem", "tcp_receive_buffer"),
            ("rx-usecs", "rx_coalesce_time"),
            ("generic_receive_offload", "gro"),
        ]
    ),
    # what YAML makes of it
    (END, "budget:40s\n", 8, "no blank stands after the colon of 'budget' -- write `budget: 40s`"),
    (END, "budget:40s\nlaunches: 5\n", 8, "no blank stands after the colon of 'budget' -- write `budget: 40s`"),
    ("{sizes: [8]}", "{sizes:1..64}", 7, "put a blank after the colon: `sizes: 1..64`"),
    ("{sizes: [8]}", "\n    sizes:1..64", 7, "put a blank after the colon: `sizes: 1..64`"),
    ("{lab: ethernet-100}", "{<<: {lab: gige}}", 5, "an alias (*name) stands for a whole value alone"),
    # quantities
    (END, "budget: 40 seconds\n", 8, "is not a duration such as 5us, 200ms, 2s or 3min: write 40s"),
    (END, "budget: -5s\n", 8, "none is negative: write 5s"),
    (END, "budget: -5\n", 8, "a duration cannot be negative: -5; write for example 40s"),
    (END, "budget: 300d\n", 8, "write 7200h"),
    (END, "budget: soon\n", 8, "units are ns, us, ms, s, min and h"),
    (END, "budget: $BUDGET\n", 8, "variables such as '$BUDGET' are not replaced -- write"),
    (END, "budget: yes\n", 8, "budget: true is not a number: write one in digits, such as 1"),
    (END, "budget: 1ns\n", 8, "1ns is less than 3ms, which one burst of messages takes: write 3ms or more"),
    (END, "margin: 3\n", 8, "none is more than 100%: write 3%"),
    (END, "margin: 3 percent\n", 8, "write 3%"),
    (END, "margin: 1\n", 8, "less than 1 is expected, not 1.0 -- write 1% for a hundredth"),
    ("lab: gige", "lab: {rate: 100MB/s}", 4, "is not a rate in bits such as 1Gb/s or 100Mb/s: write 800Mb/s"),
    ("lab: gige", "lab: {rate: 1 Gbits/sec}", 4, "write 1Gb/s"),
    ("[8]", "1-64KiB", 7, "write 1..64KiB"),
    ("[8]", '"1, 64"', 7, "write [1, 64]"),
    ("[8]", "[64 kilobytes]", 7, "write 64KB"),
    (END, "sharpen: yes\n", 8, "sharpen: true is not a number: write one in digits, such as 1"),
    (END, 'control: "yes"\n', 8, "there is no entry 'yes' -- write true, without quotes"),
    (END, 'counters: "no"\n', 8, "write false, without quotes"),
    # what stands where something else belongs
    (FABRICS, "  - near: {lab: gige}\n", 3, "not a list -- write `near: {lab: gige}` lines, indented below"),
    (f"\n{FABRICS}", " [gige]\n", 3, "write {gige: {lab: gige}}"),
    (f"\n{FABRICS}", " gige\n", 3, "not 'gige' -- write {gige: {lab: gige}}"),
    (PING_PONG, "ping_pong:", 7, "a mapping is expected, not nothing -- write `ping_pong: {}`"),
    ("{sizes: [8]}", "1..64KiB", 7, "write `ping_pong: {sizes: 1..64KiB}`"),
    ("{sizes: [8]}", "[1, 64]", 7, "write `ping_pong: {sizes: [1, 64]}`"),
    (PING_PONG, f"- {PING_PONG}", 6, "write `ping_pong: {}` lines, indented below it, without `-`"),
    (END, "layers: {tcp: }\n", 8, "a list is expected, not a mapping -- write [tcp]"),
    (END, "placements: both\n", 8, "'both' is not possible -- write [inter, intra]"),
    # keys in the wrong place
    ("lab: gige", "lab: gige, rate: 1Gb/s", 4, "it stands in a fabric's `lab: {preset: gige, ...}`"),
    ("[8]", "[8], send_buffer: 64KiB", 7, "it stands in a benchmark's `socket: {...}`"),
    (END, "sizes: [8]\n", 8, "it stands in a benchmark"),
    (END, "  budget: 40s\n", 8, "there is no benchmark 'budget' -- it stands at the left margin of the plan"),
    (f"  {PING_PONG}", PING_PONG, 7, "indent it below `benchmarks:`"),
    (FABRICS, "  near: {name: near, lab: gige}\n", 4, "leave it out: a fabric's name is its key"),
    (END, "iterations: 1000\n", 8, "`launches` says how often programs are started, `budget` for how long is measured"),
    ("lab: gige", "lab: {preset: gige, latency: 5us}", 4, "write `delay: 5us`"),
    (END, "layers: [mpi]\nmpi: [{name: m, args: --x}]\n", 9, "options of mpirun are variables here, as `env: {OMPI_MC"),
    (END, "layers: [mpi]\nmpi: [{name: m, versio: 5}]\n", 9, "there is no key 'versio' here -- did you mean "),
    (END, "many_to_one: {receiver: node1}\n", 8, "there is no key 'receiver' here -- did you mean 'to'?"),
    (PING_PONG, "bandwidth: {window: 1..64}", 7, "write one number, or several in brackets: [1, 2, 4]"),
    (END, "launches: 3-5\n", 8, "ranges are of sizes and streams alone: write one number"),
    (END, "timeout: 5s\n", 8, "did you mean 'case_timeout'?"),
    ("[8]", "[8], to: node1", 7, "it stands in the plan's `many_to_one: {...}`"),
    ("lab: gige", "lab: {gige}", 4, "write `lab: gige` for a preset, and with changes `lab: {preset: "),
    ("name: x\n", "", 1, "the key 'name' is missing -- add `name: my-plan`"),
    ("hosts: node[1-2]\n", "", 1, "the key 'hosts' is missing -- add for example `hosts: node[1-2]`"),
    # indentation, brackets, commas
    ("  far", "   far", 5, "keys of one level begin in one column: indent this line as those beside it"),
    ("[8]}", "[8]", 7, "close the bracket"),
    ("[8]}", "[8]}}", 7, "remove the brace, which closes nothing"),
    (END, "budget = 40s\n", 8, "no colon stands after 'budget' -- write `budget: 40s`"),
    (END, "margin: 0,03\n", 8, "write 0.03"),
    (END, "launches: 1,000\n", 8, "a whole number is expected, not '1,000' -- write 1000"),
    ("[8]", '"[1, 64]"', 7, "write [1, 64], without quotes"),
    # lists and mappings for each other, and other words
    ("lab: gige", "lab: [gige]", 4, "write `lab: gige`, or `lab: {preset: gige, rate: 500Mb/s}`"),
    ("lab: gige", "interface: [eth0, eth1]", 4, "write one for all hosts, as eth0, or one for each, as {node1"),
    ("node[1-2]", "\n  node1:\n  node2:", 2, "hosts: a mapping is no host list; write it like node[1-4],head"),
    (END, "layers: [mpi]\nmpi: [/opt/openmpi]\n", 9, "write [{name: openmpi, path: /opt/openmpi}]"),
    (END, "layers: [mpi]\nmpi: [{name: m, env: [A=1]}]\n", 9, 'write {A: "1"}'),
    ("[8]", "[8], socket: {congestion_control: }", 7, "nothing stands behind it -- write a value, or remove the key"),
    (END, "submit: {attributes: {--constraint: ib}}\n", 8, "leave the dashes out: constraint"),
    (END, "paper: x.yaml\n", 8, "write `paper: {file: x.yaml}`"),
    (END, "pairs: 1..8\n", 8, "nor half or all: write one, or a list such as [2, 4, 8]"),
    ("lab: gige", "lab: {delay: fast}", 4, "units are ns, us, ms, s, min and h"),
    ("lab: gige", "lab: {buffer: 1Mbit}", 4, "units are B, KiB, MiB, GiB (of 1024), KB, MB and GB (of 1000)"),
    ("lab: gige", "lab: {rate: 1GHz}", 4, "units are b/s, Kb/s, Mb/s, Gb/s and Tb/s"),
    (PING_PONG, "ping_pong:\n  sizes: [8]", 8, "and 'sizes' beside it -- indent 'sizes' below 'ping_pong'"),
    (FABRICS, "  near:\n  lab: gige\n", 5, "below 'near', and 'lab' beside it -- indent 'lab' below 'near'"),
    (FABRICS, "  near:\n  lab: gige\n  far:\n  lab: gige\n", 5, "and 'lab' beside it -- indent 'lab' below 'near'"),
    (PING_PONG, "ping_pong: sizes: [8]", 7, "stand in one line -- write `ping_pong: {sizes: [8]}`, or put text"),
    ("{lab: gige}", "lab: gige", 4, "two keys stand in one line -- write `near: {lab: gige}`, or put text"),
    (END, "description: fast: slow: x\n", 8, "put text with a colon in quotes"),
    (FABRICS, "\xa0\xa0near: {lab: gige}\n", 4, "(U+00A0) stand before the key -- indent with plain blanks"),
    (END, 'description: "fast\n', 8, "a quote of this line is not closed -- close the quote"),
    ("name: x", 'name: x\ndescription: "fast', 2, "a quote of this line is not closed"),
    ("name: x", "name = x", 1, "no colon stands after 'name' -- write `name: x`"),
    ("name: x", "```yaml\nname: x", 1, "this line is one of Markdown's -- remove the line"),
    ("name: x", "[plan]\nname = x", 1, "a plan is YAML, and has no [sections] -- remove the line"),
    ("name: x\n", '{"version": 1, "name": "x"\n"launches": 5}\n', 1, "a comma is missing at the end of this line"),
    ("node[1-2]", "node1-2", 2, "the plan has one -- write several hosts as node[1-2], or write `placements: [intra]`"),
    ("node[1-2]", "2", 2, "the plan has one -- name the hosts, as node[1-2], or write `placements: [intra]` for ranks"),
    ("node[1-2]", "node 1, node 2", 2, "'node 1' is no host's name -- a host's name has no blank: write node1"),
    (END, "guests: true\n", 8, "guests: true is no host list: write all, where every host is a guest"),
    (
        f"node[1-2]\nfabrics:\n{FABRICS}",
        "slurm\nsubmit: {nodes: 1}\nfabrics: {near: {interface: eth0}}\n",
        3,
        "inter needs two hosts and the plan has one -- write `nodes: 2`, or write `placements: [intra]`",
    ),
    (END, "ssh: ''\n", 8, "ssh.command: nothing stands in it -- write it, or leave the key out"),
    (END, "ssh: ' '\n", 8, "it names no program: leave it out, or write for example ssh -p 22"),
    (END, "ssh: yes\n", 8, "not true -- leave it out, or write its words, as `ssh: ssh -p 22`"),
    (FABRICS, "  near: {lab: gige}\n  far: {}\n", 5, "'far' says neither lab nor interface -- add `lab: gige`, or"),
    ("lab: gige", "interface: eth0, mtu: 9000", 4, "; of a real interface write `settings: {mtu: 9000}`"),
    ("lab: gige", "interface: eth0, rate: 10Gb/s", 4, "; of a real interface write `line_rate: 10Gb/s`"),
    ("lab: gige", "interface: infiniband-port-0", 4, "has 17 characters, and Linux gives an interface at most 15"),
    ("lab: gige", "lab: 'gige,delay=50us'", 4, "write {preset: gige, delay: 50us}"),
    ("lab: gige", "lab: {gige: {delay: 50us}}", 4, "with changes `lab: {preset: gige, rate: 1Gb/s}`"),
    ("lab: gige", "lab: {preset: gige, settings: {mtu: 9000}}", 4, "it stands in a fabric or in an item of `mpi:`"),
    ("lab: gige", "lab: {preset: gige, queue: 100}", 4, "there is no key 'queue' here -- write `buffer: 128KiB`"),
    ("lab: gige", "lab: {preset: gige, pfc: 3-4}", 4, "'3-4' is no list of priorities: write [3, 4]"),
    (FABRICS, "  near: {lab: gige}\n  mpi: [openmpi]\n", 5, "not a list -- it stands at the left margin of the plan"),
    (END, "layers: [mpi]\nmpi: openmpi, mpich\n", 9, "is the name of no library: write [openmpi, mpich]"),
    (END, "layers: [mpi]\nmpi: true\n", 9, "not true -- write the library's name, as `mpi: openmpi`"),
    (END, "claims: []\n", 8, "it stands in the paper's file, which `paper: {file: x.paper.yaml}` names"),
    (END, "knobs: {mtu: [600, 1500]}\n", 8, "there is no key 'knobs' here -- it stands in `tune: {fabric: gige, ...}`"),
    ("[8]", "[1..64]", 7, "'1..64' is no size of a list: write 1..64, without brackets"),
    (PING_PONG, "many_to_many: {}", 7, "name them, as in `to: 'node[1-2]'`; with one host it is many_to_one"),
    (
        END,
        "tune: {fabric: near, knobs: {tx_queue: [100]}, objective: {benchmark: ping_pong, layer: mpi}}\n",
        8,
        "the layer 'mpi' is not measured by this plan -- leave it out, or write tcp",
    ),
    # nothing that could be measured
    (END, "instruments: iperf3\n", 8, "iperf3 measures nothing of this plan: iperf3 has no ping_pong -- add a "),
]

ASKED: list[Row] = [
    ("[8]", "1..1GiB", 8, "budget: 40s is asked for, and every size once takes about "),
    ("node[1-2]", "[node1, node2, node1]", 2, "hosts: node1 is named more than once, and counted once; leave one "),
    ("[8]", "[8], socket: {congestion_control: bbr3}", 7, "congestion_control: this machine's kernel has no 'bbr3'"),
    ("[8]", "[8], socket: {send_buffer: 1}", 7, "ping_pong: a send_buffer of 1 B is less than Linux gives, 4608"),
    ("40s", "40s\nmargin: 99%", 9, "margin: what differs by less than 99 % would be called equivalent; 3% is usual"),
    (
        PING_PONG, "bandwidth: {sizes: [64KiB], in_flight_limit: 1}", 7,
        "bandwidth: an in_flight_limit of 1 B leaves one message in flight; write for example 1MiB",
    ),
    ("40s", "40s\nuntil: decided\nlaunches: 3", 10, "launches: at most 3 blocks decide large differences alone"),
    ("40s", "40s\nplacements: [intra]", 4, "near: nothing is measured over it, by what placements, layers"),
    ("40s", "40s\nsubmit: {duration: 10}", 9, "submit: a duration of 10s ends the job before the run, about "),
    (
        f"node[1-2]\nfabrics:\n{FABRICS}", "localhost,127.0.0.1\nfabrics: {lo: {interface: lo}}\n", 2,
        "hosts: 127.0.0.1 and localhost are this machine: what is sent between them crosses no network",
    ),
    ("40s", "40s\nssh: ssh -p 22", 9, "ssh: hosts of a lab are not reached by it"),
    (
        "lab: gige}\n  far: {lab: ethernet-100}", "interface: eth0, rdma: roce}\n  far: {interface: eth1}", 4,
        "near: rdma: roce does nothing: no layer over it speaks RDMA; add verbs or mpi to layers",
    ),
    (
        "lab: gige}\n  far: {lab: ethernet-100}",
        "interface: {node1: eth0, node2: eth0, node3: eth0}}\n  far: {interface: eth1}", 4,
        "near: interface names 1 host that the plan has not: node3; add to hosts, or leave out here",
    ),
    ("lab: gige", "lab: gige, settings: {rx_coalesce_time: 80}", 4, "rx_coalesce_time: a number without a unit is"),
    (
        "40s", "40s\ntune: {fabric: near, knobs: {busy_poll: [0, 50]}, objective: {benchmark: ping_pong}}", 9,
        "busy_poll: a number without a unit is in microseconds here, and in `lab:` in seconds; write 50us",
    ),
]  # fmt: skip


def checked(folder: Path, text: str) -> Result:
    path = folder / "plan.yaml"
    path.write_text(text)
    return CliRunner().invoke(fabriscope, ["plan", "check", str(path)])


def changed(text: str, old: str, new: str) -> str:
    return text.replace(old, new, 1) if old else text + new


@pytest.mark.parametrize(("old", "new", "line", "said"), REFUSED, ids=[row[1].strip() for row in REFUSED])
def test_it_is_refused_with_its_line_and_its_remedy(tmp_path: Path, old: str, new: str, line: int, said: str) -> None:
    told = checked(tmp_path, changed(PLAN, old, new))
    assert isinstance(told.exception, PlanError), told.output
    assert told.output == ""
    sentences = str(told.exception).splitlines()
    assert any(f"plan.yaml:{line}: " in one and said in one for one in sentences), sentences


@pytest.mark.parametrize(("old", "new", "line", "said"), ASKED, ids=[row[1].strip() for row in ASKED])
def test_it_is_asked_about_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, line: int, said: str
) -> None:
    (tmp_path / "known").write_text("reno cubic\n")
    monkeypatch.setattr(machine, "CONGESTION_CONTROLS", tmp_path / "known")
    monkeypatch.setattr(machine, "MODULES", tmp_path)
    told = checked(tmp_path, changed(f"{PLAN}budget: 40s\n", old, new))
    asked = [one for one in told.output.splitlines() if one.startswith("look again: ")]
    assert any(one.startswith(f"look again: {said}") and one.endswith(f"(line {line})") for one in asked), told.output


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [(PING_PONG, "all_reduce: {}\nranks: 4", "benchmark 'all_reduce'"), (END, "layers: tcp, mpi\nmpi: [m]\n", "layer")],
)
def test_a_name_that_nobody_knows_is_told_without_what_follows_from_it(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    (sentence,) = str(checked(tmp_path, changed(PLAN, old, new)).exception).splitlines()
    assert f"there is no {told}" in sentence


@pytest.mark.parametrize(("fabrics", "rdma"), [(PLAN, "soft-roce`"), (PLAN.replace(*REAL), "roce` (Ethernet) or `rd")])
def test_verbs_need_what_the_fabrics_can_speak(tmp_path: Path, fabrics: str, rdma: str) -> None:
    told = checked(tmp_path, f"{fabrics}layers: [verbs]\n")
    assert f"add for example `rdma: {rdma}" in str(told.exception)


def test_thousands_of_ranks_on_a_few_processors_are_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN.replace(PING_PONG, "alltoall: {sizes: [8]}") + f"{MPI}ranks: 4096\n")
    plan = load(path, vocabulary())
    fabrics = planned_fabrics(plan)
    ((place, sentence),) = amounts.oddities(plan, expand(plan, fabrics, 2), 2)
    assert place == ("ranks",)
    assert sentence.startswith("4096 ranks share this machine's 2 processors, 2048 on each, and mostly wait for one")
    assert "2048 ranks on each of" in next(iter(amounts.oddities(plan, expand(plan, fabrics, 2), None)))[1]


def test_a_plan_of_one_entry_compares_nothing(tmp_path: Path) -> None:
    alone = PLAN.replace("  far: {lab: ethernet-100}\n", "")
    assert "  nothing is compared: it has one entry; " in checked(tmp_path, alone).output
    for text in (PLAN, alone + "control: true\n", alone.replace("[8]", "[8], socket: {tcp_nodelay: [true, false]}")):
        assert "nothing is compared" not in checked(tmp_path, text).output


def test_a_path_without_mpirun_is_told_with_its_line(tmp_path: Path) -> None:
    told = checked(tmp_path, f"{PLAN}layers: [mpi]\nmpi: [{{name: m, path: {tmp_path}/nope}}]\n")
    assert isinstance(told.exception, ToolMissing)
    assert f"plan.yaml:9: {tmp_path}/nope: there is no mpirun or mpiexec" in str(told.exception)


def test_a_number_is_a_name_and_a_description_too(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN.replace("name: x", "name: 2026\ndescription: 1.50"))
    plan = load(path, vocabulary())
    assert (plan.section.name, plan.section.description) == ("2026", "1.50")


@pytest.mark.parametrize(
    ("key", "name"),
    [("layers", "tcp"), ("placements", "inter"), ("instruments", "engine"), ("compare", "fabric"), ("only", "near")],
)
def test_one_name_stands_without_brackets(tmp_path: Path, key: str, name: str) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(f"{PLAN}{key}: {name}\n")
    assert getattr(load(path, vocabulary()).section, key) == (name,)


EXAMPLES = sorted((Path(__file__).parents[2] / "examples").rglob("*.yaml"))


@pytest.mark.parametrize(
    "path", [path for path in EXAMPLES if not path.name.endswith(".paper.yaml")], ids=lambda path: path.name
)
def test_no_example_is_asked_about(path: Path) -> None:
    plan = load(path, replace(vocabulary(), left_out={}, missing_here={}))
    fabrics = planned_fabrics(plan)
    schedule = expand(plan, fabrics, 2, 8 << 30)
    assert not [*amounts.oddities(plan, schedule, 2), *times.oddities(plan, schedule, fabrics)]
    assert not [*idle_keys.oddities(plan), *oddities.oddities(plan)]
