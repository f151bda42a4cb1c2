"""A comparison as JUnit XML: a suite for each pair of curves, a case for each size and condition."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from fabriscope.analysis.comparing.conditions import MET, OPEN
from fabriscope.store import proofs

if TYPE_CHECKING:
    from fabriscope.running.comparison import Comparison


def check(path: Path) -> None:
    """Raise StoreError for a file that cannot be written, or whose writing would wait for somebody who reads."""
    proofs.check_file(path)


def write(path: Path, found: Comparison) -> None:
    """Write the file; raises StoreError."""
    with proofs.writing(path):
        path.write_text(junit_text(found), encoding="utf-8")


def junit_text(found: Comparison) -> str:
    """Return the file: what is met is a failure, what could not be ruled out is skipped and says so.

    Without conditions each size is one case that passes and tells its verdict.
    """
    root = ElementTree.Element("testsuites", name=found.title)
    for pair in found.pairs:
        suite = ElementTree.SubElement(root, "testsuite", name=f"{pair.where}: {pair.sides[0]} against {pair.sides[1]}")
        for index, cells in enumerate(pair.cells()):
            text = f"{cells[1]} against {cells[2]}: ratio {cells[3]} ({cells[4]}), {cells[5]}"
            for name in found.conditions or [""]:
                case = ElementTree.SubElement(
                    suite, "testcase", classname=pair.where, name=f"{cells[0]} {name}".strip()
                )
                _answer(case, name, pair.answers[name][index] if name else "", text)
        _count(suite)
    _of_the_run(root, found)
    _count(root)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _of_the_run(root: ElementTree.Element, found: Comparison) -> None:
    """Add what is wrong with a whole run: a reader of the file alone must not take it for passed."""
    wrong = []
    if found.conditions and found.lost_count:
        wrong.append(
            ("nothing is lost", f"cases with values in the baseline that failed in the run: {found.lost_count}")
        )
    if found.control_failed:
        wrong.append(("A/A control", "the control failed: nothing of this can be trusted"))
    for name, why in wrong:
        suite = ElementTree.SubElement(root, "testsuite", name="the run")
        case = ElementTree.SubElement(suite, "testcase", classname="the run", name=name)
        ElementTree.SubElement(case, "failure", message=why)
        _count(suite)


def _answer(case: ElementTree.Element, name: str, answer: str, text: str) -> None:
    if answer == MET:
        ElementTree.SubElement(case, "failure", message=f"{name} is met").text = text
    elif answer == OPEN:
        ElementTree.SubElement(case, "skipped", message=f"{name} can be neither shown nor ruled out: {text}")
    else:
        ElementTree.SubElement(case, "system-out").text = text


def _count(suite: ElementTree.Element) -> None:
    for attribute, tag in (("tests", "testcase"), ("failures", "failure"), ("skipped", "skipped")):
        suite.set(attribute, str(len(list(suite.iter(tag)))))
    suite.set("errors", "0")
