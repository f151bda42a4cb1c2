"""What of a plan's services cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabriscope.model.benchmark_kind import SERVICE
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.errors import shown
from fabriscope.model.layers import layer_of
from fabriscope.plan.mistakes import nearest
from fabriscope.plan.ranks import Contradiction
from fabriscope.plan.schema import PlanSection
from fabriscope.plan.service_schema import OF_DAEMONS

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
        if not plan.services.runs_already(layer):
            is_said = "replication" in getattr(plan.services, layer).model_fields_set
            place = ("services", layer, "replication") if is_said else ("hosts",)
            yield from _of_copies(layer, copies[layer], len(hosts) - 1, place)
    yield from _of_path(plan)
    for layer in filter(plan.services.runs_already, OF_DAEMONS):
        yield from _of_running(plan, layer)
    if "hbase" in plan.layers:
        yield from _of_records(plan)


def _of_path(plan: PlanSection) -> Iterator[Contradiction]:
    hdfs = plan.services.hdfs
    if hdfs.at is None and "path" in hdfs.model_fields_set:
        what = "path is a folder of an HDFS that runs already, and `at` does not say which"
        yield ("services", "hdfs", "path"), what, "add for example `at: hdfs://namenode:9000`, or remove path"


def _of_running(plan: PlanSection, layer: str) -> Iterator[Contradiction]:
    """Yield what cannot be of a service that runs already."""
    section = plan.services.hdfs if layer == "hdfs" else plan.services.hbase
    place, name, at = ("services", layer), layer_of(layer).label, section.at or ""
    for key in filter(section.model_fields_set.__contains__, OF_DAEMONS[layer]):
        what = f"{key} is of daemons that a launch starts, and `at` names an {name} that runs already"
        yield (*place, key), what, "remove it, or remove `at`"
    if any(fabric.lab is not None for fabric in plan.fabrics.values()):
        what = f"the lab of this plan is made for the run, and reaches no {name} outside of it"
        yield (*place, "at"), what, "name hosts and their interfaces instead of a lab, or remove `at`"
    elif isinstance(at, str) and len(plan.fabrics) > 1:
        what = f"one {name} is reached over one fabric, and the plan has {len(plan.fabrics)}"
        fix = f"write `at: {{{next(iter(plan.fabrics))}: '{at}'}}`, and others that run over the other fabrics"
        yield (*place, "at"), what, fix
    for fabric in () if isinstance(at, str) else at:
        if fabric not in plan.fabrics:
            yield (
                (*place, "at", fabric),
                f"there is no fabric {shown(fabric)} in this plan",
                nearest(fabric, plan.fabrics),
            )


def _of_copies(layer: str, copies: int, datanode_count: int, place: tuple[str, ...]) -> Iterator[Contradiction]:
    if datanode_count < 1:
        what = f"{layer_of(layer).label} needs two hosts or more: the first has {_FIRST[layer]}"
        yield ("hosts",), what, f"add hosts, or remove {layer} from layers"
    elif copies > datanode_count:
        there = "there is 1" if datanode_count == 1 else f"there are {datanode_count}"
        what = f"{copies} copies need {copies} DataNodes, and {there}: one on each host but the first"
        fix = f"`services: {{{layer}: {{replication: {datanode_count}}}}}`"
        yield place, what, f"write {fix}, or add hosts"


def _of_records(plan: PlanSection) -> Iterator[Contradiction]:
    fields = plan.services.hbase.fields
    for name, section in plan.benchmarks.items():
        uneven = [size for size in section.sizes if size % fields]
        if kind_of(name).layer == "hbase" and "sizes" in section.model_fields_set and uneven:
            what = f"records of {uneven[0]} B cannot be {fields} fields of one size"
            yield ("benchmarks", name), what, f"write a multiple of {fields}, or other `fields` (services: hbase:)"
