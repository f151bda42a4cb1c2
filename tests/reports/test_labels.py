"""Names at the ends of lines: none lies over another, each is near its line, and they tell the lines apart."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from tests.analysis.made_up import Shape, write_run

from fabriscope.analysis.results import results_of
from fabriscope.reports._axes import Scale, from_zero, log_scale
from fabriscope.reports._charts import HEIGHT, draw
from fabriscope.reports._figures import figures
from fabriscope.reports._labels import GAP_PIXELS, apart, label_marks, names_of
from fabriscope.reports._packed import packed
from fabriscope.reports._style import style_of

SHAPE = Shape(sizes=(1, 64, 4096, 1 << 20), launch_count=3, samples_per_burst=3, stacks=("mpich-5.0.2",))
SCALE = Scale(1.0, 1000.0, is_log=True)


@dataclass(frozen=True)
class Point:
    """A mark of a curve."""

    x: int
    y: float
    hue: str
    layer: str
    curve: str


def point(name: str, y: float = 10.0, x: int = 1024) -> Point:
    hue, _, layer = name.partition("/")
    return Point(x, y, hue, layer, name)


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([], []),
        ([50.0], [50.0]),
        ([50.0, 50.0], [45.0, 55.0]),
        ([50.0, 45.0], [52.5, 42.5]),
        ([0.0, 100.0, 100.0], [0.0, 90.0, 100.0]),
        ([10.0, 10.0, 30.0], [5.0, 15.0, 30.0]),
        ([10.0, 10.0, 10.0, 30.0], [0.0, 10.0, 20.0, 30.0]),
    ],
)
def test_names_move_as_little_as_can_be(places: list[float], expected: list[float]) -> None:
    assert apart(places, 10, 100) == pytest.approx(expected)


def test_whatever_their_places_names_are_apart_and_in_order() -> None:
    generator = random.Random(7)
    for _ in range(300):
        places = [generator.uniform(0, 100) for _ in range(generator.randint(1, 11))]
        found = apart(places, 10, 100)
        assert all(-1e-9 <= one <= 100 + 1e-9 for one in found)
        pairs = sorted(zip(places, found, strict=True))
        assert all(upper - lower >= 10 - 1e-9 for (_, lower), (_, upper) in itertools.pairwise(pairs))


@pytest.mark.parametrize(
    ("curves", "names"),
    [
        (["gige/TCP", "gige/MPI (openmpi)"], ["TCP", "MPI"]),
        (["gige/TCP", "ib/TCP"], ["gige", "ib"]),
        (["gige/TCP"], ["gige"]),
        (["gige/TCP", "ib/MPI (mpich)"], ["gige · TCP", "ib · MPI"]),
        (["gige/MPI (mpich)", "gige/MPI (openmpi)"], ["MPI (mpich)", "MPI (openmpi)"]),
        (["gige/MPI (mpich)", "gige/MPI (mpich) by imb"], ["MPI", "MPI by imb"]),
        (["gige/TCP", "gige/MPI (in truth shared memory)"], ["TCP", "MPI (in truth shared memory)"]),
        (["TCP/TCP", "shared memory/shared memory"], ["TCP", "shared memory"]),
    ],
)
def test_names_say_what_tells_curves_apart(curves: list[str], names: list[str]) -> None:
    assert names_of([point(name) for name in curves]) == names


def test_curves_of_one_look_keep_their_whole_names() -> None:
    one, other = Point(1, 1.0, "gige", "TCP", "gige · TCP"), Point(1, 1.0, "gige", "TCP", "gige · TCP, again")
    assert names_of([one, other]) == ["gige · TCP", "gige · TCP, again"]


def test_a_name_stands_where_its_line_ends() -> None:
    marks = [point("a/TCP", 900.0, 4), point("a/TCP", 10.0, 512), point("b/TCP", 500.0)]
    first, second = label_marks(marks, SCALE, HEIGHT)
    assert (first.x, first.y, first.edge, first.to) == (512, 10.0, 1024, 10.0)
    assert (second.x, second.to, second.name) == (1024, 500.0, "b")


def test_more_names_than_fit_are_left_to_the_legend() -> None:
    most = HEIGHT // GAP_PIXELS
    assert len(label_marks([point(f"{number}/TCP") for number in range(most)], SCALE, HEIGHT)) == most
    assert label_marks([point(f"{number}/TCP") for number in range(most + 1)], SCALE, HEIGHT) == []
    assert label_marks([], SCALE, HEIGHT) == []
    assert label_marks([point("a/TCP")], None, HEIGHT) == []


def test_a_scale_from_zero_has_room_for_what_is_drawn() -> None:
    assert from_zero([], []) == Scale(0.0, 1.0, is_log=False)
    scale = from_zero([3.0], [2.0, None, 5.0])
    assert scale.low == 0
    assert 5 < scale.high < 6


def test_the_name_of_a_single_value_stands_beside_it() -> None:
    scale, _ = log_scale([20.0], [20.0, 20.0])
    (label,) = label_marks([point("a/TCP", 20.0)], scale, HEIGHT)
    assert label.to == pytest.approx(20.0)


@pytest.fixture(scope="module")
def specs(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    results = results_of(write_run(tmp_path_factory.mktemp("labels") / "run", SHAPE).read())
    style = style_of(results.looks(), for_page=True)
    return [draw(figure, style, for_page=True).spec for figure in figures(results)]


def test_every_line_of_a_figure_has_its_name_and_none_lies_over_another(specs: Sequence[dict[str, Any]]) -> None:
    assert len(specs) > 10
    for spec in specs:
        labels = spec["datasets"]["labels"]
        curves = {row["curve"] for name in ("marks", "impossible") for row in spec["datasets"].get(name, [])}
        assert len({row["name"] for row in labels}) == len(labels) == len(curves)
        scale = next(one["encoding"]["y"]["scale"] for one in spec["layer"] if one["mark"]["type"] == "text")
        low, high = scale["domain"]
        pixels = sorted(HEIGHT * math.log(row["to"] / low) / math.log(high / low) for row in labels)
        assert all(upper - lower >= GAP_PIXELS - 0.2 for lower, upper in itertools.pairwise(pixels))


def test_what_layers_have_in_common_stands_once(specs: Sequence[dict[str, Any]]) -> None:
    def whole(value: Any, shared: Sequence[Any]) -> Any:
        """Do what the page's script does."""
        if isinstance(value, list):
            return [whole(part, shared) for part in value]
        if not isinstance(value, dict):
            return value
        return shared[value["same"]] if "same" in value else {name: whole(part, shared) for name, part in value.items()}

    for spec in specs:
        found = json.loads(json.dumps(packed(spec, "")))
        assert whole(found["layer"], found["shared"]) == json.loads(json.dumps(spec["layer"]))
        assert len(json.dumps(found["layer"]) + json.dumps(found["shared"])) < 0.6 * len(json.dumps(spec["layer"]))
