"""Files that are no log: one sentence each."""

from __future__ import annotations

import errno
import gzip
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabriscope.cli.import_logs import COMMAND as IMPORT
from fabriscope.cli.read import COMMAND as READ
from fabriscope.model import plain_files
from fabriscope.model.errors import ParseError
from fabriscope.readers import log


@pytest.mark.parametrize("data", [b"", b"\n\n  \n", gzip.compress(b"", mtime=0), b"\xef\xbb\xbf", b"\xff\xfe"])
def test_what_is_empty_is_said_to_be(data: bytes) -> None:
    with pytest.raises(ParseError, match=r"^x: it is empty$"):
        log.documents(log.decoded(data, "x"), {}, "x")


def test_a_file_that_nobody_may_read_is_told_as_any_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> bytes:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    path = tmp_path / "x.log"
    path.write_text("secret\n")
    monkeypatch.setattr(plain_files, "read", refuse)
    access = os.access  # what click asks; root may read everything
    monkeypatch.setattr(os, "access", lambda one, *mode, **more: Path(one) != path and access(one, *mode, **more))
    for command, options in ((READ, []), (IMPORT, ["-o", str(tmp_path / "run")])):
        done = CliRunner().invoke(command, [str(path), *options])
        assert "Usage" not in done.output + done.stderr
        assert isinstance(done.exception, ParseError | SystemExit)
        assert "x.log: it cannot be read: Permission denied" in f"{done.stderr}{done.exception}"
