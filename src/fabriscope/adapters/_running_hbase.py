"""An HBase that runs already, by its ZooKeeper: what its client is told, and what the client says of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fabriscope.adapters._foreign import text_of
from fabriscope.adapters._running import failed, leaving, own_name, setting
from fabriscope.model.command import Command, Outcome

_SERVERS, _NODE, _TABLE = "hbase.zookeeper.quorum", "zookeeper.znode.parent", "fabriscope.table"
_FOUND = re.compile(r"^fabriscope: (server|beside) (?:address=)?(\S+)$", re.MULTILINE)


def settings(told: Mapping[str, str], token: str) -> dict[str, str]:
    """Return what the client is told; the token of its launch names its own tables."""
    servers, _, node = told["at"].rpartition(":")
    return {_SERVERS: servers, _NODE: node, _TABLE: own_name(token)}


def _address(client: Command) -> str:
    return f"{setting(client, _SERVERS)}:{setting(client, _NODE)}"


def leaving_there(client: Command) -> Command:
    """Return the client as one whose tables are written down before they are made, and dropped."""
    return leaving(client, f"the tables {setting(client, _TABLE)}-*", _address(client))


def failed_there(outcomes: Sequence[Outcome], reason: str) -> str:
    """Return why a launch failed, with where, and with what may be left there."""
    if not outcomes:
        return reason
    pattern = f"'{setting(outcomes[0].command, _TABLE)}-.*'"
    shell = f"`disable_all {pattern}` and then `drop_all {pattern}` of `hbase shell`"
    return failed(outcomes, reason, _address(outcomes[0].command), shell)


def details(client: Outcome) -> dict[str, object]:
    """Return what the journal keeps of the HBase.

    `servers` are the region servers that were live; `beside` are tables of other launches, which run or were left.
    """
    found: dict[str, list[str]] = {"server": [], "beside": []}
    for kind, name in _FOUND.findall(text_of(client.stdout)):
        found[kind].append(name)
    return {
        "at": _address(client.command),
        "table": setting(client.command, _TABLE),
        "servers": sorted(found["server"]),
        "beside": sorted(found["beside"]),
    }
