"""Host lists as people and schedulers write them: `node[1-4],head`."""

from __future__ import annotations

from fabriscope.model.errors import HostError

FORM = "write it like node[1-4],head"


def unfolded(text: str, *, groups: bool = True, fix: str = FORM) -> tuple[str, ...]:
    """Return the hosts of a list, each once, in ClusterShell's order; raises HostError for one of none, too.

    `groups` says whether `@name` stands for a group of the site's; what a scheduler says knows none.
    """
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException

    try:
        hosts = tuple(NodeSet(text.strip(), resolver=None if groups else RESOLVER_NOGROUP))
    except NodeSetException as error:
        raise HostError(f"{text!r} is no host list: {error}", fix=fix) from error
    if not hosts:
        raise HostError("the host list is empty", fix=fix)
    return hosts
