"""An HDFS that runs already, by its address: what its client is told, and what the client says of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fabriscope.adapters._foreign import text_of
from fabriscope.adapters._running import failed, leaving, own_name, setting
from fabriscope.model.command import Command, Outcome

_ADDRESS, _FOLDER = "fs.defaultFS", "test.build.data"
# Hadoop's own patience, a quarter of an hour for a host that does not answer, is for daemons.
_PATIENCE = {
    "ipc.client.connect.max.retries": "2",
    "ipc.client.connect.max.retries.on.timeouts": "1",
    "ipc.client.connect.timeout": "5000",
}
_FOUND = re.compile(r"^fabriscope: (datanode|used|beside) (?:address=)?(\S+)(?: host=(\S+))?$", re.MULTILINE)


def settings(told: Mapping[str, str], token: str) -> dict[str, str]:
    """Return what the client is told beside what any client is; the token of its launch names its own folder."""
    return {
        **_PATIENCE,
        _ADDRESS: told["at"],
        "fabriscope.path": told["path"],
        _FOLDER: f"{told['path'].rstrip('/')}/{own_name(token)}",
        "dfs.replication": told["replication"],
    }


def leaving_there(client: Command) -> Command:
    """Return the client as one whose folder is written down before it is made, and removed."""
    return leaving(client, f"the folder {setting(client, _FOLDER)}", setting(client, _ADDRESS))


def failed_there(outcomes: Sequence[Outcome], reason: str) -> str:
    """Return why a launch failed, with where, and with what may be left there."""
    if not outcomes:
        return reason
    address, folder = (setting(outcomes[0].command, name) for name in (_ADDRESS, _FOLDER))
    return failed(outcomes, reason, address, f"`hdfs dfs -rm -r -skipTrash {address}{folder}`")


def details(client: Outcome) -> dict[str, object]:
    """Return what the journal keeps of the HDFS.

    `datanodes` (address to name) are those that were live, None where the NameNode tells that to its superuser alone;
    `used` had blocks of the launch; `beside` are folders of other launches, which run or were left.
    """
    found: dict[str, dict[str, str]] = {"datanode": {}, "used": {}, "beside": {}}
    for kind, name, host in _FOUND.findall(text_of(client.stdout)):
        found[kind][name] = host
    return {
        "at": setting(client.command, _ADDRESS),
        "folder": setting(client.command, _FOLDER),
        "datanodes": found["datanode"] or None,
        "used": sorted(found["used"]),
        "beside": sorted(found["beside"]),
    }
