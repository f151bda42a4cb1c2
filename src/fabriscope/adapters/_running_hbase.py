"""An HBase that runs already, by its ZooKeeper: what its client is told, and what the client says of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fabriscope.adapters._foreign import text_of
from fabriscope.adapters._running import failed, own_name, setting
from fabriscope.model.command import Outcome

_SERVERS, _NODE, _TABLE = "hbase.zookeeper.quorum", "zookeeper.znode.parent", "fabriscope.table"
_FOUND = re.compile(r"^fabriscope: (server|beside) (?:address=)?(\S+)$", re.MULTILINE)


def settings(told: Mapping[str, str], token: str) -> dict[str, str]:
    """Return what the client is told; the token of its launch names its own tables."""
    servers, _, node = told["at"].rpartition(":")
    return {_SERVERS: servers, _NODE: node, _TABLE: own_name(token)}


def _address(client: Outcome) -> str:
    return f"{setting(client.command, _SERVERS)}:{setting(client.command, _NODE)}"


def failed_there(outcomes: Sequence[Outcome], reason: str) -> str:
    """Return why a launch failed, with where, and with what may be left there."""
    if not outcomes:
        return reason
    pattern = f"'{setting(outcomes[0].command, _TABLE)}-.*'"
    left = (
        f"tables {pattern} may be left: `disable_all {pattern}` and `drop_all {pattern}` of `hbase shell` remove them"
    )
    return failed(outcomes, reason, _address(outcomes[0]), left)


def details(client: Outcome) -> dict[str, object]:
    """Return what the journal keeps of the HBase.

    `servers` are the region servers that were live; `beside` are tables of other launches, which run or were left.
    """
    found: dict[str, list[str]] = {"server": [], "beside": []}
    for kind, name in _FOUND.findall(text_of(client.stdout)):
        found[kind].append(name)
    return {
        "at": _address(client),
        "table": setting(client.command, _TABLE),
        "servers": sorted(found["server"]),
        "beside": sorted(found["beside"]),
    }
