"""Plans, and files of papers beside them, with bytes and YAML values replaced by nasty ones.

`TARGETS` is what the harness drives. A plan is checked as `fabriscope plan check` does it, but for the engine: no
host is touched. On its own the module replaces values of the YAML too, and can be run with old sources by PYTHONPATH:

    python campaigns/fuzz/targets/plan.py [--count 20000] [--seed 1] [--limit-s 2] [--memory-mib 512]

Ends with 1 if an input ends in anything but a plan or an error of ours, or takes longer than the limit, or if the
process grew beyond the memory.
"""

from __future__ import annotations

import argparse
import collections
import random
import re
import resource
import signal
import tempfile
import time
import traceback
from pathlib import Path
from types import FrameType
from typing import Any

import yaml

from fabriscope import plan as plans
from fabriscope.adapters.base import AdapterContext
from fabriscope.adapters.engine import spec_text
from fabriscope.lab.presets import PRESETS
from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.errors import FabriscopeError
from fabriscope.model.layers import layers_over
from fabriscope.running.site import planned_fabrics

ROOT = Path(__file__).parents[3]
MAX_SPECS = 3
PAPER_MARK = b"\n#### paper.yaml ####\n"
"""Between a plan and the file of its paper, in one input."""
WORDS = plans.Vocabulary(
    frozenset(BENCHMARKS),
    frozenset({"engine", "netpipe", "sockperf", "iperf3", "qperf", "imb", "perftest", "rping"}),
    frozenset({"tcp", "mpi", "shm", "verbs", *layers_over("libfabric")}),
    frozenset(PRESETS),
    allocation=("node1", "node2"),
)
NASTY: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 2**31, 2**63, 2**64, -(2**63), 10**400, 1.5, -0.0, 1e308, float("inf"),
    float("nan"),
    "", " ", "-", "--help", "-oProxyCommand=id", "a b", "a\nb", "a\0b", "\x1b[2J", "\ud800", "\u202e", "x" * 5000,
    "9" * 400, "1..1GiB", "1..9EiB", "..", "1..", "node[1-999999999]", "n[1-99]c[1-99]d[1-99]", "n[[1]]", "@all",
    "slurm", "all", "half", "default", "../x", "/etc/passwd", "$(id)", "{tcp_port}", "=1+1", "2001-02-30", "1e9s",
    "0.1%",
    "99999h", "1Tb/s", "*", "[", "%", "\u0663KiB", [], [[]], [2, []], [None], {}, {"a": {}}, {"": None}, [{}],
    list(range(300)),
    ["a"] * 300, {f"k{number}": number for number in range(100)}, [[[[[[[[1]]]]]]]], {"from": 1, "to": 64},
    "010", "1:30", "1_000", "yes", "no", "100%", "101%", "-5%", "5..1", "g\u0456ge", "\uff47ige", "a\u200bb",
    "localhost", "10.1", "A", "~nobody/mpi", "1GB/s", "1Mb", "1ns", "25h", "plan.yaml",
    2**62 + 1, 10**15 + 1, 67, 9001, 1514, 0.999999,
    {"kind": "nothing"}, {"kind": []}, {"lower_by": []}, {"ratio": "9..1"}, {"dip": {}},
)  # fmt: skip
RICH = b"""
name: rich
description: everything at once
hosts: node[1-4]
guests: {"node[1-2]": {cpu_share: 50%}, "node[3-4]": {}}
ssh: {command: ssh -F config, between_hosts: ssh}
fabrics:
  a: {lab: gige, rdma: soft-roce}
  b: {lab: {preset: gige, delay: 50us, rate: 100Mb/s, buffer: 64KiB, rx_coalesce_time: 80us, rx_coalesce_frames: 15,
      mtu: 1500, on_full: drop, loss: 0.1%, drop_every: 100, reorder: 1%, reorder_delay: 1ms, flap_period: 5s,
      flap_down: 1ms, fault_seed: 7}, rdma: soft-roce, service_level: 3, traffic_class: 96}
layers: [tcp, mpi, verbs, libfabric-tcp]
mpi:
  - mpich
  - {name: own, path: /opt/mpi, env: {UCX_TLS: tcp}, bind: core, over: ucx, fabrics: [a]}
  - {name: listed, library: "module:openmpi/5.0", bind: [0, 2]}
placements: [inter, intra]
intra_fabrics: [a]
ranks: [2, 4, 8, all]
ranks_per_host: [1, 2]
pairs: [1, half, all]
arrangement: [block, cyclic]
instruments: [engine, iperf3, imb]
benchmarks:
  ping_pong: {sizes: {from: 1, to: 64KiB, perturbation: 3}, socket: {send_buffer: [default, 16KiB],
      tcp_nodelay: [true, false]}}
  bandwidth: {sizes: [64KiB, 1MiB], window: [16, 64], in_flight_limit: 1MiB, verbs: {inline_limit: [default, 0],
      queue_depth: 64}}
  allreduce: {sizes: 4..1KiB, datatype: [float, int32], reduction: [sum, band], timing: [common_clock, barrier]}
  put_latency: {sizes: [8], synchronization: [flush, fence], window_memory: create, far_check: [0, 1]}
  message_rate: {sizes: [8], pairing: half}
launches: 3
until: decided
compare: [fabric, layer]
sharpen: 2
budget: 90s
case_timeout: 5s
launcher: auto
submit: {scheduler: slurm, nodes: 4, cores_per_node: 2, queue: q, account: me, duration: 1h,
         attributes: {constraint: ib}}
control: a
margin: 3%
floor: true
counters: true
seed: 7
"""
PIECES = (
    b"\0", b"\xff", b"\t", b"!foo ", b"!!binary ", b"!!set ", b"&a ", b"*a", b"<<: *a\n", b"? [a]\n: b\n",
    b"---\n", b"...\n",
    b"%YAML 9.9\n", b"[" * 900, b"{a: " * 900, b"- " * 900, b"2001-02-30", b".inf", b".nan", b"9" * 400, b"0x_",
    b"\"", b"'",
    b"|\n", b">\n", b": ", b"\n", b"#", b"\r", b"\xc2\x85", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b'"\\0"',
    b'"\\ud800"', b"~", b"[*a, *a]",
    b"&a [*a]", b"node[1-999999999]", b"1..1EiB", b"010", b"0o10", b"0x1F", b"1:30", b"1:30:00.5", b"1_000", b"yes",
    b"off", b"1e3", b"+017", b"!!int 010", b"!!null x ", b"@", b"`", b"\xe2\x80\x8b", b"\xd1\x96", b"\xef\xbd\x87",
)  # fmt: skip


class PlanTarget:
    """Plans."""

    name = "plan"

    def seeds(self) -> list[bytes]:
        """Return every plan of the examples, the table of mistakes and the docs, and values changed in them."""
        good = self._good()
        order = random.Random(1)  # noqa: S311 - a choice, no secret
        return [*good, *(self.mutated(order.choice(good), order) for _ in range(500))]

    def _good(self) -> list[bytes]:
        found = [RICH] * 5
        for path in sorted(ROOT.glob("examples/**/*.yaml")):
            if path.name.endswith(".paper.yaml"):
                continue
            text = path.read_bytes()
            paper = re.search(rb"file: *([^\s,}]+\.yaml)", text)
            if paper:
                text = text.replace(paper[1], b"paper.yaml")
                text += PAPER_MARK + (path.parent / paper[1].decode()).read_bytes()
            found += [text] * 3
        mistakes = yaml.safe_load((ROOT / "tests" / "plan" / "mistakes.yaml").read_text())
        found += [mistake["plan"].encode() for mistake in mistakes]
        for page in sorted([*ROOT.glob("docs/*.md"), ROOT / "README.md"]):
            blocks = re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)
            found += [block.encode() for block in blocks]
        return found

    def mutated(self, seed: bytes, order: random.Random) -> bytes:
        """Return a seed with one to four things changed: values of its YAML, or its bytes."""
        plan, mark, paper = seed.partition(PAPER_MARK)
        if paper and order.random() < 0.5:
            return plan + mark + _mutated(paper, order)
        return _mutated(plan, order) + mark + paper

    def check(self, data: bytes) -> bool:
        """Read a plan as `plan check` does; return whether it is a good one. Raises what no plan may raise."""
        try:
            self._read(data)
        except FabriscopeError as error:
            lines = str(error).splitlines()
            if not lines or len(lines) > 30 or not all(line.isprintable() and len(line) < 2000 for line in lines):
                raise AssertionError(f"no sentence: {str(error)[:200]!r}") from error
            return False
        return True

    def _read(self, data: bytes) -> None:
        plan_text, _, paper_text = data.partition(PAPER_MARK)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "plan.yaml"
            path.write_bytes(plan_text)
            (Path(folder) / "paper.yaml").write_bytes(paper_text)
            plan = plans.load(path, WORDS)
            fabrics = planned_fabrics(plan)
            schedule = plans.expand(plan, fabrics, 4)
            for launch in schedule.launches:
                plans.expected_ns(launch, fabrics, plan.guests) if launch.block == 1 else None
            for launch in [one for one in schedule.launches if one.entry.instrument == "engine"][:MAX_SPECS]:
                _refuse_injected(spec_text(launch, AdapterContext({})), len(launch.cases))


TARGET = PlanTarget()
TARGETS = (TARGET,)


def _refuse_injected(spec: str, case_count: int) -> None:
    """Raise AssertionError for a spec with lines that no plan may add."""
    heads = "fabriscope-spec|seed|budget_ns|burst_ns|max_burst_operations|case_timeout_ns|sample_memory_bytes|verify"
    known = re.compile(rf"({heads}) -?[0-9]+|cases? [!-~ ]+|end")
    lines = spec.split("\n")
    wrong = [line for line in lines[:-1] if not known.fullmatch(line)]
    if wrong or len(lines) > case_count + 11:
        raise AssertionError(f"the spec has lines beyond its cases: {wrong[:1]!r}")


def _mutated(text: bytes, order: random.Random) -> bytes:
    if order.random() < 0.5:
        try:
            document = yaml.safe_load(text)
        except (yaml.YAMLError, ValueError, UnicodeDecodeError):
            document = None
        if isinstance(document, dict):
            for _ in range(order.randint(1, 3)):
                document = _with_nasty(document, order)
            is_plain = order.random() < 0.5
            try:
                dumped: str = yaml.dump(document, sort_keys=False, allow_unicode=is_plain)
                return dumped.encode("utf-8", "surrogatepass")
            except (ValueError, RecursionError, TypeError, yaml.YAMLError):
                return text
    content = bytearray(text)
    for _ in range(order.randint(1, 4)):
        at = order.randrange(len(content) + 1)
        kind = order.randrange(4)
        if kind == 0:
            content[at:at] = order.choice(PIECES)
        elif kind == 1:
            del content[at : at + order.randint(1, 12)]
        elif kind == 2 and at < len(content):
            content[at] = order.randrange(256)
        else:
            other = order.randrange(len(content) + 1)
            content[at:at] = content[other : other + order.randint(1, 60)]
    return bytes(content)


def _with_nasty(value: Any, order: random.Random) -> Any:
    """Return a document of which one value, key or item somewhere is another."""
    if isinstance(value, dict) and value and order.random() < 0.9:
        key = order.choice(list(value))
        changed = dict(value)
        kind = order.random()
        if kind < 0.08:
            del changed[key]
        elif kind < 0.16:
            nasty = order.choice([item for item in NASTY if not isinstance(item, list | dict)])
            changed[nasty] = changed.pop(key)
        else:
            changed[key] = _with_nasty(value[key], order)
        return changed
    if isinstance(value, list) and value and order.random() < 0.8:
        at = order.randrange(len(value))
        return [*value[:at], _with_nasty(value[at], order), *value[at + 1 :]]
    return order.choice(NASTY)


def _too_slow(_number: int, _frame: FrameType | None) -> None:
    raise TimeoutError("over the limit")


def main() -> int:
    """Check mutated seeds; print every kind of failure with an example."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit-s", type=float, default=2.0, help="of processor time")
    parser.add_argument("--memory-mib", type=int, default=512)
    asked = parser.parse_args()
    seeds = TARGET._good()
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    signal.signal(signal.SIGVTALRM, _too_slow)
    kinds: collections.Counter[str] = collections.Counter()
    failures: dict[str, tuple[int, str]] = {}
    slowest_s = 0.0
    for number in range(asked.count):
        order = random.Random(f"{asked.seed}, {number}")  # noqa: S311 - made to be repeated
        data = TARGET.mutated(order.choice(seeds), order)
        begun_s = time.process_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, 10 * asked.limit_s)
        try:
            kind = "read" if TARGET.check(data) else "refused"
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            kind = f"FAILED: {type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
        except KeyboardInterrupt:
            break
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        elapsed_s = time.process_time() - begun_s
        slowest_s = max(slowest_s, elapsed_s)
        if elapsed_s > asked.limit_s:
            kind = f"FAILED: over {asked.limit_s:g} s"
        kinds[kind] += 1
        if kind.startswith("FAILED"):
            failures.setdefault(kind, (number, repr(data[:300])))
    for kind, count in kinds.most_common():
        number, example = failures.get(kind, (-1, ""))
        print(f"{count:6d}  {kind}" + (f"  (input {number}: {example})" if example else ""))
    grown_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{len(seeds)} seeds, {kinds.total()} inputs, slowest {slowest_s:.2f} s, at most {grown_mib} MiB")
    return 1 if failures or grown_mib > asked.memory_mib else 0


if __name__ == "__main__":
    raise SystemExit(main())
