"""What `lab set` changed is what `lab status` tells."""

from __future__ import annotations

import json
import secrets

from click.testing import CliRunner
from tests import needs

from fabriscope import lab
from fabriscope.cli.lab import COMMAND
from fabriscope.lab import changes
from fabriscope.lab.presets import PRESETS
from fabriscope.model.lab import LabSpec


def test_what_is_changed_of_all_links_replaces_what_one_had() -> None:
    fabric = {"switch": {"loss_share": 0.0, "on_full": "drop", "queues": {"xoff_bytes": None}}}
    changes.note(fabric, {"loss_share": 0.1, "is_down": True}, ["b"])
    assert changes.words(fabric) == ["b: loses 10 % of all frames, the link is down"]
    changes.note(fabric, {"loss_share": 0.01, "xoff_bytes": 20480}, ())
    assert fabric["switch"] == {"loss_share": 0.01, "on_full": "drop", "queues": {"xoff_bytes": 20480}}
    assert changes.words(fabric) == ["b: the link is down"]
    changes.note(fabric, {"is_down": False}, ())
    assert changes.words(fabric) == []
    changes.note(fabric, {"is_down": True}, ())
    assert changes.words(fabric) == ["every link is down"]


def test_status_tells_what_was_set() -> None:
    needs.lab()
    name = f"changed-{secrets.token_hex(4)}"
    built = lab.up(LabSpec(("a", "b"), {"eth": PRESETS["gige"]}), name=name)
    try:
        numbers = ["--buffer", "64KiB", "--delay", "1ms", "--rate", "100Mb/s"]
        cards = ["--rx-coalesce-time", "80us", "--rx-coalesce-frames", "15"]
        for words in (numbers, cards, ["--loss", "1%"], ["--host", "b", "--drop-every", "10"]):
            done = CliRunner().invoke(COMMAND, ["set", "eth", "--lab", name, *words])
            assert done.exit_code == 0, done.output
        said = CliRunner().invoke(COMMAND, ["status"]).output
        assert "100 Mb/s, delay 1 ms, buffer 64 KiB," in said
        refused = CliRunner().invoke(COMMAND, ["set", "eth", "--lab", name, "--host", "b", "--buffer", "1KiB"])
        assert "buffer is of a whole fabric, not of one host" in str(refused.exception)
        for words in (["--host", "b", *cards], ["--rx-coalesce-frames", "0"]):
            assert CliRunner().invoke(COMMAND, ["set", "eth", "--lab", name, *words]).exit_code != 0
        done = CliRunner().invoke(COMMAND, ["set", "eth", "--lab", name, "--rx-coalesce-time", "none"])
        labs = json.loads(CliRunner().invoke(COMMAND, ["status", "--json"]).output)["labs"]
        (own,) = (one for one in labs if one["name"] == name)  # others may stand beside it
        assert (done.exit_code, own["fabrics"]["eth"]["switch"]["rx_coalesce_ns"]) == (0, 0)
        assert (
            "MTU 1500 B, hands over after 80 µs or 15 frames, loses 1 % of all frames\n    b: loses one frame in 10\n"
            in said
        )
    finally:
        built.down()
