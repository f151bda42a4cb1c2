"""Switches asked over ssh, read-only: what their commands print, as `fabriscope.devices` reads it out of a folder."""

from __future__ import annotations

import getpass
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabriscope.devices.system import System
from fabriscope.model.errors import HostError, ToolMissing

DRIVERS: Mapping[str, str] = {
    "cumulus": "linux",
    "eos": "arista_eos",
    "nxos": "cisco_nxos",
    "onyx": "mellanox_mlnxos",
    "os10": "dell_os10",
    "sonic": "linux",
}
"""System to what netmiko calls it. SONiC and Cumulus are asked in the shell that a login gives there."""
CONNECT_S = 15
COMMAND_S = 120
"""A whole configuration or the details of all ports, printed by a switch's slow processor."""
_MOST_AT_ONCE = 16
_USUAL_KEYS = ("~/.ssh/id_ed25519", "~/.ssh/id_ecdsa", "~/.ssh/id_rsa")
_REFUSAL = re.compile(r"\A[\s^]*(%.*|(?:Error|Usage): .*|.*(?:command not found|[Pp]ermission denied).*)")
"""How systems begin to say that they do not know a command, or that this user may not give it."""


@dataclass(frozen=True)
class Login:
    """How devices are reached; agent, key, jump host and known hosts are those of the user's own ssh."""

    user: str | None = None
    port: int | None = None
    password: str | None = None
    secret: str | None = None
    """The one for the privileged mode."""
    ssh_config: Path | None = None


@dataclass
class Answers:
    """What a device printed, by command; and in clauses what it did not tell."""

    texts: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def commands(system: System) -> list[str]:
    """Return what a device of a system is asked: each output that is understood, as JSON where it is in both forms."""
    every = [output.command for output in system.outputs]
    return [one for one in every if f"{one} | json" not in every]


def asked(names: Sequence[str], system: System, login: Login, done: Callable[[str], None]) -> dict[str, Answers]:
    """Return what devices printed, all asked at once; `done` is told each name once nothing more is asked of it.

    Raises ToolMissing without netmiko. A device that cannot be reached has only a problem.
    """
    netmiko = _netmiko()

    def one(name: str) -> Answers:
        try:
            return _of_device(netmiko, name, system, login)
        finally:
            done(name)

    with ThreadPoolExecutor(min(_MOST_AT_ONCE, len(names))) as pool:
        return dict(zip(names, pool.map(one, names), strict=True))


def save(folder: Path, found: Mapping[str, Answers]) -> None:
    """Write what devices printed, each into a folder of its own; raises HostError where there is one already.

    Configurations hold hashes of passwords and communities: nobody but the user may read them.
    """
    for name, answers in found.items():
        target = folder / name
        try:
            if answers.texts:
                _write(target, answers.texts)
        except FileExistsError:
            fix = "choose another folder with -o, or move it away"
            raise HostError("it is there already", where=str(target), fix=fix) from None
        except OSError as error:
            raise HostError(f"it cannot be written: {error.strerror}", where=str(target)) from error


def _write(target: Path, texts: Mapping[str, str]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.mkdir(mode=0o700)
    for command, text in texts.items():
        path = target / f"{'_'.join(filter(str.isalnum, command.replace('-', ' ').split()))}.txt"
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")


def _netmiko() -> Any:
    try:
        import netmiko
    except ImportError as error:
        fix = "pip install 'fabriscope[devices]'; or save the outputs yourself, as docs/inventory.md says"
        raise ToolMissing("devices are asked through the Python package netmiko, which is not here", fix=fix) from error
    return netmiko


def _of_device(netmiko: Any, name: str, system: System, login: Login) -> Answers:
    answers = Answers()
    try:
        with netmiko.ConnectHandler(**_words(name, system, login)) as device:
            if not device.check_enable_mode() and login.secret:
                device.enable()
            for command, text in _printed(netmiko, device, commands(system), answers):
                answers.texts[command] = text
    except Exception as error:  # the library raises its own, paramiko's, socket's and ValueError
        answers.problems.append(_why(error))
    return answers


def _words(name: str, system: System, login: Login) -> dict[str, Any]:
    user, _, host = name.rpartition("@")
    usual_user, key = _of_config(host, login)
    words = {
        "device_type": DRIVERS[system.name],
        "host": host,
        "username": user or login.user or usual_user,
        "key_file": key,
        "use_keys": True if key else None,
        "port": login.port,
        "password": login.password,
        "secret": login.secret,
        "ssh_config_file": str(login.ssh_config) if login.ssh_config else None,
    }
    keys = {"allow_agent": True, "ssh_strict": True, "system_host_keys": True}
    times = {"conn_timeout": CONNECT_S, "auth_timeout": CONNECT_S, "banner_timeout": CONNECT_S}
    return {key: value for key, value in words.items() if value is not None} | keys | times


def _of_config(host: str, login: Login) -> tuple[str, str | None]:
    """Return the user, and the file of the key, that the user's ssh would begin with."""
    import paramiko

    said: Mapping[str, Any] = {}
    if login.ssh_config:
        said = paramiko.SSHConfig.from_path(str(login.ssh_config)).lookup(host)
    every = (Path(one).expanduser() for one in said.get("identityfile", _USUAL_KEYS))
    return said.get("user", getpass.getuser()), next((str(one) for one in every if one.is_file()), None)


def _printed(netmiko: Any, device: Any, every: Sequence[str], answers: Answers) -> Iterator[tuple[str, str]]:
    """Yield what each command printed, but for those that the device does not know or does not allow."""
    for command in every:
        try:
            text = device.send_command(command, read_timeout=COMMAND_S)
        except netmiko.ReadTimeout:
            answers.problems.append(f"`{command}` printed no prompt after it within {COMMAND_S} s")
            return  # what comes late would be taken for the next command's
        if refusal := _REFUSAL.search(text):
            answers.problems.append(f"`{command}` is refused there: {refusal[0].strip()[:80]!r}")
        else:
            yield command, text.strip("\n") + "\n"


def _why(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].endswith("creation:"):
        del lines[0]  # netmiko's frame around another's words
    said = lines[0].rstrip(".:") if lines else type(error).__name__
    if "not found in known_hosts" in said:
        said += "; log in by ssh once, so that its key is known"
    return f"it cannot be asked: {said}"
