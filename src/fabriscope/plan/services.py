"""What of a plan's services cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabriscope.model.benchmarks import SERVICE, kind_of
from fabriscope.model.layers import layer_of
from fabriscope.plan.ranks import Contradiction
from fabriscope.plan.schema import PlanSection


def contradictions(plan: PlanSection, hosts: Sequence[str]) -> Iterator[Contradiction]:
    """Yield place, what is wrong, and the fix, of what is asked of services and cannot be."""
    for name, section in plan.benchmarks.items():
        kind = kind_of(name)
        if kind.pattern != SERVICE:
            continue
        if kind.layer not in plan.layers:
            what = f"{name} is of the layer {kind.layer}, which is not measured"
            yield ("benchmarks", name), what, f"add {kind.layer} to layers"
        if "sizes" not in section.model_fields_set or min(section.sizes) < kind.least_size:
            what = f"{name} needs the size of each file, {kind.least_size >> 20} MiB or more"
            yield ("benchmarks", name), what, "write for example `sizes: [128MiB]`"
    for index, layer in enumerate(plan.layers):
        if layer_of(layer).instrument and not any(kind_of(name).layer == layer for name in plan.benchmarks):
            what = f"no benchmark of this plan is of the layer {layer}"
            yield ("layers", index), what, "add for example `hdfs_write: {sizes: [64MiB]}`"
    if "hdfs" in plan.layers:
        yield from _of_hdfs(plan, len(hosts) - 1)


def _of_hdfs(plan: PlanSection, datanode_count: int) -> Iterator[Contradiction]:
    if datanode_count < 1:
        what = "HDFS needs two hosts or more: the first has the NameNode and the client, every other one a DataNode"
        yield ("hosts",), what, "add hosts, or remove hdfs from layers"
    elif plan.services.hdfs.replication > datanode_count:
        copies = plan.services.hdfs.replication
        what = (
            f"{copies} copies need {copies} DataNodes, and there are {datanode_count}: one on each host but the first"
        )
        yield ("services", "hdfs", "replication"), what, f"write `replication: {datanode_count}`, or add hosts"
