"""What sets a configuration for good: commands of hosts and of the lab's switch, variables of launches."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from fabriscope.launch import mpi_settings
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Host
from fabriscope.model.host_lists import folded
from fabriscope.model.switch_settings import SWITCH_SETTINGS, SwitchSetting
from fabriscope.model.tuning import Configuration
from fabriscope.running import settings

_TIMES = ("delay", "rx_coalesce_time")


def commands_of(configuration: Configuration, fabric: Fabric, hosts: Mapping[str, Host]) -> Iterator[str]:
    """Yield a line for each setting and the hosts that are alike in it, then for the switch, then for launches."""
    of_hosts = {name: value for name, value in configuration.items() if name not in SWITCH_SETTINGS}
    known = [hosts[name] for name in fabric.interfaces if name in hosts]
    lines: dict[str, list[str]] = {}
    for one in settings.wanted(of_hosts, fabric.interfaces, known):
        change = one.change
        words = [word.replace("{old}", "") for word in change.set_argv]
        line = shlex.join(words) if words else f"echo {shlex.quote(change.new)} > {change.path}"
        lines.setdefault(line, []).append(one.host.name)
    for line, names in lines.items():
        yield f"{folded(names)}: {line}"
    for name, value in configuration.items():
        if name in SWITCH_SETTINGS:
            yield f"the lab's switch: {_lab_set(SWITCH_SETTINGS[name], fabric.name, value)}"
    for variable, value in mpi_settings.variables(mpi_settings.asked(configuration)).items():
        yield f"launches: export {variable}={shlex.quote(value)}"


def _lab_set(setting: SwitchSetting, fabric: str, value: str) -> str:
    """Return the command that sets it on a lab that stands."""
    parts = value.split("/") * len(setting.keys) if len(setting.keys) > 1 else [value]
    options = (
        (f"--{key.replace('_', '-')}", part + "ns" if key in _TIMES and part.isdecimal() else part)
        for key, part in zip(setting.keys, parts, strict=False)
    )
    return shlex.join(["fabriscope", "lab", "set", fabric, *(word for pair in options for word in pair)])
