"""Names in a plan that nobody knows: of benchmarks, layers, instruments and the lab's presets.

They are looked for in what the file says, so that they are told beside whatever else is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from fabriscope.model.benchmark_kind import APPLICATION
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.errors import shown
from fabriscope.plan.mistakes import Mistake, nearest
from fabriscope.plan.schema import PlanSection
from fabriscope.plan.vocabulary import Vocabulary

_CHANGE = re.compile(r"[a-z_]{1,20}=[A-Za-z0-9./%]{1,20}")
_LAYERS_MEANT = {**dict.fromkeys(("rdma", "roce", "ib", "infiniband", "iwarp"), "verbs"), "sockets": "tcp"}
"""What people call layers, and their names."""


def names(data: Mapping[str, object], words: Vocabulary) -> Iterator[Mistake]:
    """Yield where a name stands that is not in the vocabulary, what is wrong, and what to do.

    The document may be wrong in any other respect.
    """
    swept = {one for one in words.benchmarks if kind_of(one).pattern != APPLICATION} - {"empty"}
    layers = {*words.layers, *words.left_out}
    yield from _of_list("benchmark", data, words.benchmarks, swept)
    yield from _of_list("layer", data, layers, words.layers)
    yield from _of_list("instrument", data, words.instruments, words.instruments)
    fabrics = data.get("fabrics")
    for name, fabric in fabrics.items() if isinstance(fabrics, Mapping) else ():
        lab = fabric.get("lab") if isinstance(fabric, Mapping) else None
        preset = lab.get("preset") if isinstance(lab, Mapping) else lab
        if isinstance(preset, str) and preset not in words.presets:
            place = ("fabrics", name, "lab")
            first, *changes = re.split(r"[,; ]+", preset)
            fix = nearest(preset, words.presets)
            if first in words.presets and changes and all(map(_CHANGE.fullmatch, changes)):
                fix = f"write {{preset: {first}, {', '.join(changes).replace('=', ': ')}}}"
            yield place, f"there is no lab preset {shown(preset)}", fix


def _of_list(
    kind: str, data: Mapping[str, object], known: Collection[str], offered: Collection[str]
) -> Iterator[Mistake]:
    every = data.get(f"{kind}s")
    numbered = [(name, name) for name in every] if isinstance(every, Mapping) else []
    if isinstance(every, list | str):
        numbered = list(enumerate([every] if isinstance(every, str) else every))
    for at, name in numbered:
        if isinstance(name, str) and name not in known:
            meant = _LAYERS_MEANT.get(name.lower()) if kind == "layer" else None
            hint = f"did you mean {meant!r}? " if meant else ""
            of_plan = kind == "benchmark" and name in PlanSection.model_fields
            fix = "it stands at the left margin of the plan" if of_plan else f"{hint}{nearest(name, offered)}"
            parts = name.replace(",", " ").split()
            fix = f"write [{', '.join(parts)}]" if len(parts) > 1 and set(parts) <= set(known) else fix
            yield (f"{kind}s", at), f"there is no {kind} {shown(name)}", fix
