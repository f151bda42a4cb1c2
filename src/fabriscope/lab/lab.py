"""Builds a lab, and takes it down."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fabriscope.lab import (
    cables,
    changes,
    faults,
    guests,
    limits,
    namespaces,
    network,
    queues,
    state,
    switch_process,
    switch_socket,
)
from fabriscope.lab.network import Wiring
from fabriscope.lab.programs import check_system_programs
from fabriscope.model.errors import LabError
from fabriscope.model.foreign import Foreign
from fabriscope.model.host import Host
from fabriscope.model.lab import LabSpec

SHAPED_ATTACHMENT = "packet"
"""How hosts are attached to switches. The kernel stamps a frame on a packet socket as the host sends it, so a switch
that looks late is not late; `tap` knows no such time, and /dev/net/tun is closed to most users."""
_READY_TIMEOUT_S = switch_process.READY_TIMEOUT_S
_LAB_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")

# $1: a host's process id and its agent's, if it has one; $2: its network namespace. Ends every other process in there.
_SWEEP_SCRIPT = """
for folder in /proc/[0-9]*; do
  pid=${folder#/proc/}
  case " $1 " in *" $pid "*) continue ;; esac
  [ "$(readlink "$folder/ns/net" 2>/dev/null)" = "$2" ] && kill -9 "$pid" 2>/dev/null
done
true
"""
# Process ids of hosts. Prints the network namespace of each.
_NAMESPACES_SCRIPT = 'for pid in "$@"; do readlink /proc/$pid/ns/net; done'

# $1: process id of a host, $2: batch for ip, $3: TCP's congestion control.
_CONFIGURE_SCRIPT = """
set -e
nsenter -t "$1" -n -- sh -c 'for knob in all default; do
  echo 1 > /proc/sys/net/ipv6/conf/$knob/disable_ipv6 2>/dev/null || true
done
echo "$1" > /proc/sys/net/ipv4/tcp_congestion_control' sh "$3"
printf %s "$2" | nsenter -t "$1" -n -- ip -batch -
"""


@dataclass(frozen=True)
class Lab:
    """A lab that stands."""

    name: str
    hosts: tuple[Host, ...]
    remote_shell: Path
    """Stand-in for ssh, usable from outside and on the lab's hosts."""
    state: state.LabState
    keeper_words: tuple[str, ...]
    """Words that run a command in the keeper's namespaces."""
    owner_pipe: int | None = None
    """Open for as long as the lab is needed; closed by down() and by our own death."""

    def host(self, name: str) -> Host:
        """Return the host of that name; raises LabError."""
        for host in self.hosts:
            if host.name == name:
                return host
        names = ", ".join(host.name for host in self.hosts)
        raise LabError(f"the lab has no host {name!r}", where=self.name, fix=f"hosts: {names}")

    @property
    def switch_pid_file(self) -> Path:
        """The file that holds the switch's process id in the keeper's namespaces, where there is a switch."""
        return switch_process.of_switch(self.state.folder, "pid")

    def counters(self) -> dict[str, Any]:
        """Return the switch's counters for each port, or nothing where no fabric is shaped. Raises LabError."""
        return self.ask_switch("counters")

    def ask_switch(self, request: str) -> dict[str, Any]:
        """Return the switch's answer to `counters`, `series UNIX_NS`, `reset` or `set ...`; empty without a switch.

        Raises LabError.
        """
        path = switch_process.of_switch(self.state.folder, "sock")
        if not path.exists():
            return {}
        try:
            text = switch_socket.ask(path, request, _READY_TIMEOUT_S)
        except OSError as error:
            raise LabError(f"the switch does not answer: {error}", where=self.name) from error
        return dict(Foreign.json(text, f"{self.name}, the switch's answer", error=LabError).mapping())

    def broken_parts(self) -> dict[str, str]:
        """Return what of the lab has died, as `keeper`, `switch` or a host's name, and how that shows."""
        if self.state.keeper.has_ended_with_all_below():
            return {"keeper": f"its keeper, process {self.state.keeper.pid}, has ended, and everything with it"}
        details = self.state.details
        broken = dict.fromkeys(_gone(self.state), "its process has ended")
        for name, lines in guests.dead(self.state.folder, list(details["guests"])).items():
            broken[name] = f"its kernel has ended ({lines})"
        if details["switch_arguments"]:
            try:
                self.counters()
            except LabError as error:
                broken["switch"] = error.what
        return broken

    def check_host(self, name: str) -> Host:
        """Return the host of that name, on which programs can be started; raises LabError where it is gone."""
        host = self.host(name)
        if name in _gone(self.state):
            raise LabError(
                f"host {name} is gone: its process has ended",
                where=f"lab {self.name}",
                fix=f"`fabriscope lab down {self.name}`, then build it again",
            )
        return host

    def change(self, fabric: str, values: Mapping[str, Any], hosts: Sequence[str] = ()) -> None:
        """Change a fabric, or what is wrong on purpose with the links of some hosts of it, from now on.

        `values` are fields of SwitchSpec and SwitchQueues, and `is_down`; what is not named stays. Raises LabError.
        """
        for host in hosts:
            self.host(host)
        shaped = [name for name, one in self.state.details["fabrics"].items() if one["attachment"] != "bridge"]
        if fabric not in shaped:
            known = ", ".join(shaped) or "none"
            raise LabError(f"there is no switch of a fabric {fabric!r}", where=self.name, fix=f"fabrics: {known}")
        words = ",".join(filter(None, (part.switch_words(values) for part in (cables, faults, queues))))
        for of_host in [f",host={host}" for host in hosts] or [""]:
            answer = self.ask_switch(f"set fabric={fabric}{of_host},{words}")
            if "error" in answer:
                raise LabError(f"the switch refuses: {answer['error']}", where=f"fabric {fabric}")
        changes.note(self.state.details["fabrics"][fabric], values, hosts)
        self.state.write()

    def confine_switch(self, processors: str) -> bool:
        """Let the switch run on these of the machine's processors alone; False without one. Raises LabError."""
        return switch_process.confine(self.keeper_words, self.state.folder, processors)

    def sweep(self, host_name: str) -> None:
        """End every process that runs on a host, a dead one too (what a broken launch left there). Raises LabError."""
        self.host(host_name)
        details = self.state.details
        if host_name in details.get("guests", {}):
            argv = [*self.keeper_words, *guests.end_all_words(self._guest(host_name), self.state.folder)]
        else:
            kept = [details["pids"][host_name], *details.get("agents", {}).get(host_name, ())]
            its_own = (" ".join(map(str, kept)), details["network_namespaces"][host_name])
            argv = [*self.keeper_words, "sh", "-c", _SWEEP_SCRIPT, "sh", *its_own]
        try:
            subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_READY_TIMEOUT_S, check=False)
        except (OSError, subprocess.TimeoutExpired):
            raise LabError("its processes cannot be ended", where=f"host {host_name}") from None

    def consoles(self) -> dict[str, str]:
        """Return what each guest's kernel has said since it was booted, of very long ones the end."""
        return {name: guests.said(self.state.folder, name) for name in self.state.details.get("guests", {})}

    def _guest(self, name: str) -> guests.Guest:
        return guests.Guest(**self.state.details.get("guests", {})[name])

    def mend(self) -> list[str]:
        """Start again what has died, guests and the switch; return what was wrong. Raises LabError.

        A switch that stands still counts too. The new one is as the first one was at its start: what was changed
        meanwhile is forgotten.
        """
        return [*self._mend_guests(), *self._mend_switch()]

    def _mend_guests(self) -> list[str]:
        folder = self.state.folder
        dead = guests.dead(folder, list(self.state.details.get("guests", {})))
        if dead and not self.state.keeper.is_alive():
            raise LabError("its keeper is dead", where=self.name)
        for name in dead:
            guests.start(partial(namespaces.run_in, self.keeper_words), folder, self._guest(name))
        guests.await_ready(folder, list(dead))
        return [f"the guest {name} had ended and was booted again ({lines})" for name, lines in dead.items()]

    def _mend_switch(self) -> list[str]:
        try:
            self.counters()
        except LabError as error:
            if not self.state.keeper.is_alive():
                raise
            switch_process.start(self.keeper_words, self.state.folder, self.state.details["switch_arguments"])
            return [f"the lab's switch had to be started again ({error.what})"]
        return []

    def down(self) -> None:
        """Remove the lab: every process, interface and mount of it goes with its keeper."""
        self.state.remove()
        if self.owner_pipe is not None:
            os.close(self.owner_pipe)
            object.__setattr__(self, "owner_pipe", None)


@contextlib.contextmanager
def _failures_named() -> Iterator[None]:
    """Raise what the system refuses while a lab is built as a LabError."""
    try:
        yield
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        raise LabError(
            f"the lab cannot be built: {error.strerror or error}{place}", fix="mend that, and go on"
        ) from error


@_failures_named()
def up(
    spec: LabSpec, *, name: str | None = None, persistent: bool = False, notice: Callable[[str], None] | None = None
) -> Lab:
    """Build a lab and return it; what labs of dead owners left behind is removed first.

    A lab that is not persistent dies with this process, however that ends. `notice` is told of left-overs that cannot
    be removed, a sentence each. Raises LabError or ToolMissing; then nothing is left.
    """
    name = name or f"lab-{secrets.token_hex(4)}"
    _check(spec, name)
    check_system_programs()
    state.remove_left_overs(notice)
    folder, us = state.new_folder(name), state.process_id(os.getpid())
    read_end, write_end = (None, None) if persistent else os.pipe()

    # Until it stands, every lab is ours: if we are killed meanwhile, it is a left-over.
    def record(keeper_pid: int) -> state.LabState:
        unfinished = state.LabState(name, folder, us, state.process_id(keeper_pid), {})
        unfinished.write()
        return unfinished

    try:
        keeper = namespaces.start_keeper(read_end, record)
    except BaseException:
        state.remove_folder(folder)
        raise
    finally:
        if read_end is not None:
            os.close(read_end)
    try:
        unfinished = record(keeper.pid)
    except BaseException:
        keeper.process.kill()
        state.remove_folder(folder)
        raise
    try:
        return _furnish(spec, keeper, unfinished, write_end)
    except BaseException:
        unfinished.remove()
        if write_end is not None:
            os.close(write_end)
        raise


def find(name: str | None = None) -> Lab:
    """Return a standing lab: the one of that name, or the only persistent one. Raises LabError."""
    standing = {record.name: record for record in state.recorded() if record.is_complete and not record.is_left_over}
    persistent = [record.name for record in standing.values() if record.owner is None]
    if name is None and len(persistent) == 1:
        name = persistent[0]
    if name not in standing:
        what = f"there is no lab {name!r}" if name else f"{len(persistent) or 'no'} labs stand, and none was named"
        of_runs = f"of runs, which take --lab NAME: {', '.join(standing)}" if standing and not persistent else ""
        known = ", ".join(standing if name else persistent) or of_runs or "none; `fabriscope lab up` makes one"
        raise LabError(what, fix=f"standing: {known}")
    record = standing[name]
    details = record.details
    hosts = tuple(_host(**{**host, "addresses": dict(host["addresses"])}) for host in details["hosts"])
    return Lab(name, hosts, Path(details["remote_shell"]), record, tuple(details["keeper_words"]))


def _gone(record: state.LabState) -> list[str]:
    """Return the hosts whose processes have ended."""
    return namespaces.missing_hosts(record.keeper.pid, record.details["pids"])


def _check(spec: LabSpec, name: str) -> None:
    if not _LAB_NAME.fullmatch(name):
        raise LabError(f"{name!r} cannot be a lab's name", fix="use up to 40 letters, digits, '.', '_' and '-'")
    for one in limits.problems(spec):
        raise LabError(one.what, where=f"fabric {one.fabric}" if one.fabric else None, fix=one.fix)
    guests.check(spec)


def _host(
    name: str,
    access: Sequence[str],
    addresses: Mapping[str, str],
    management_interface: str,
    kind: str,
    client: Sequence[str] = (),
) -> Host:
    """Return a host as it is recorded; `client` are the words that hand commands on to a guest.

    A lab that an older version built records no such words, and has no guests.
    """
    return Host(name, namespaces.in_working_folder(access, client), addresses, management_interface, kind)


def _furnish(spec: LabSpec, keeper: namespaces.Keeper, record: state.LabState, owner_pipe: int | None) -> Lab:
    folder = record.folder
    (folder / "hosts").write_text(network.hosts_file(spec.hosts, list(spec.fabrics)))
    pids = namespaces.start_hosts(keeper, folder, spec.hosts)
    wirings = [
        Wiring(index, name, switch, SHAPED_ATTACHMENT if switch.is_shaped or spec.guests else "bridge")
        for index, (name, switch) in enumerate(spec.fabrics.items())
    ]
    ordered_pids = [pids[name] for name in spec.hosts]
    guest_indices = frozenset(spec.hosts.index(name) for name in spec.guests)
    script = network.keeper_script(wirings, ordered_pids, guest_indices)
    keeper.run('printf %s "$1" | ip -batch -', script)
    switch_arguments = network.switch_arguments(wirings, spec.hosts, ordered_pids)
    switch_process.start(keeper.enter(), folder, switch_arguments)
    net_namespaces = keeper.run(_NAMESPACES_SCRIPT, *map(str, ordered_pids)).split()
    for index, pid in enumerate(ordered_pids):
        is_guest = index in guest_indices
        batch = guests.outer_script(wirings) if is_guest else network.host_script(wirings, index, len(spec.hosts))
        keeper.run(_CONFIGURE_SCRIPT, str(pid), batch, spec.congestion_control)
    booted, agents = guests.boot_all(spec, wirings, keeper.run, folder, pids)
    clients = {name: guests.exec_words(folder, name, guest.address) for name, guest in booted.items()}
    reached = {name: network.management_address(index) for index, name in enumerate(spec.hosts)} if booted else {}
    shell = folder / state.STAND_IN
    shell.write_text(namespaces.remote_shell_text(keeper, pids, clients, reached))
    shell.chmod(0o755)
    hosts: list[dict[str, Any]] = [
        {
            "name": name,
            "access": keeper.enter() if name in booted else namespaces.host_words(keeper, pids[name]),
            "client": clients.get(name, []),
            "addresses": {
                network.MANAGEMENT_INTERFACE: network.management_address(index),
                **{one.interface: network.fabric_address(one, index) for one in wirings},
            },
            "management_interface": network.MANAGEMENT_INTERFACE,
            "kind": "guest" if name in booted else "namespace",
        }
        for index, name in enumerate(spec.hosts)
    ]
    details = {
        "pids": pids,
        "network_namespaces": dict(zip(spec.hosts, net_namespaces, strict=True)),
        "switch_arguments": switch_arguments,
        "keeper_words": keeper.enter(),
        "remote_shell": str(shell),
        "hosts": hosts,
        "guests": {name: asdict(guest) for name, guest in booted.items()},
        "agents": agents,
        "fabrics": {
            one.name: {"interface": one.interface, "attachment": one.attachment, "switch": asdict(one.switch)}
            for one in wirings
        },
        "since_unix_s": time.time(),
    }
    owner = record.owner if owner_pipe is not None else None
    finished = state.LabState(record.name, folder, owner, record.keeper, details)
    finished.write()
    standing = tuple(_host(**host) for host in hosts)
    return Lab(record.name, standing, shell, finished, tuple(keeper.enter()), owner_pipe)
