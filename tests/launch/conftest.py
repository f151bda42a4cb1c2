"""A control group whose sockets the kernel notes."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest
from tests import needs

from fabriscope.launch import job_group
from fabriscope.launch.job_group import JobGroup


@pytest.fixture
def noted_group() -> Iterator[JobGroup]:
    made = job_group.make(secrets.token_hex(8), counts_datagrams=True)
    try:
        if made is None or made.noted is None:
            pytest.skip(needs.NO_COUNTS)
        yield made
    finally:
        if made is not None:
            made.remove()
