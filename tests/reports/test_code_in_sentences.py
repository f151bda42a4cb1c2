"""Sentences on the page: what stands between backticks is code, and nothing of a text is markup."""

from __future__ import annotations

import pytest

from fabriscope.reports.html_page import words


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("a longer `duration` helps", "a longer <code>duration</code> helps"),
        ("`a` & `<b>`", "<code>a</code> &amp; <code>&lt;b&gt;</code>"),
        ("one ` alone <i>", "one ` alone &lt;i&gt;"),
        ("", ""),
    ],
)
def test_what_stands_between_backticks_is_code(text: str, page: str) -> None:
    assert words(text) == page
