"""The lab's self-test for people and for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fabriscope.lab.selftest import Check, SelfTest

_SCALES = {"ns": (1e3, "µs"), "bits_per_s": (1e6, "Mb/s"), "bytes": (1024.0, "KiB")}
_COLUMNS = ("fabric", "quantity", "asked", "got", "", "off by", "allowed", " ")
_LEFT_COLUMNS = ("fabric", "quantity", "", " ")
_COLOURS = {"passed": "green", "undecided": "yellow", "failed": "red"}


def as_json(result: SelfTest) -> dict[str, Any]:
    """Return everything that the self-test found, in its own units."""
    return {
        "verdict": result.verdict,
        "checks": [
            {**asdict(check), "is_good": check.is_good, "is_impossible": check.is_impossible} for check in result.checks
        ],
        "own_time_ns": result.own_time_ns,
        "switch_time_ns": result.switch_time_ns,
        "disturbances": list(result.disturbances),
        "load_mean_1min": list(result.load),
        "elapsed_s": result.elapsed_s,
    }


def show(result: SelfTest) -> None:
    """Print a table of asked against got, and the verdict."""
    from rich.table import Table

    from fabriscope.reports.terminal import console

    output = console()
    table = Table(box=None, pad_edge=False, header_style="dim")
    for head in _COLUMNS:
        table.add_column(head, justify="left" if head in _LEFT_COLUMNS else "right", no_wrap=True)
    previous = ""
    for check in result.checks:
        table.add_row(check.fabric if check.fabric != previous else "", *_cells(check))
        previous = check.fabric
    output.print(table)
    load = " and ".join(f"{one:.1f}" for one in result.load)
    output.print(
        f"over a switch without rate and delay: a message of one byte {_microseconds(result.own_time_ns)}"
        f" (taken off messages), a lone frame {_microseconds(result.switch_time_ns)}"
    )
    output.print(f"load {load} before and after; {result.elapsed_s:.0f} s")
    words = result.verdict
    impossible = [f"{check.fabric}, {check.quantity}" for check in result.checks if check.is_impossible]
    if impossible:
        words += f": faster than the wires that were asked for ({'; '.join(impossible)}), busy machine or not"
    elif result.verdict == "undecided":
        words += f": the machine was busy ({'; '.join(result.disturbances)}); try again when it is idle"
    output.print(f"[bold {_COLOURS[result.verdict]}]{words}[/]")


def _microseconds(time_ns: float | None) -> str:
    return "unknown" if time_ns is None else f"{time_ns / 1000:.1f} µs"


def _cells(check: Check) -> tuple[str, ...]:
    scale, unit = _SCALES[check.unit]
    asked, allowed = f"{check.asked / scale:.1f}", f"±{check.tolerance / scale:.1f}"
    mark = "[green]✓[/]" if check.is_good else "[red]✗[/]"
    if check.got is None:
        return check.quantity, asked, "nothing", unit, "", allowed, mark
    difference = f"{(check.got - check.asked) / scale:+.1f}"
    return check.quantity, asked, f"{check.got / scale:.1f}", unit, difference, allowed, mark
