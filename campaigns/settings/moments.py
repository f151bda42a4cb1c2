"""Kills at random moments between setting something and putting it back, on hosts of three kinds, and checks the rest.

    python -m campaigns.settings.moments --count 300 --seed 2026 --output FOLDER     # from the checkout's root, as root

The hosts are this machine, a host of a lab, and one that a real sshd of that lab serves. A process of the campaign sets
two to four things of one of them through the door that runs use, and puts them back. From the first line of the journal
on, at a moment drawn from all that this takes, something is killed: fabriscope, the ssh client, the host's end, one
process, all of them; or Ctrl-C; or the power fails: the lab is killed and comes back, as hosts that have booted anew.
Then nothing may be changed without a line in the journal. `fabriscope restore` is called, and sometimes killed and
called again: all must be as it was, and the journal empty. FOLDER/cases.jsonl gets a line for each case.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from campaigns.faults import place
from campaigns.faults.kinds import seeded
from campaigns.settings.__main__ import LONG_S, end, wait
from campaigns.settings.guests import descendants
from campaigns.settings.processes import begun, below, has_ended, is_gone
from tests.ssh.cluster import HEAD, Cluster, cluster

from fabriscope.cli import restore
from fabriscope.hosts.access import changes, journal
from fabriscope.knobs import knobs
from fabriscope.lab.presets import PRESETS
from fabriscope.model.host import Host

KINDS = ("local", "namespace", "ssh")
WAYS = ("fabriscope", "near end", "far end", "one of them", "everything", "interrupt", "power")
NODE = "node1"
SETTINGS = {
    "mtu": ("1400", "/sys/class/net/{}/mtu"),
    "tx_queue": ("77", "/sys/class/net/{}/tx_queue_len"),
    "tcp_sack": ("0", "/proc/sys/net/ipv4/tcp_sack"),
    "tcp_receive_buffer": ("1048576", "/proc/sys/net/ipv4/tcp_rmem"),
}
"""Setting to what it is set to, and the file that tells it: three files that are written, and a script of shell."""
COUNTS = (2, 3, 4)
"""How many of them are set in a case: one alone is set and put back within two milliseconds."""
RESTORE_KILLED = 0.2
"""The share of cases in which `fabriscope restore` is killed, too."""
_PR_SET_CHILD_SUBREAPER = 36


@dataclass
class Case:
    """One kill, and what came of it."""

    kind: str
    way: str
    names: list[str]
    journalled: int = 0
    """Lines of the journal at the kill."""
    changed_after: int = 0
    """What was still changed when nothing of the killed ran any more."""
    problems: list[str] = field(default_factory=list)


class Hosts:
    """This machine, and a lab whose host is reached from outside and by ssh; the lab can be killed and built again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._stack = contextlib.ExitStack()
        self.ssh = folder / "ssh"
        self.ssh.write_text(f'#!/bin/sh\nexec $(cat {folder}/words) "$@"\n')
        self.ssh.chmod(0o700)

    def up(self) -> None:
        """Build the lab; its host has a boot of its own."""
        folder = self.folder / uuid.uuid4().hex[:8]
        folder.mkdir()
        one = self._stack.enter_context(cluster(folder, [NODE], {"gige": PRESETS["gige"]}))
        (folder / "boot_id").write_text(f"{uuid.uuid4()}\n")
        done = one.on(NODE, "mount", "--bind", str(folder / "boot_id"), "/proc/sys/kernel/random/boot_id")
        if done.returncode:
            sys.exit(f"no boot of its own: {done.stderr}")
        (self.folder / "words").write_text(" ".join(one.argv(HEAD, *one.ssh.split())))
        self._cluster: Cluster = one

    def down(self) -> None:
        """Take the lab down."""
        self._stack.close()

    def power_fails(self) -> None:
        """Kill the lab with everything in it."""
        end(self._cluster.lab.state.keeper.pid, signal.SIGKILL)
        self.down()

    def host(self, kind: str) -> Host:
        """Return the host of a kind."""
        inside = self._cluster.lab.host(NODE)
        return {"local": Host("localhost"), "namespace": inside, "ssh": Host(NODE, (str(self.ssh), "--", NODE))}[kind]

    def values(self, kind: str) -> dict[str, str]:
        """Return what is set now."""
        paths = [path.format(interface_of(kind)) for _, path in SETTINGS.values()]
        argv = ["cat", *paths] if kind == "local" else self._cluster.argv(NODE, "cat", *paths)
        done = subprocess.run(argv, capture_output=True, text=True, timeout=LONG_S, check=True)
        return dict(zip(SETTINGS, done.stdout.splitlines(), strict=True))


class Times(dict[tuple[str, int], float]):
    """How long as many settings of a kind of host take from the first line of the journal on: taken when it is asked.

    Of three times the middle one.
    """

    def __init__(self, hosts: Hosts, output: Path) -> None:
        super().__init__()
        self._hosts, self._output = hosts, output

    def __missing__(self, key: tuple[str, int]) -> float:
        self[key] = undisturbed(self._hosts, *key, self._output)
        return self[key]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--first", type=int, default=1, help="number of the first case")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    place.enter("campaigns.settings.moments")
    # Interfaces in /sys are those of the network namespace that it was mounted in.
    subprocess.run(["mount", "-t", "sysfs", "sysfs", "/sys"], check=True, timeout=LONG_S)
    # What a killed process has started becomes a child of ours, so that nothing can hide.
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    output: Path = arguments.output.absolute()
    for name, variable in (("state", "XDG_STATE_HOME"), ("tmp", "TMPDIR")):  # nobody else removes what is left in them
        (output / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        os.environ[variable] = str(output / name)
    hosts = Hosts(output)
    hosts.up()
    try:
        took_s = Times(hosts, output)
        cases = []
        for number in range(arguments.first, arguments.first + arguments.count):
            case = killed(hosts, seeded(arguments.seed, number), took_s, output)
            cases.append(case)
            with (output / "cases.jsonl").open("a") as stream:
                stream.write(json.dumps({"number": number, **asdict(case)}) + "\n")
            told = f"{case.journalled} in the journal, {case.changed_after} changed after"
            print(f"{number:4} {case.kind:10} {case.way:12} {told}  {case.problems}", flush=True)
    finally:
        hosts.down()
    said(cases)


def said(cases: Sequence[Case]) -> None:
    """Print how many there were of each kind; exits with 1 where something is wrong."""
    for kind in KINDS:
        of_kind = [case for case in cases if case.kind == kind]
        ways = Counter(case.way for case in of_kind)
        told = ", ".join(f"{way} {ways[way]}" for way in WAYS if ways[way])
        during = sum(case.journalled > 0 for case in of_kind)
        left = sum(case.changed_after > 0 for case in of_kind)
        print(f"{kind}: {len(of_kind)} kills, {during} with lines in the journal, {left} left something: {told}")
    if bad := [case for case in cases if case.problems]:
        raise SystemExit(f"{len(bad)} cases have problems")


def undisturbed(hosts: Hosts, kind: str, count: int, output: Path) -> float:
    """Return how long as many settings take from the first line of the journal on; of three times the middle one."""
    took_s = []
    for _ in range(3):
        pid = begun(lambda: hold(hosts.host(kind), kind, list(SETTINGS)[:count], 0), output / "said")
        soon(pid)
        first_s = time.monotonic()
        status = os.waitpid(pid, 0)[1]
        if status or lines():
            sys.exit(f"{kind}: it does not work undisturbed: {said_in(output)}")
        took_s.append(time.monotonic() - first_s)
    return sorted(took_s)[1]


def killed(hosts: Hosts, chance: random.Random, took_s: Times, output: Path) -> Case:
    """Return what came of one kill."""
    kind = chance.choice(KINDS)
    way = chance.choice(WAYS if kind != "local" else WAYS[:-1])
    case = Case(kind, way, chance.sample(sorted(SETTINGS), chance.choice(COUNTS)))
    own_s, most_s = took_s[kind, len(case.names)], took_s[kind, len(SETTINGS)]
    before, standing = hosts.values(kind), descendants()
    host, pause_s = hosts.host(kind), chance.choice((0, chance.uniform(0, 0.05)))
    pid = begun(lambda: hold(host, kind, case.names, pause_s), output / "said")
    soon(pid)
    time.sleep(chance.uniform(0, own_s + pause_s))
    case.journalled = len(lines())
    strike(way, pid, standing, chance, hosts)
    is_gone(pid)
    wait(lambda: not descendants() - standing)
    if way == "power":
        hosts.up()
        standing = descendants()
    now = hosts.values(kind)
    open_lines = {entry.change.what.split(" ")[0] for entry in journal.entries()}
    changed = {name for name in SETTINGS if now[name] != before[name]}
    case.changed_after = len(changed)
    case.problems += [f"{name} is {now[name]} without a line" for name in changed - open_lines]
    case.problems += put_back(chance, most_s, standing, output / "said")
    now = hosts.values(kind)
    case.problems += [f"{name} is {now[name]}, was {before[name]}" for name in SETTINGS if now[name] != before[name]]
    case.problems += [f"the journal has {path.name} still" for path in lines()]
    return case


def put_back(chance: random.Random, took_s: float, standing: set[int], log: Path) -> list[str]:
    """Call `fabriscope restore`, in some cases after one that was killed; return what is wrong with its end."""
    if chance.random() < RESTORE_KILLED:
        again = begun(restored, log)
        time.sleep(chance.uniform(0, took_s))
        end(again, signal.SIGKILL)
        is_gone(again)
        wait(lambda: not descendants() - standing)
    status = os.waitpid(begun(restored, log), 0)[1]
    return [f"restore ended with {os.waitstatus_to_exitcode(status)}: {log.read_text()}"] if status else []


def soon(pid: int) -> None:
    """Wait for the first line of the journal, or for the end of what would write it."""
    wait(lambda: bool(lines()) or has_ended(pid))


def strike(way: str, pid: int, standing: set[int], chance: random.Random, hosts: Hosts) -> None:
    """Kill what a way says, each process at its own moment."""
    if way == "interrupt":
        end(pid, signal.SIGINT)
        return
    if way == "power":
        if chance.random() < 0.5:  # of all machines
            end(pid, signal.SIGKILL)
        hosts.power_fails()
        return
    if way == "everything":
        end(pid, signal.SIGSTOP)  # no more children from here on
    ours = descendants() - standing
    near = below(pid)
    others = {
        "fabriscope": set(), "near end": near, "far end": (ours - near - {pid}) or near, "everything": ours - {pid},
        "one of them": set(chance.sample(sorted(ours), 1)) if ours else set(),
    }[way]  # fmt: skip
    for one in chance.sample(sorted(others), len(others)):
        end(one, signal.SIGKILL)
    if way in ("fabriscope", "everything"):
        end(pid, signal.SIGKILL)


def hold(host: Host, kind: str, names: Sequence[str], pause_s: float) -> None:
    """Set some things of a host, and put them back."""
    with contextlib.ExitStack() as stack:
        for name in names:
            change = knobs()[name].change(interface_of(kind), SETTINGS[name][0])
            stack.enter_context(changes.changed(host, change))
        time.sleep(pause_s)


def restored() -> None:
    """What `fabriscope restore` does."""
    restore.COMMAND.main([], standalone_mode=False)


def lines() -> list[Path]:
    """Return the journal's files."""
    return list(journal.folder().glob("*.json"))


def interface_of(kind: str) -> str:
    return "lo" if kind == "local" else "eth0"


def said_in(output: Path) -> str:
    return (output / "said").read_text().strip()


if __name__ == "__main__":
    main()
