"""The options of `fabriscope lab set` for a switch with priorities, and what its ports and trunks counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    ("--pfc", "PRIORITIES", "Priorities that are paused instead of dropped, as in 3/4; none."),
    ("--xoff", "SIZE", "Above it the other end of a port is stopped; none: by the buffer."),
    ("--xon", "SIZE", "At which it goes on; none: at half of that."),
    ("--headroom", "SIZE", "For what is still on its way; none: what full frames need."),
    ("--shared-buffer", "SIZE", "Of all queues together; 0: each has its own."),
    ("--alpha", "NUMBER", "A queue may hold this times what is free of it."),
    ("--ecn-min", "SIZE", "Frames that find more are marked by chance; none: never."),
    ("--ecn-max", "SIZE", "Frames that find more are always marked."),
    ("--ecn-probability", "SHARE", "The chance just below --ecn-max."),
    ("--scheduler", "strict|fair", "The highest priority first, or equally many bytes of each."),
    ("--dscp", "MAP", "Which priority a DSCP has, as in 26:3/48:6."),
)


def options(command: Command) -> Command:
    """Give a command these options."""
    for name, metavar, words in reversed(_OPTIONS):
        command = click.option(name, metavar=metavar, help=words)(command)
    return command


def counted(port: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each priority of a port at which something happened; nothing for a switch without them."""
    for one in port.get("priorities", []):
        words = f"priority {one['priority']}: {one['frames']} frames out, queue at most {one['maximum_queue_bytes']} B"
        words += f", {one['dropped_frames']} dropped" if one["dropped_frames"] else ""
        words += f", {one['marked_frames']} marked" if one["marked_frames"] else ""
        words += f", its host stopped {one['pauses']} times, {one['paused_ns'] / 1e6:.1f} ms" if one["pauses"] else ""
        yield words
    if port.get("xoff_frames"):
        yield f"pause frames to the host: {port['xoff_frames']} to stop, {port['xon_frames']} to go on"
    if port.get("host_pauses"):
        yield f"the host stopped the switch {port['host_pauses']} times, {port['host_paused_ns'] / 1e6:.1f} ms in all"


def trunk_lines(one: dict[str, Any]) -> Iterator[str]:
    """Yield what happened on a cable from switch to switch, in one direction."""
    yield (
        f"{one['fabric']}, switch {one['from']} to {one['to']}: {one['queue_bytes']} B wait,"
        f" stopped by the next switch {one['pauses']} times, {one['paused_ns'] / 1e6:.1f} ms in all"
    )
    for of_priority in one["priorities"]:
        words = f"priority {of_priority['priority']}: {of_priority['frames']} frames out"
        words += f", queue at most {of_priority['maximum_queue_bytes']} B"
        yield words + (f", {of_priority['dropped_frames']} dropped" if of_priority["dropped_frames"] else "")
