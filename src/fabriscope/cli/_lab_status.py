"""A lab that stands, for `fabriscope lab status`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from fabriscope.cli import _lab_queues
from fabriscope.cli._lab_words import numbers_of

if TYPE_CHECKING:
    from fabriscope.lab.state import LabState


def described(record: LabState, *, with_counters: bool) -> dict[str, Any]:
    """Return a lab that stands, as `lab status --json` prints it."""
    from fabriscope import lab

    details, built = record.details, lab.find(record.name)
    described: dict[str, Any] = {
        "name": record.name,
        "broken": built.broken_parts(),
        "since_unix_s": details.get("since_unix_s"),
        "owner_pid": record.owner.pid if record.owner else None,
        "remote_shell": details["remote_shell"],
        "hosts": {host["name"]: host["addresses"] for host in details["hosts"]},
        "fabrics": details["fabrics"],
    }
    if with_counters:
        counted = {} if "switch" in described["broken"] else built.counters()
        described |= {name: counted.get(name, []) for name in ("ports", "trunks")}
    return described


def show(one: dict[str, Any]) -> None:
    """Print a lab, as `described` tells it."""
    from fabriscope.analysis.words import bytes_text
    from fabriscope.lab import changes

    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(one["since_unix_s"]))
    owner = f"process {one['owner_pid']}" if one["owner_pid"] else "`lab up`"
    click.secho(one["name"], bold=True, nl=False)
    if one["broken"]:
        click.secho("  broken", fg="red", nl=False)
    click.echo(f"  since {since}, of {owner}; stand-in for ssh: {one['remote_shell']}")
    for part, how in one["broken"].items():
        who = part if part in ("keeper", "switch") else f"host {part}"
        click.echo(f"  {who}: {how} -- `fabriscope lab down {one['name']}`, then build it again")
    for name, fabric in one["fabrics"].items():
        click.echo(f"  {fabric['interface']}  {name} ({fabric['attachment']}): {numbers_of(fabric['switch'])}")
        for line in changes.words(fabric):
            click.echo(f"    {line}")
    for name, addresses in one["hosts"].items():
        click.echo(f"  {name}  " + "  ".join(f"{interface} {address}" for interface, address in addresses.items()))
    for port in one.get("ports", []):
        up, down = port["up"], port["down"]
        mean_us = port["lateness_sum_ns"] / max(down["frames"], 1) / 1000
        click.echo(
            f"  {port['fabric']} {port['host']}: {up['frames']} frames ({bytes_text(up['bytes'])}) sent,"
            f" {down['frames']} ({bytes_text(down['bytes'])}) received, {port['dropped_frames']} dropped,"
            f" queue at most {bytes_text(port['maximum_queue_bytes'])}, handed over {mean_us:.1f} µs late on average"
            f"{_faults_seen(port)}"
        )
        for line in _lab_queues.counted(port):
            click.echo(f"    {line}")
    for trunk in one.get("trunks", []):
        first, *rest = _lab_queues.trunk_lines(trunk)
        click.echo(f"  {first}")
        for line in rest:
            click.echo(f"    {line}")


def _faults_seen(port: dict[str, Any]) -> str:
    """Return what was done to frames on purpose; empty where nothing was."""
    said = {
        "lost_frames": f"{port['lost_frames']} lost on purpose",
        "reordered_frames": f"{port['reordered_frames']} held back",
        "link_down_frames": f"{port['link_down_frames']} lost while the link was down",
        "pauses": f"its host paused {port['pauses']} times, {port['paused_ns'] / 1e6:.1f} ms in all",
        "is_down": "the link is down",
    }
    return "".join(f", {words}" for key, words in said.items() if port[key])
