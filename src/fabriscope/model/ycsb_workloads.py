"""YCSB's workloads: what each is made of, and which kinds of operations it has."""

from __future__ import annotations

from dataclasses import dataclass

READ, UPDATE, INSERT, SCAN, READ_MODIFY_WRITE = "read", "update", "insert", "scan", "read_modify_write"
OPERATIONS = {
    READ: ("READ", "readproportion"),
    UPDATE: ("UPDATE", "updateproportion"),
    INSERT: ("INSERT", "insertproportion"),
    SCAN: ("SCAN", "scanproportion"),
    READ_MODIFY_WRITE: ("READ-MODIFY-WRITE", "readmodifywriteproportion"),
}
"""How YCSB's results and its properties call each kind."""
MOST_SCANNED = 100
"""Records of a scan: as in YCSB's file of workload E, whose code has 1000 where nobody says it."""
STANDARD = "standard"
"""Of the distribution: that of the workload."""
LOAD = "load"


@dataclass(frozen=True)
class Workload:
    """One workload."""

    shares: tuple[tuple[str, float], ...]
    """Kind of operation to its share; of a load every record is inserted once."""
    distribution: str = "uniform"
    """Of the keys that are asked for."""
    writes_all_fields: bool = False
    """Whether an update writes the whole record, or one field of it."""

    @property
    def is_load(self) -> bool:
        """Return whether it makes the records that the others work on."""
        return self is WORKLOADS[LOAD]

    @property
    def written_share(self) -> float:
        """Return the share of its operations that write."""
        return sum(share for kind, share in self.shares if kind in (UPDATE, INSERT, READ_MODIFY_WRITE))

    @property
    def operations(self) -> tuple[str, ...]:
        """Return the kinds of operations whose latencies are stated."""
        kinds = tuple(kind for kind, _ in self.shares)
        return (READ, UPDATE, READ_MODIFY_WRITE) if READ_MODIFY_WRITE in kinds else kinds

    def properties(self, distribution: str) -> dict[str, str]:
        """Return the properties by which YCSB runs it."""
        shares = dict(self.shares)
        given = {name: str(shares.get(kind, 0.0)) for kind, (_, name) in OPERATIONS.items()}
        keys = self.distribution if distribution == STANDARD else distribution
        more = {"requestdistribution": keys, "writeallfields": str(self.writes_all_fields).lower()}
        return {**given, **more, "maxscanlength": str(MOST_SCANNED)}


WORKLOADS = {
    LOAD: Workload(((INSERT, 1.0),)),
    "get": Workload(((READ, 1.0),), writes_all_fields=True),
    "put": Workload(((UPDATE, 1.0),), writes_all_fields=True),
    "mix": Workload(((READ, 0.5), (UPDATE, 0.5)), writes_all_fields=True),
    "a": Workload(((READ, 0.5), (UPDATE, 0.5)), "zipfian"),
    "b": Workload(((READ, 0.95), (UPDATE, 0.05)), "zipfian"),
    "c": Workload(((READ, 1.0),), "zipfian"),
    "d": Workload(((READ, 0.95), (INSERT, 0.05)), "latest"),
    "e": Workload(((SCAN, 0.95), (INSERT, 0.05)), "zipfian"),
    "f": Workload(((READ, 0.5), (READ_MODIFY_WRITE, 0.5)), "zipfian"),
}
"""A to F are YCSB's own; the other ones are those of published evaluations of fabrics."""
