"""Which headers a text includes: those beside it first, then folders in order, and what those include."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriscope.programs.includes import Tree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in {
        "src/a.h": '#include "b.h"\n#include <vector>\n',
        "src/b.h": "#pragma once\n",
        "include/b.h": "#  include <mpi.h>\n",
        "include/c.h": '#include "b.h"\n/* #include "unknown.h" */ int x;\n// #include "nothing.h"\n',
        "theirs/d.h": '#if 0\n#include "c.h"\n#endif\n#include "d.h"\n',
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "files", "others"),
    [
        ('#include "a.h"\n', {"src/a.h", "src/b.h"}, {"vector"}),
        ("#include <b.h>\n", {"include/b.h"}, {"mpi.h"}),
        ('#include "b.h"\n#include <b.h>\n', {"src/b.h", "include/b.h"}, {"mpi.h"}),
        ("#include <d.h>\n", {"theirs/d.h", "include/c.h", "include/b.h"}, {"mpi.h"}),
        ("#if __has_include(<mpi-ext.h>)\n#endif\n", set(), {"mpi-ext.h"}),
        ("int include;\n", set(), set()),
    ],
)
def test_what_is_included(root: Path, text: str, files: set[str], others: set[str]) -> None:
    found = Tree([root / "include", root / "theirs"]).included(text, root / "src")
    assert {str(path.relative_to(root)) for path in found.files} == files
    assert found.others == others
    assert found.is_complete


def test_a_name_that_a_macro_makes_is_not_known(root: Path) -> None:
    assert not Tree([root]).included("#include HEADER\n", root).is_complete
