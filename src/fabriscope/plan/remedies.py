"""What to write in place of a mistake, where what stands there tells what was meant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.plan import benchmark_sections, lab_schema, mpi_schema, place_schema, schema
from fabriscope.plan.yaml_places import Place

MOST_REPEATED = 3
"""Names of a list that a remedy writes out."""
MOST_WORDS = 8
"""Of ssh, likewise."""
_MEANT: Mapping[tuple[str, str], str] = {
    ("placements", "both"): "write [inter, intra]",
    ("placements", "all"): "write [inter, intra]",
    ("margin", "1.0"): "write 1% for a hundredth",
}
"""A key and what it does not take, to what was meant."""
_INSTEAD = {
    **dict.fromkeys(
        ("iterations", "repetitions", "repeats", "runs", "trials"),
        "`launches` says how often programs are started, `budget` for how long is measured",
    ),
    **dict.fromkeys(
        ("args", "flags", "options", "mca"),
        "options of mpirun are variables here, as `env: {OMPI_MCA_btl_tcp_links: 2}`",
    ),
    "claims": "it stands in the paper's file, which `paper: {file: x.paper.yaml}` names",
    **dict.fromkeys(("knobs", "objective"), "it stands in `tune: {fabric: gige, ...}`"),
    **dict.fromkeys(("warmup", "warm_up", "skip"), "leave it out: operations that warm up are made, and not counted"),
}
"""Keys of other programs, and what stands in their place."""
_OF_SWITCHES = {
    "latency": "write `delay: 5us`", "bandwidth": "write `rate: 1Gb/s`", "speed": "write `rate: 1Gb/s`",
    "queue": "write `buffer: 128KiB`",
}  # fmt: skip
_OF_SSH = {"user": "-l ", "port": "-p ", "key": "-i ", "identity": "-i ", "options": "", "args": ""}
"""What people write below `ssh`, and the option of ssh."""
_OF_INTERFACES = {"mtu": "`settings: {mtu: 9000}`", "rate": "`line_rate: 10Gb/s`"}
"""Keys of a switch of the lab, and what is written of a real interface instead."""
_LAB = lab_schema.LabFabricSection
_EVERYWHERE = ("name", "path", "fabrics", "version")
"""Keys that are written where something else is meant than what they are in the one section that has them."""
_TOP = "at the left margin of the plan"
_HOMES: Mapping[str, type[BaseModel]] = {
    _TOP: schema.PlanSection,
    "in a benchmark": benchmark_sections.BenchmarkSection,
    "in a fabric": schema.FabricSection,
    "in a fabric's `lab: {preset: gige, ...}`": _LAB,
    "in a benchmark's `socket: {...}`": benchmark_sections.SocketSection,
    "in a benchmark's `verbs: {...}`": benchmark_sections.VerbsSection,
    "in an item of `mpi:`": mpi_schema.MpiSection,
    "in the plan's `many_to_one: {...}`": benchmark_sections.ManyToOneSection,
    "in `submit:`": place_schema.SubmitSection,
}
"""Where the keys of a section stand, in words."""
_NO_TRUTHS = {
    "mpi": "write the library's name, as `mpi: openmpi`; see `fabriscope mpi list`",
    "ssh": "leave it out, or write its words, as `ssh: ssh -p 22`",
}
"""Keys that are no switches, and what to do where true or false stands behind them."""
_TRUTHS = {**dict.fromkeys(("yes", "true", "on"), "true"), **dict.fromkeys(("no", "false", "off"), "false")}


def is_short(text: str) -> bool:
    """Return whether a text is one that a remedy may repeat: a name."""
    return re.fullmatch(r"[A-Za-z0-9._-]{1,30}", text) is not None


def is_variable(value: object) -> bool:
    """Return whether a variable of a shell stands there, which nothing replaces in a plan."""
    return isinstance(value, str) and re.match(r"\$[A-Za-z_{]", value) is not None


def of_value(place: Place, kind: str, value: object) -> str | None:
    """Return the remedy for a value, by the schema's kind of error; None where what stands there tells none."""
    text = str(value)
    keys = [part for part in place if not isinstance(part, int)]
    if len(keys) == 1 and (meant := _MEANT.get((keys[0], text.lower()))):
        return meant
    if kind in ("dict_type", "model_type"):
        return _as_mapping(place, value)
    if kind in ("tuple_type", "list_type"):
        return _as_list(value)
    if kind in ("bool_type", "bool_parsing"):
        return of_truth(value)
    if kind.startswith("int_") and re.fullmatch(r"[0-9]{1,3}(,[0-9]{3})+", text):
        return f"write {text.replace(',', '')}"
    if kind.startswith("int_") and keys[-1:] == ["window"] and re.fullmatch(r"[0-9]+ ?[KMG]i?B?", text):
        count = re.match("[0-9]+", text)
        return f"a window counts messages: write {count[0] if count else 64}; bytes are `in_flight_limit: {text}`"
    if kind.startswith("int_") and place and (allowed := of_range(place)):
        return f"write it in digits, {allowed}"
    if kind.startswith("int_") and re.fullmatch(r"[0-9]+ ?(\.\.|-) ?[0-9]+", text):
        several = ", or several in brackets: [1, 2, 4]" if place[0] == "benchmarks" else ""
        return f"ranges are of sizes and streams alone: write one number{several}"
    if kind.startswith("int_") and keys == ["launches"] and kind != "int_from_float":
        return "write it in digits, such as 1000, or auto for one that the run chooses"
    if kind == "string_type" and place[-1:] == ("interface",):
        return "write one for all hosts, as eth0, or one for each, as {node1: eth0, node2: eth1}"
    if kind == "string_pattern_mismatch" and text.startswith("-") and is_short(text):
        return f"leave the dashes out: {text.lstrip('-')}"
    if place[:1] == ("mpi",) and place[-1:] == ("name",) and re.fullmatch(r"[A-Za-z0-9._-]{1,40}/[\w.+-]{1,40}", text):
        return f"write [module:{text}], as `fabriscope mpi list` shows it"
    if place[:1] == ("mpi",) and place[-1:] == ("name",) and re.fullmatch(r"/[A-Za-z0-9._/-]{1,200}", text):
        return f"write [{{name: {text.rstrip('/').rpartition('/')[2]}, path: {text}}}]"
    return None


_RANGED: Mapping[str, type[BaseModel]] = {
    "verbs": benchmark_sections.VerbsSection,
    "fabrics": schema.FabricSection,
}


def of_range(place: Place) -> str | None:
    """Return which numbers a key of a fabric or of verbs takes, `from 0 to 31`; None where the schema bounds none."""
    keys = [str(part) for part in place if not isinstance(part, int)]
    section = _RANGED.get("verbs" if "verbs" in keys else keys[0])
    told = section.model_json_schema()["properties"].get(keys[-1], {}) if section is not None else {}
    low, high = (re.search(rf"'{end}': (\d+)", str(told)) for end in ("minimum", "maximum"))
    return f"from {low[1]} to {high[1]}" if low and high else None


def of_colon(text: object) -> str | None:
    """Return the remedy for a key and a value that no blank parts; None for other text."""
    key, colon, value = str(text).partition(":")
    if isinstance(text, str) and colon and is_short(key) and re.fullmatch(r"[^\s/:].{0,40}", value):
        return f"put a blank after the colon: `{key}: {value}`"
    return None


def of_truth(word: object) -> str | None:
    """Return the remedy for a truth in quotes; None where it is none."""
    truth = _TRUTHS.get(str(word).lower())
    return f"write {truth}, without quotes" if truth else None


def of_key(place: Place, value: object) -> str | None:
    """Return the remedy for a key that nothing knows where it stands; None where its name and value tell none."""
    name = str(place[-1])
    if (spaced := of_colon(name)) is not None:
        return spaced
    if len(place) == 1 and name in BENCHMARKS:
        return f"indent it below `benchmarks:`, as `  {name}: ...`"
    if name == "name" and place[0] == "fabrics":
        return "leave it out: a fabric's name is its key, as in `near: {lab: gige}`"
    if place[0] == "ssh" and name in _OF_SSH and isinstance(value, str | int):
        return f"write `ssh: ssh {_OF_SSH[name]}{value}`"
    if name in _INSTEAD:
        return _INSTEAD[name]
    if place[-2:-1] == ("lab",) and name in _OF_SWITCHES:
        return _OF_SWITCHES[name]
    if place[0] == "fabrics" and len(place) == 3 and name == "dscp" and isinstance(value, int):
        return f"write `traffic_class: {4 * value}`; what a switch of the lab makes of it is `lab: {{dscp: ...}}`"
    homes = [home for home, section in _HOMES.items() if name in _keys(section)]
    changes = value if isinstance(value, Mapping) else {} if value is None else None
    is_preset = not homes and is_short(name) and changes is not None and changes.keys() <= _keys(_LAB)
    if place[-2:-1] == ("lab",) and is_preset:
        return f"write `lab: {name}` for a preset, and with changes `lab: {{preset: {name}, rate: 1Gb/s}}`"
    is_of_fabric = place[0] == "fabrics" and len(place) == 3
    real = f"; of a real interface write {_OF_INTERFACES[name]}" if is_of_fabric and name in _OF_INTERFACES else ""
    return f"it stands {' or '.join(homes)}{real}" if homes and name not in _EVERYWHERE else None


def _keys(section: type[BaseModel]) -> frozenset[str]:
    return frozenset(field.alias or name for name, field in section.model_fields.items())


def _as_list(value: object) -> str | None:
    """Return how a list is written where a mapping stands; None where its keys are none that can be repeated."""
    names = [str(name) for name in value] if isinstance(value, Mapping) else []
    is_repeated = 0 < len(names) <= MOST_REPEATED and all(map(is_short, names))
    return f"write [{', '.join(names)}]" if is_repeated else None


def _as_mapping(place: Place, value: object) -> str | None:
    """Return how a mapping is written where something else stands, by what stands there."""
    if (spaced := of_colon(value)) is not None:
        return spaced
    if len(place) == 1 and place[0] in ("fabrics", "benchmarks"):
        return _of_names(str(place[0]), value)
    if isinstance(value, bool) and place[0] in _NO_TRUTHS:
        return _NO_TRUTHS[str(place[0])]
    if place[0] in ("fabrics", "benchmarks") and len(place) == 2 and place[1] in _keys(schema.PlanSection):
        return f"it stands {_TOP}"
    if place[:1] == ("fabrics",) and len(place) == 2 and isinstance(value, str) and is_short(value):
        return f"write `{{lab: {value}}}` for a fabric of the lab, `{{interface: {value}}}` for one of real hosts"
    if place[:1] == ("benchmarks",) and len(place) == 2 and place[1] in _keys(benchmark_sections.BenchmarkSection):
        return f"it stands inside a benchmark, as `ping_pong: {{{place[1]}: ...}}`"
    if place[:1] == ("benchmarks",) and len(place) == 2:
        sizes = _sizes(value)
        return f"write `{place[1]}: {{sizes: {sizes}}}`" if sizes else f"write `{place[1]}: {{}}`"
    words = list(map(str, value)) if place == ("ssh",) and isinstance(value, list) else []
    if 0 < len(words) <= MOST_WORDS and all(re.fullmatch(r"[\w./@:=~+-]{1,60}", word) for word in words):
        return f"write `ssh: {' '.join(words)}`"
    if place == ("paper",) and isinstance(value, str) and is_short(value):
        return f"write `paper: {{file: {value}}}`"
    if place[-1:] == ("lab",) and isinstance(value, list):
        return "write `lab: gige`, or `lab: {preset: gige, rate: 500Mb/s}`"
    pairs = [str(item).lstrip("-").partition("=")[::2] for item in value] if isinstance(value, list) else []
    if pairs and all(is_short(key) and is_short(text) for key, text in pairs[:MOST_REPEATED]):
        return f"write {{{', '.join(f'{key}: {chr(34)}{text}{chr(34)}' for key, text in pairs[:MOST_REPEATED])}}}"
    return None


def _of_names(key: str, value: object) -> str:
    """Return how the plan's fabrics or benchmarks are written where no mapping of their names stands."""
    items: list[Any] = value if isinstance(value, list) else [value]
    inside = "{lab: NAME}" if key == "fabrics" else "{}"
    if items and all(isinstance(item, str) and is_short(item) for item in items):
        written = ", ".join(f"{item}: {inside.replace('NAME', item)}" for item in items[:MOST_REPEATED])
        return f"write {{{written}{', ...' if len(items) > MOST_REPEATED else ''}}}"
    example = "near: {lab: gige}" if key == "fabrics" else "ping_pong: {}"
    if isinstance(value, list):
        return f"write `{example}` lines, indented below it, without `-`: the name is the key"
    return f"write for example `{example}`, indented below it"


def _sizes(value: object) -> str:
    """Return what stands where a benchmark's section belongs as its sizes; empty where it can be none."""
    if isinstance(value, list) and value and all(isinstance(one, int | str) for one in value):
        value = f"[{', '.join(map(str, value))}]" if len(value) <= MOST_REPEATED else ""
    text = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
    return text if re.fullmatch(r"[\[0-9][0-9A-Za-z., ]{0,40}\]?", text) else ""
