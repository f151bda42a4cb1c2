"""SARIF as its standard (OASIS, 2.1.0) has it: what each object must have, and what it may not have."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from tests.audit.made_up import scene

from fabriscope.audit import auditing
from fabriscope.cli import _audit_text
from fabriscope.model.audit import Finding, Verdict

TEXT = {"type": "string", "minLength": 1}


def _object(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    properties = {**required, **(optional or {})}
    return {
        "type": "object", "required": list(required), "properties": properties, "additionalProperties": False
    }  # fmt: skip


def _list(of: dict[str, Any], least: int = 0) -> dict[str, Any]:
    return {"type": "array", "items": of, "minItems": least}


LEVEL = {"enum": ["none", "note", "warning", "error"]}
MESSAGE = _object({"text": TEXT})
RULE = _object(
    {"id": TEXT},
    {"shortDescription": MESSAGE, "fullDescription": MESSAGE, "defaultConfiguration": _object({}, {"level": LEVEL})},
)
LOCATION = _object({}, {"logicalLocations": _list(_object({"fullyQualifiedName": TEXT}, {"kind": TEXT}), 1)})
RESULT = _object(
    {"message": MESSAGE},
    {
        "ruleId": TEXT,
        "level": LEVEL,
        "locations": _list(LOCATION),
        "suppressions": _list(_object({"kind": {"enum": ["inSource", "external"]}}, {"justification": TEXT})),
    },
)
INVOCATION = _object(
    {"executionSuccessful": {"type": "boolean"}},
    {"toolExecutionNotifications": _list(_object({"message": MESSAGE}, {"level": LEVEL}))},
)
TOOL = _object({"driver": _object({"name": TEXT}, {"version": TEXT, "rules": _list(RULE)})})
RUN = _object({"tool": TOOL}, {"results": _list(RESULT), "invocations": _list(INVOCATION)})
LOG = _object({"version": {"const": "2.1.0"}, "runs": _list(RUN)}, {"$schema": TEXT})
"""The parts of the standard's schema that a log of ours uses; everything else is refused."""
CHECKS = auditing.checks()


def logged(verdict: Verdict, *unread: str) -> Any:
    return json.loads(_audit_text.shown("sarif", verdict, CHECKS, [], unread))


def wrong() -> Verdict:
    host = {"interface.eth0.mtu_bytes": 4200, "memory.swap_used_bytes": None, "cpu.governor": "powersave"}
    return auditing.audit(scene(host, {"pfc_watchdog": False, "ecn_3_bytes": "9000 18000"}))


def accepted(verdict: Verdict) -> Verdict:
    first = verdict.findings[0]
    parts = (first.check, first.severity, first.path, first.hosts, first.what, first.witnesses, first.remedy, "known")
    return Verdict((Finding(*parts), *verdict.findings[1:]), verdict.unseen, verdict.passed, verdict.idle)


@pytest.mark.parametrize(
    ("verdict", "unread"),
    [(wrong(), ()), (accepted(wrong()), ("host node9: no answer",)), (auditing.audit(scene()), ()), (Verdict(), ())],
)
def test_a_log_is_as_the_standard_has_it(verdict: Verdict, unread: tuple[str, ...]) -> None:
    log = logged(verdict, *unread)
    jsonschema.validate(log, LOG)
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(rules) == len(set(rules))
    assert {result["ruleId"] for result in run["results"]} == set(rules)
    is_whole = not unread and not verdict.is_empty
    assert run["invocations"][0]["executionSuccessful"] is is_whole


def test_what_is_accepted_is_suppressed_and_nothing_else() -> None:
    results = logged(accepted(wrong()))["runs"][0]["results"]
    assert [one.get("suppressions") for one in results[:2]] == [[{"kind": "external", "justification": "known"}], None]


def test_a_log_without_what_it_must_have_is_refused() -> None:
    log = logged(wrong())
    del log["runs"][0]["results"][0]["message"]
    with pytest.raises(jsonschema.ValidationError, match="'message' is a required property"):
        jsonschema.validate(log, LOG)
