"""What a user says of logs beside them: labels, for all or by patterns of file names, and what they tell of wires."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from fabriscope.model import plain_files
from fabriscope.model.errors import PlanError, shown
from fabriscope.model.fabric import Fabric
from fabriscope.model.foreign import is_digits
from fabriscope.model.foreign_yaml import decode_yaml
from fabriscope.model.units import parse_duration_ns, parse_rate_bits_per_s, parse_size_bytes

LABELS_FILE = "labels.yaml"
"""In a folder of logs: patterns of file names to labels."""
OF_THE_WIRE: Mapping[str, Callable[[str], int]] = {
    "rate": parse_rate_bits_per_s, "delay": parse_duration_ns, "mtu": parse_size_bytes,
}  # fmt: skip
"""Labels that say what a fabric's wire allows, in one direction."""
KEYS = ("fabric", "layer", "mpi", "placement", "hosts", "window", "size", "nagle", *OF_THE_WIRE)
"""Labels that have a meaning; any other one tells curves apart."""
UNSTATED = "unstated"
MOST_LABEL_BYTES = 1 << 20
_FIX = "write `'roce/*.log': {fabric: roce, mpi: openmpi}`"
Labels = Mapping[str, str]


@dataclass(frozen=True)
class Said:
    """What labels say of a log's tests; None where they do not."""

    window: int | None = None
    """Messages in flight."""
    host_count: int | None = None
    """How many hosts of ranks are named."""
    size_bytes: int | None = None
    """Of a message."""
    has_nagle: bool | None = None
    """Whether Nagle's algorithm was on."""
    layer: str | None = None
    """What was measured."""


def said_by(labels: Labels) -> Said:
    """Return what labels that were checked say of a log's tests."""
    size, nagle = labels.get("size"), labels.get("nagle")
    return Said(
        int(labels["window"]) if "window" in labels else None,
        len(labels["hosts"].split("+")) if "hosts" in labels else None,
        None if size is None else parse_size_bytes(size),
        None if nagle is None else nagle == "on",
        labels.get("layer"),
    )


def parse_labels(text: str) -> dict[str, str]:
    """Return `fabric=roce,mpi=openmpi` as labels; raises PlanError."""
    found: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals or not name.strip() or not value.strip() or name.strip() in found:
            what = f"a label should be NAME=VALUE, each name once, and is {shown(part)}"
            raise PlanError(what, where="--label", fix="for example --label fabric=roce,mpi=openmpi")
        found[name.strip()] = value.strip()
    check(found, "--label")
    return found


def rules_of(path: Path) -> dict[str, dict[str, str]]:
    """Return pattern to labels of a labels file."""
    try:
        text = plain_files.read(path, MOST_LABEL_BYTES)
    except OSError as error:
        raise PlanError(f"the labels cannot be read: {plain_files.why(error)}", where=str(path)) from error
    if len(text) > MOST_LABEL_BYTES:
        raise PlanError(f"the labels have more than {MOST_LABEL_BYTES >> 10} KiB", where=str(path))
    decode_yaml(text, str(path), error=PlanError)
    rules: dict[str, dict[str, str]] = {}
    for pattern, of in _pairs(yaml.compose(text, Loader=yaml.SafeLoader), "labels", str(path)).items():
        words = {name: (value.tag, value.value) for name, value in _pairs(of, shown(pattern), str(path)).items()}
        rules[pattern] = {name: "" if tag.endswith(":null") else value for name, (tag, value) in words.items()}
        bare = next((name for name, value in rules[pattern].items() if not isinstance(value, str) or not value), None)
        if bare is not None:
            raise PlanError(f"{shown(pattern)} has the label {shown(bare)} without a word", where=str(path), fix=_FIX)
        check(rules[pattern], str(path))
    return rules


def _pairs(node: yaml.Node | None, what: str, where: str) -> dict[str, yaml.Node]:
    """Return the pairs of a mapping, names as they are written; raises PlanError for none, and for a name twice."""
    if not isinstance(node, yaml.MappingNode):
        raise PlanError(f"{what} should be a mapping", where=where, fix=_FIX)
    pairs: dict[str, yaml.Node] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.value in pairs:
            place = f"{where}: line {key.start_mark.line + 1}"
            raise PlanError(f"{shown(key.value)} stands twice, or is no name", where=place)
        pairs[key.value] = value
    return pairs


def unmatched(
    files: Sequence[tuple[Path, Path]], rules: Mapping[Path | None, tuple[Path | None, Mapping[str, Labels]]]
) -> Iterator[str]:
    """Yield the patterns of labels, of all files or of those below a folder, that are those of none."""
    for below, (where, patterns) in rules.items():
        of = [(path, root) for path, root in files if below in (None, root)]
        for pattern, labels in patterns.items():
            if not any(labels_of(path, root, {pattern: labels}) for path, root in of):
                yield f"{where}: the pattern {shown(pattern)} is that of no file"


def labels_of(path: Path, root: Path, rules: Mapping[str, Labels]) -> dict[str, str]:
    """Return the labels that patterns give a file below a folder."""
    name = str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
    of = [labels for pattern, labels in rules.items() if fnmatch.fnmatch(name, pattern)]
    return {key: value for labels in of for key, value in labels.items()}


def check(labels: Labels, where: str) -> None:
    """Raise PlanError for labels that have a meaning and cannot have this one."""
    for key, parse in (*OF_THE_WIRE.items(), ("size", parse_size_bytes)):
        try:
            if key in labels and parse(labels[key]) < 1:
                raise ValueError(f"{shown(labels[key])} is no {key} of a {'message' if key == 'size' else 'wire'}")
        except ValueError as error:
            raise PlanError(f"the label {key}: {error}", where=where) from error
    window = labels.get("window", "1")
    if not is_digits(window) or not 1 <= int(window) < 1 << 31:
        raise PlanError(f"the window should be a number of messages and is {shown(window)}", where=where)
    if labels.get("nagle", "on") not in ("on", "off"):
        raise PlanError(f"nagle should be on or off and is {shown(labels['nagle'])}", where=where)
    if labels.get("placement", "inter") not in ("inter", "intra"):
        raise PlanError(f"the placement should be inter or intra and is {shown(labels['placement'])}", where=where)
    if not all(host.strip() for host in labels.get("hosts", "one").split("+")):
        raise PlanError(f"the hosts should be like a+b and are {shown(labels['hosts'])}", where=where)
    odd = next((word for pair in labels.items() for word in pair if not word.isprintable()), None)
    if odd is not None:
        raise PlanError(f"a label has invisible characters: {shown(odd)}", where=where)


def fabrics_of(all_labels: Iterable[Labels]) -> list[Fabric]:
    """Return the fabrics of whose wires labels say something; raises PlanError where two logs say two things of one."""
    said: dict[str, dict[str, int]] = {}
    for labels in all_labels:
        name = labels.get("fabric", UNSTATED)
        for key in OF_THE_WIRE.keys() & labels.keys():
            value = OF_THE_WIRE[key](labels[key])
            if said.setdefault(name, {}).setdefault(key, value) != value:
                raise PlanError(f"two labels say two things of the {key} of the fabric {shown(name)}", where="labels")
    return [
        Fabric(
            name, {}, line_rate_bits_per_s=of.get("rate"), mtu_bytes=of.get("mtu"), delay_ns=of.get("delay")
        )
        for name, of in said.items()
    ]  # fmt: skip
