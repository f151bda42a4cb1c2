"""What of a plan's services cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabriscope.model.benchmark_kind import SERVICE
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.layers import layer_of
from fabriscope.plan.ranks import Contradiction
from fabriscope.plan.schema import PlanSection

_SIZES = {"hdfs": ("file, 1 MiB or more", "128MiB"), "hbase": ("record", "1000")}
_EXAMPLES = {"hdfs": "hdfs_write: {sizes: [64MiB]}", "hbase": "hbase_get: {sizes: [1000]}"}
_FIRST = {
    "hdfs": "the NameNode and the client, every other one a DataNode",
    "hbase": "ZooKeeper, the master and the client, every other one a region server",
}


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
            least, example = _SIZES[kind.layer]
            what = f"{name} needs the size of each {least}"
            yield ("benchmarks", name), what, f"write for example `sizes: [{example}]`"
    for index, layer in enumerate(plan.layers):
        if layer_of(layer).instrument and not any(kind_of(name).layer == layer for name in plan.benchmarks):
            what = f"no benchmark of this plan is of the layer {layer}"
            yield ("layers", index), what, f"add for example `{_EXAMPLES[layer]}`"
    copies = {"hdfs": plan.services.hdfs.replication, "hbase": plan.services.hbase.replication}
    for layer in filter(copies.__contains__, plan.layers):
        yield from _of_copies(layer, copies[layer], len(hosts) - 1)
    if "hbase" in plan.layers:
        yield from _of_records(plan)


def _of_copies(layer: str, copies: int, datanode_count: int) -> Iterator[Contradiction]:
    if datanode_count < 1:
        what = f"{layer_of(layer).label} needs two hosts or more: the first has {_FIRST[layer]}"
        yield ("hosts",), what, f"add hosts, or remove {layer} from layers"
    elif copies > datanode_count:
        what = (
            f"{copies} copies need {copies} DataNodes, and there are {datanode_count}: one on each host but the first"
        )
        yield ("services", layer, "replication"), what, f"write `replication: {datanode_count}`, or add hosts"


def _of_records(plan: PlanSection) -> Iterator[Contradiction]:
    fields = plan.services.hbase.fields
    for name, section in plan.benchmarks.items():
        uneven = [size for size in section.sizes if size % fields]
        if kind_of(name).layer == "hbase" and "sizes" in section.model_fields_set and uneven:
            what = f"records of {uneven[0]} B cannot be {fields} fields of one size"
            yield ("benchmarks", name), what, f"write a multiple of {fields}, or other `fields` (services: hbase:)"
