"""What a folder's files may be before they are read."""

from __future__ import annotations

import gzip
import random

import pytest

from fabriscope.store import inside


def test_what_is_made_to_fill_memory_is_not_unpacked() -> None:
    with pytest.raises(inside.TooLarge, match=f"it unpacks to more than {inside.UNSUSPECTED_BYTES} bytes"):
        inside.unpack(gzip.compress(bytes(inside.UNSUSPECTED_BYTES + 1)))


def test_a_large_file_of_many_values_is_unpacked() -> None:
    chance = random.Random(1)
    content = b"".join(b'{"sent_bytes": %d}\n' % chance.randrange(10**9) for _ in range(700_000))
    assert len(content) > inside.UNSUSPECTED_BYTES
    assert inside.unpack(gzip.compress(content, 1)) == content
