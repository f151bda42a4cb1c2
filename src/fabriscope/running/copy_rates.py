"""How fast each host copies memory: measured once a run, before its first launch."""

from __future__ import annotations

from collections.abc import Sequence

from fabriscope import engine_binary
from fabriscope.launch import processes
from fabriscope.launch.site import Site
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import FabriscopeError, ParseError
from fabriscope.model.foreign import Foreign
from fabriscope.model.host import COPY_RATE, HERE, Fact

TIMEOUT_S = 30.0


def measured(site: Site) -> dict[str, Fact]:
    """Return host to the best rate at which one thread copies there, in bytes/s; unknown with its reason.

    Hosts of a lab, guests too, are parts of this machine: it is measured once for all of them, since at the same time
    they would take each other's share. Real hosts are measured all at once.
    """
    far = [name for name, host in site.hosts.items() if host.is_remote]
    near = [name for name in site.hosts if name not in far]
    found: dict[str, Fact] = {}
    if near:
        here = _asked(site, str(engine_binary.find_engine()), [HERE.name])
        found |= dict.fromkeys(near, here[HERE.name])
    return found | (_asked(site, site.engine, far) if far else {})


def _asked(site: Site, engine: str, names: Sequence[str]) -> dict[str, Fact]:
    commands = [Command((engine, "--copy-rate"), name) for name in names]
    hosts = {**site.hosts, HERE.name: HERE}
    try:
        outcomes = processes.run_commands(commands, hosts, timeout_s=TIMEOUT_S)
    except (FabriscopeError, OSError) as error:  # the launches will say what is wrong
        return dict.fromkeys(names, Fact(COPY_RATE, None, f"it could not be measured: {error}"))
    found = {outcome.command.host: fact_of(outcome) for outcome in outcomes}
    return {name: found.get(name, Fact(COPY_RATE, None, "it was not measured")) for name in names}


def fact_of(outcome: Outcome) -> Fact:
    """Return the fact that the engine's answer holds."""
    if outcome.exit_status != 0:
        said = outcome.stderr.decode("utf-8", "replace").strip().splitlines() or ["it said nothing"]
        return Fact(COPY_RATE, None, f"the engine ended with exit status {outcome.exit_status}: {said[-1]}")
    try:
        return Fact(COPY_RATE, Foreign.json(outcome.stdout, "the engine").at("bytes_per_s").number(least=0))
    except ParseError as error:
        return Fact(COPY_RATE, None, f"the engine said nothing readable: {error.what}")
