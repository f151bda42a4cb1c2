"""The page in a browser, on a phone and on a screen: nothing of it is out of sight without a cue."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from tests import needs
from tests.analysis.made_up import Shape, write_run

from fabriscope.reports import html_page
from fabriscope.reports.base import Options

SHAPE = Shape(sizes=(1, 64, 4096, 1 << 20), launch_count=3, samples_per_burst=3, stacks=("mpich-5.0.2",))
ASK = """<script>addEventListener("load", () => setTimeout(() => {
  const all = (chosen) => [...document.querySelectorAll(chosen)];
  const wide = (chosen) => all(chosen).filter((one) => one.scrollWidth > one.clientWidth + 1);
  const own = all("figure > svg").filter((one) => one.getBoundingClientRect().right > innerWidth);
  const found = {page: wide("html").length, answers: wide(".scroll:has(> .answers)").length,
    summary: wide(".scroll:has(> .summary)").length, pictures: own.length, width: innerWidth};
  parent.postMessage(Object.entries(found).map((one) => one.join("=")).join(" "), "*");
}, 0));</script>"""

FRAME = """<body style="margin:0"><script>
addEventListener("message", ({ data }) => { document.documentElement.dataset.found = data; });
</script><iframe src="report.html" width="WIDTH" height="3000" style="border:0"></iframe>"""
"""A browser's own window is no narrower than 500 pixels."""


LONG = "/a-folder-of-somebody" * 20
"""What sentences may hold: a path without a blank."""
RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")


def test_nothing_but_what_scrolls_may_be_wider_than_the_page() -> None:
    css = re.sub(r"/\*.*?\*/", "", (html_page.TEMPLATES / "style.css").read_text(), flags=re.DOTALL)
    rules = [(selector.strip(), body) for selector, body in RULE.findall(re.sub(r"@media[^{]*{", "", css))]
    for selector, body in rules:
        least = re.search(r"min-width: (?!0)", body)
        assert not least or re.search(r" td\b", selector), f"{selector} makes the page as wide"
        assert "position: absolute" not in body or "overflow: hidden" in body, f"{selector} may stand out of the page"
    told = dict(reversed(rules))  # the first of each: what is for a phone or for paper comes later
    assert "overflow-x: auto" in told[".scroll"]
    assert "position: relative" in told[".scroll"], "what stands absolutely in a table scrolls with it"
    assert "overflow-wrap: break-word" in told["body"]
    for template in html_page.TEMPLATES.glob("*.j2"):
        text = template.read_text()
        assert text.count("<table") == text.count('<div class="scroll"><table'), template.name


@pytest.mark.parametrize(("width", "open_tables"), [(1280, ("answers", "summary")), (400, ("answers",))])
def test_nothing_is_cut_that_does_not_scroll(tmp_path: Path, width: int, open_tables: tuple[str, ...]) -> None:
    chromium = needs.program("chromium")
    (page,) = html_page.render(write_run(tmp_path / "run", SHAPE).read(), tmp_path, Options())
    text = page.read_text().replace("</body>", f"{ASK}</body>")
    page.write_text(text.replace("</main>", f"<p>{LONG}</p><ul><li>{LONG}</li></ul><h3>{LONG}</h3></main>"))
    frame = tmp_path / "frame.html"
    frame.write_text(FRAME.replace("WIDTH", str(width)))
    argv = [
        chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
        f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1400,3000", "--virtual-time-budget=30000",
        "--dump-dom", frame.as_uri(),
    ]  # fmt: skip
    dom = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=True).stdout
    told = re.search(r'data-found="([^"]*)"', dom)
    assert told is not None
    found = dict(part.split("=") for part in told[1].split())
    assert found["width"] == str(width)
    assert {name: found[name] for name in ("page", "pictures", *open_tables)} == dict.fromkeys(
        ("page", "pictures", *open_tables), "0"
    )
