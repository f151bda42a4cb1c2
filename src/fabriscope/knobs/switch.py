"""How settings of the lab's switch are read, set and put back; the table is in model/switch_settings.py.

The switch is asked over its control socket by its own program, in the namespaces of the lab: when the lab is no more,
nothing is left to put back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from fabriscope.hosts.access.journal import Change
from fabriscope.knobs.knob import Reads, Setting, number, one_of, size
from fabriscope.model import native
from fabriscope.model.switch_settings import SwitchSetting
from fabriscope.model.units import parse_duration_ns, parse_rate_bits_per_s, parse_share

PROGRAM = "fabriscope-switch"
_MOST_BYTES = 10**15
_MOST_RATE_BITS_PER_S = 10**15
_MOST_DELAY_NS = 24 * 3600 * 10**9
"""What the switch takes (switch/src/words.cc)."""
_MOST_FRAMES = 2**31 - 1
_LEAST_ALPHA, _MOST_ALPHA = Decimal("0.001"), 1000
_NONE = "none"
_ENDED = r"no switch listens at .*: (Connection refused|No such file or directory)"
"""The switch's own words (switch/src/ask.cc): it has ended, and one that is started again has what the lab says."""
_read_size = size(0, _MOST_BYTES)


def _rate(value: Setting) -> str:
    return number(1, _MOST_RATE_BITS_PER_S)(parse_rate_bits_per_s(_plain(value)))


def _delay(value: Setting) -> str:
    text = str(_plain(value))
    return number(0, _MOST_DELAY_NS)(int(text) if text.isdecimal() else parse_duration_ns(text))


def _plain(value: Setting) -> str | int:
    return value if isinstance(value, int) else str(value)


def _size_or_none(value: Setting) -> str:
    return _NONE if value == _NONE else _read_size(value)


def _priorities(value: Setting) -> str:
    text = str(value)
    if text == _NONE:
        return _NONE
    if isinstance(value, bool) or not re.fullmatch(r"[0-7](/[0-7])*", text):
        raise ValueError(f"{text!r} are no priorities from 0 to 7, such as 3 or 3/4, and not none")
    return "/".join(sorted(set(text.split("/"))))


def _marks(value: Setting) -> str:
    if value == _NONE:
        return _NONE
    parts = [_read_size(part) for part in str(value).split("/")] if not isinstance(value, bool) else []
    if len(parts) not in (1, 2) or int(parts[0]) > int(parts[-1]):
        raise ValueError(f"{str(value)!r} is neither a size, nor two of which the first is smaller, nor none")
    return f"{parts[0]}/{parts[-1]}"


def _alpha(value: Setting) -> str:
    text = str(value)
    if isinstance(value, bool) or not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,6})?", text):
        raise ValueError(f"{text!r} is no number such as 0.5 or 2")
    if not _LEAST_ALPHA <= (alpha := Decimal(text)) <= _MOST_ALPHA:
        raise ValueError(f"{text} is not from {_LEAST_ALPHA} to {_MOST_ALPHA}")
    return _decimal(alpha)


def _share(value: Setting) -> str:
    return _decimal(Decimal(str(round(parse_share(_plain(value)), 9))))


def _loss(value: Setting) -> str:
    if (text := _share(value)) == "1":
        raise ValueError(f"{value} is every frame, and nothing could be measured")
    return text


def _coalescing(value: Setting) -> str:
    if value == _NONE:
        return _NONE
    time, _, frames = str(value).partition("/")
    if not frames.isdecimal():
        raise ValueError(f"{str(value)!r} is neither a time and a number of frames, such as 80us/15, nor none")
    time_ns, count = _delay(time), number(1, _MOST_FRAMES)(int(frames))
    return _NONE if time_ns == "0" else f"{time_ns}/{count}"


def _decimal(number: Decimal) -> str:
    """Return a number without an exponent, and without zeros that mean nothing."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


_READERS: Mapping[str, Reads] = {
    "rate": _rate,
    "delay": _delay,
    "buffer": _read_size,
    "on_full": one_of("drop", "pause"),
    "loss_ppb": _loss,
    "coalesce": _coalescing,
    "pfc": _priorities,
    "xoff": _size_or_none,
    "xon": _size_or_none,
    "headroom": _size_or_none,
    "shared": _read_size,
    "alpha_ppm": _alpha,
    "ecn": _marks,
    "ecn_ppb": _share,
    "turns": one_of("strict", "fair"),
}
"""Word of the switch to what reads a plan's value."""


def reader(setting: SwitchSetting) -> Reads:
    """Return the reading of a setting's values; what it returns reads as itself."""
    return _READERS[setting.word]


def told(setting: SwitchSetting, text: str) -> str:
    """Return what the switch says of a setting as plans have it; `0/0.01` where its ports differ."""
    return text if setting.parts == 1 else "/".join(_decimal(Decimal(one) / setting.parts) for one in text.split("/"))


def change(setting: SwitchSetting, fabric: str, socket: str, value: str) -> Change:
    """Return the change of a fabric's switch, which listens at a socket, to a value as `reader` gives it.

    Raises ToolMissing without the switch's program.
    """
    new = value if setting.parts == 1 else str(int(Decimal(value) * setting.parts))
    ask = (str(native.program(PROGRAM)), "--ask", socket)
    told_by = (*ask, f"get fabric={fabric}")
    pattern = rf'"{setting.word}":"([^"]*)"'
    sets = f"set fabric={fabric},{setting.word}="
    what = f"{setting.name} of {fabric}"
    restore = (*ask, sets + "{old}")
    return Change(what, new, "", told_by, (*ask, sets + new), restore, read_pattern=pattern, ended_pattern=_ENDED)
