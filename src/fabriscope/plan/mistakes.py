"""What the schema finds wrong with a plan, in words: each mistake one sentence with its place and its fix."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from fabriscope.model.benchmarks import choices_of
from fabriscope.model.errors import PlanError, shown
from fabriscope.plan import (
    application_schema,
    benchmark_sections,
    imb_schema,
    lab_schema,
    mpi_schema,
    osu_schema,
    paper,
    place_schema,
    remedies,
    schema,
    service_schema,
    tune_schema,
    values,
)
from fabriscope.plan.names import COMPANION_PATTERN
from fabriscope.plan.yaml_places import Place, PlacedYaml

MAX_PROBLEMS = 20
"""Mistakes of a plan that are named at once."""
_WANTED = {
    **dict.fromkeys(("string_type", "string_unicode"), ("text", "put it in quotes if it is text")),
    **dict.fromkeys(
        ("int_type", "int_parsing", "int_parsing_size"), ("a whole number", "write it in digits, such as 1000")
    ),
    "int_from_float": ("a whole number", "write it without a fraction"),
    **dict.fromkeys(("float_type", "float_parsing"), ("a number", "write it in digits, such as 0.5")),
    **dict.fromkeys(("bool_type", "bool_parsing"), ("true or false", "write one of these, without quotes")),
    **dict.fromkeys(("tuple_type", "list_type"), ("a list", "write it in brackets: [first, second]")),
    **dict.fromkeys(("dict_type", "model_type"), ("a mapping", "write `key: value` lines, indented below it")),
}
"""The schema's kinds of error to what is expected, and what to do."""

_EXAMPLES: Mapping[Place, str] = {
    ("name",): "`name: my-plan`",
    ("hosts",): "for example `hosts: node[1-2]`",
    ("benchmarks",): "for example `benchmarks: {ping_pong: {}}`",
}
_BAD_FILE = ("is no name of a YAML file beside the plan", "name it, for example, x.yaml")
_BAD_NAME = ("has characters that a name cannot have, or is too long", "use letters, digits, '.', '_' and '-'")
_BOUNDS = {
    "greater_than_equal": "at least", "less_than_equal": "at most",
    "greater_than": "more than", "less_than": "less than",
}  # fmt: skip
"""The schema's kinds of error of a number out of its range, each with one bound, to how that is said."""

_KINDS = ("function-after[", "function-before[", "function-wrap[", "function-plain[", "dict[", "list[", "tuple[")
"""How the schema's own names begin of what a value may be, where it may be one of several."""

OF_PLANS, OF_PAPERS = "docs/plan.md", "docs/papers.md"
"""The pages of keys."""
Mistake = tuple[Place, str, str | None]
"""Where it stands in the document, what is wrong, and what to do where that is known."""


def listed(problems: Iterable[Mistake], document: PlacedYaml) -> PlanError:
    """Return one error for several mistakes, a line each, in the order of the document's lines."""
    in_order = sorted(problems, key=lambda problem: document.line(problem[0]))
    every = (PlanError(what, where=document.where(place), fix=fix).sentence() for place, what, fix in in_order)
    lines = list(dict.fromkeys(every))
    more = [f"and {len(lines) - MAX_PROBLEMS} more mistakes"] if len(lines) > MAX_PROBLEMS else []
    return PlanError("\n".join(lines[:MAX_PROBLEMS] + more))


def of_schema(error: ValidationError, model: type[BaseModel]) -> Iterator[Mistake]:
    """Yield the mistakes that a schema found in a document."""
    for item in of_the_text(error):
        place = _place(item)
        if model is schema.PlanSection:
            yield place, *described(item, _known_keys(place))
        else:
            yield place, *described(item, _keys_of_papers(place), OF_PAPERS)


def of_the_text(error: ValidationError) -> list[Mapping[str, Any]]:
    """Return what the schema found; a list whose items are all wrong is not called empty besides.

    Where a value may be of several kinds, what is wrong with it is told once: not that it is no mapping either.
    """
    found = [dict(item) for item in error.errors(include_url=False) if item["type"] != "too_short" or not item["input"]]
    told = {_place(item) for item in found if item["type"] != "dict_type"}
    unknown = (_place(item) for item in found if item["type"] == "extra_forbidden")
    strange = {place[:-1] for place in unknown if place[:1] == ("mpi",)}
    return [
        item
        for item in found
        if not (item["type"] == "dict_type" and _place(item) in told)
        and not (item["type"] == "missing" and _place(item)[:-1] in strange)
    ]


def _place(item: Mapping[str, Any]) -> Place:
    """Return where a mistake is, without the schema's own names of the kinds that a value may be of."""
    return tuple(part for part in item["loc"] if not str(part).startswith(_KINDS))


def described(
    item: Mapping[str, Any], known: frozenset[str] = frozenset(), page: str = OF_PLANS
) -> tuple[str, str | None]:
    """Return what is wrong, and the fix where one is known; `known` are the keys that may stand there, which
    `page` lists."""
    place = _place(item)
    key = ".".join(str(part) for part in place if part != "[key]" and not isinstance(part, int))
    kind, context = item["type"], item.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown_key(place, known, item["input"], page)
    if kind == "missing":
        example = _EXAMPLES.get(place)
        return f"the key {str(place[-1])!r} is missing", f"add {example or 'it'}; see {page}"
    if remedies.is_variable(item["input"]):
        return f"{key}: variables such as {shown(item['input'])} are not replaced", "write the value itself"
    if isinstance(context.get("error"), values.NotPossible):
        choices = choices_of(benchmark=str(place[1]), parameter=str(place[2]))
        return f"{key}: {shown(context['error'].value)} is not possible", f"choose {', '.join(choices)}"
    if kind == "value_error" and item["input"] is None:
        return f"{key}: nothing stands behind it", "write a value, or remove the key"
    what, fix = _of_value(kind, item["input"], context, str(item["msg"]))
    return f"{key}: {what}", remedies.of_value(place, kind, item["input"]) or fix


def _of_value(kind: str, value: object, context: Mapping[str, Any], message: str) -> tuple[str, str | None]:
    """Return what is wrong with a value, and the fix where its kind of error tells one."""
    if kind == "value_error":
        return str(context["error"]), None
    if kind == "literal_error":
        return f"{_written(value)} is not possible", f"choose {context['expected']}"
    if kind == "too_short":
        return "nothing stands in it", "name at least one"
    if kind == "string_too_short":
        return "nothing stands in it", "write it, or leave the key out"
    if kind == "too_long":
        return f"at most {context['max_length']} may stand in it", "leave some out"
    if kind == "string_pattern_mismatch":
        what, fix = _BAD_FILE if context["pattern"] == COMPANION_PATTERN else _BAD_NAME
        return f"{shown(value)} {what}", fix
    if kind in _WANTED:
        wanted, fix = _WANTED[kind]
        return f"{wanted} is expected, not {_written(value)}", fix
    if kind in _BOUNDS:
        bound = next(iter(context.values()))
        least = f"{bound:g}" if isinstance(bound, float) else bound
        return f"{_BOUNDS[kind]} {least} is expected, not {_written(value)}", None
    return f"{message[0].lower()}{message[1:]}, not {_written(value)}", None


def _unknown_key(place: Place, known: Collection[str], value: object, page: str) -> tuple[str, str | None]:
    """Return what is wrong with a key that nothing knows, and the fix; `value` is what stands behind it."""
    name = str(place[-1])
    what = f"there is no key {shown(name)} here"
    if name.isdigit():
        return what, "put several values of one key in brackets: [8, 16]"
    if page == OF_PAPERS:
        return what, nearest(name, known, page)
    if known and _MEANT.get(name.lower()) not in known and (fix := remedies.of_key(place, value)):
        return what, fix
    is_library = place[:1] == ("mpi",) and len(place) == 3 and (value is None or isinstance(value, dict))
    if is_library and remedies.is_short(name):
        return f"mpi: {name!r} is no key of a library", f"write [{name}], or [{{name: {name}, ...}}] with its keys"
    return what, nearest(name, known) if known else None


def _written(value: object) -> str:
    """Return a value about as it stands in the plan."""
    if value is None:
        return "nothing"
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a mapping"
    return str(value).lower() if isinstance(value, bool) else shown(value)


_NESTED: Mapping[Any, type[BaseModel]] = {
    "ssh": place_schema.SshSection,
    "submit": place_schema.SubmitSection,
    "socket": benchmark_sections.SocketSection,
    "verbs": benchmark_sections.VerbsSection,
    "lab": lab_schema.LabFabricSection,
    "many_to_one": benchmark_sections.ManyToOneSection,
    "many_to_many": benchmark_sections.ManyToManySection,
    "victim": benchmark_sections.VictimSection,
    "applications": application_schema.ApplicationsSection,
    "npb": application_schema.NpbSection,
    "hpl": application_schema.HplSection,
    "services": service_schema.ServicesSection,
    "hdfs": service_schema.HdfsSection,
    "hbase": service_schema.HbaseSection,
    "tune": tune_schema.TuneSection,
    "objective": tune_schema.ObjectiveSection,
    "imb_options": imb_schema.ImbOptionsSection,
    "osu_options": osu_schema.OsuOptionsSection,
    "otherwise": place_schema.StandInSection,
}
"""The key behind which a section stands, wherever that is."""
_NAMED: Mapping[Any, type[BaseModel]] = {
    "benchmarks": benchmark_sections.BenchmarkSection,
    "guests": schema.GuestSection,
    "fabrics": schema.FabricSection,
    "mpi": mpi_schema.MpiSection,
}
"""Keys of a plan with sections behind names of the user's own."""


_OF_PAPERS: Mapping[Any, type[BaseModel]] = {
    "names": paper.NameSection,
    "figures": paper.FigureSection,
    "tables": paper.TableSection,
    "columns": paper.ColumnSection,
    "draw": paper.DrawSection,
    "claims": paper.ClaimSection,
}
"""The key of a paper behind which a section stands."""


def _keys_of_papers(place: Place) -> frozenset[str]:
    """Return the keys that may stand where the last part of `place` stands, in a paper's file."""
    within = (_OF_PAPERS[part] for part in reversed(place[:-1]) if part in _OF_PAPERS)
    return frozenset(next(within, paper.PaperSection).model_fields)


def _known_keys(place: Place) -> frozenset[str]:
    """Return the keys that may stand where the last part of `place` stands."""
    parent = place[-2] if len(place) > 1 else None
    section = schema.PlanSection if parent is None else _NESTED.get(parent) or _NAMED.get(place[0], schema.PlanSection)
    if place[0] == "benchmarks" and len(place) == 3:  # two of them have a section of the plan, too
        section = benchmark_sections.BenchmarkSection
    return frozenset(field.alias or name for name, field in section.model_fields.items())


_MEANT = {
    "nodes": "hosts", "hostlist": "hosts", "nodelist": "hosts", "partition": "queue", "time": "duration",
    "latency": "ping_pong", "lat": "ping_pong", "bw": "bandwidth", "bibw": "bidirectional_bandwidth",
    "mbw_mr": "message_rate", "layer": "layers", "fabric": "fabrics",
    "receiver": "to", "receivers": "to", "sender": "from", "senders": "from", "source": "from", "sources": "from",
    "timeout": "case_timeout", "walltime": "duration", "time_limit": "duration", "transports": "layers",
    "networks": "fabrics", "nic": "interface", "device": "interface", "speed": "rate", "latency_ms": "delay",
    "broadcast": "bcast", "ppn": "ranks_per_host", "ntasks_per_node": "ranks_per_host", "network": "fabric",
    "tcp_wmem": "tcp_send_buffer", "tcp_rmem": "tcp_receive_buffer",
    "wmem_max": "core_wmem_max", "rmem_max": "core_rmem_max", "generic_receive_offload": "gro",
    "generic_segmentation_offload": "gso", "tcp_segmentation_offload": "tso", "large_receive_offload": "lro",
    "rx-usecs": "rx_coalesce_time", "rx_usecs": "rx_coalesce_time", "tx-usecs": "tx_coalesce_time",
    "tx_usecs": "tx_coalesce_time", "rx-frames": "rx_coalesce_frames", "tx-frames": "tx_coalesce_frames",
    "adaptive-rx": "rx_coalesce_adaptive", "txqueuelen": "tx_queue",
}  # fmt: skip
"""What people write who know other programs, and what it is called here, where that is among the known names."""
MOST_LISTED = 16
"""Names of an error: with all benchmarks it would be no sentence any more."""
MOST_LIKE = 6
"""Of more names, those that are told."""


def nearest(name: str, known: Collection[str], page: str = OF_PLANS) -> str:
    """Return which of the known names was probably meant, and all of them; of many (benchmarks) those most like it."""
    spelled = {one.lower(): one for one in known}
    word = name.lower().removeprefix("osu_").removeprefix("mpi_")
    word = word if word in spelled else word.replace("_", "") if word.replace("_", "") in spelled else word
    meant_by_others = _MEANT.get(word, word)
    near = [meant_by_others] if meant_by_others in known else difflib.get_close_matches(name.lower(), spelled, n=1)
    meant = f"did you mean {spelled.get(near[0], near[0])!r}? " if near else ""
    if len(known) > MOST_LISTED:
        listing = ", ".join(difflib.get_close_matches(name, known, n=MOST_LIKE, cutoff=0))
        return f"{meant}most like it: {listing}; {page} lists all {len(known)}"
    return f"{meant}known: {', '.join(sorted(known))}"
