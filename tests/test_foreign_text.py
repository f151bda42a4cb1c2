"""The border to text of others: what is not plainly a number, a text or a list of them is refused, with its place."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fabriscope.model.errors import ParseError, StoreError
from fabriscope.model.foreign import Foreign, decode_json, number, shown, whole

DEEP = "[" * 5000 + "]" * 5000


@pytest.mark.parametrize("text", ["1", "-2.5", "1e3", ".5", "5.", "+4", "0"])
def test_a_number_is_what_stands_there(text: str) -> None:
    assert number(text, "x", "here") == float(text)


@pytest.mark.parametrize(
    "text", ["", "inf", "-inf", "nan", "1e999", "1_000", "٣", "0x10", " 1", "1 ", "1,5", "--1", "1e", "9" * 400, "²"]
)
def test_what_is_no_plain_number_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="here: x should be a number"):
        number(text, "x", "here")
    with pytest.raises(ParseError, match="here: x should be a whole number"):
        whole(text, "x", "here")


def test_ranges_are_checked() -> None:
    assert number("0", "x", "here", least=0) == 0
    with pytest.raises(ParseError, match=r"at least 0 and is '-0\.5'"):
        number("-0.5", "x", "here", least=0)
    with pytest.raises(ParseError, match="whole number of 0 to 9223372036854775807"):
        whole(str(2**63), "x", "here")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("NaN", "NaN is no number of JSON"),
        ("[1e999]", "too large"),
        ('{"a": 1, "a": 2}', "'a' stands twice"),
        (DEEP, "levels"),
        ("[" * 70 + "]" * 70, "more than 64 levels"),
        ('{"a":' * 70 + "1" + "}" * 70, "more than 64 levels"),
        ("9" * 5000, "a number in it has more than 4300 digits$"),
        ("{", "no JSON"),
        (b"\xff", "byte 1 is no part of a text in UTF-8$"),
    ],
)
def test_what_json_does_not_know_is_refused(text: str | bytes, says: str) -> None:
    with pytest.raises(StoreError, match=says) as caught:
        decode_json(text, "file, line 3", error=StoreError)
    assert str(caught.value).startswith("file, line 3: ")


def test_a_wide_text_is_not_a_deep_one() -> None:
    assert decode_json("[" + ",".join(["[]"] * 1000) + "]", "x") == [[]] * 1000


def test_every_step_is_checked() -> None:
    report = Foreign.json('{"end": {"bytes": 12, "ok": true, "ratio": 0.5, "name": "x", "list": [1, 2]}}', "iperf3")
    assert report.at("end", "bytes").whole() == 12
    assert report.at("end", "list").wholes() == (1, 2)
    assert report.at("end", "ratio").number(least=0) == 0.5
    assert report.at("end", "name").text() == "x"
    assert report.at("end", "ok").flag() is True
    assert report.get("absent", "below") is None
    assert dict(report.at("end").members())["bytes"].path == "end.bytes"
    refused: list[tuple[tuple[str, ...], Callable[[Foreign], object], str]] = [
        (("end", "ok"), Foreign.whole, "end.ok should be a whole number .* and is true"),
        (("end", "ok"), Foreign.number, "end.ok should be a number and is true"),
        (("end", "ratio"), Foreign.whole, "and is 0.5"),
        (("end", "name"), Foreign.items, "should be a list and is 'x'"),
        (("end", "list"), Foreign.mapping, "should be an object and is a list"),
        (("end",), Foreign.text, "end should be a text and is an object"),
        (("end", "bytes"), Foreign.flag, "true or false and is 12"),
    ]
    for path, read, says in refused:
        with pytest.raises(ParseError, match=says):
            read(report.at(*path))
    with pytest.raises(ParseError, match="end has no 'absent'"):
        report.at("end", "absent")
    with pytest.raises(ParseError, match=r"iperf3: it should be an object and is null"):
        Foreign.json("null", "iperf3").at("end")


@pytest.mark.parametrize("values", ["[1, true]", "[1, 2.0]", "[-1]", '["1"]', f"[{2**63}]", "[null]", "{}", "1"])
def test_a_burst_holds_whole_numbers(values: str) -> None:
    with pytest.raises(ParseError):
        Foreign.json(values, "x").wholes()


def test_a_value_is_shown_on_one_short_line() -> None:
    assert shown("a\nb") == "'a\\nb'"
    assert shown(None) == "null"
    assert shown(1) == "1"
    assert shown(10**400) == "a number of more than 64 bits"
    assert len(shown("x" * 1000)) < 80
