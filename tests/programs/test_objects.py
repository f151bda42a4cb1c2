"""Objects that no MPI library has a part in: compiled once for all of them, and anew for what makes other code.

The compiler is the machine's own; the libraries and their wrappers are made up, and write down what they compile.
"""

from __future__ import annotations

import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.needs import ROOT

from fabriscope import engine_binary
from fabriscope.model import caches
from fabriscope.model.errors import LaunchError
from fabriscope.model.mpi import MpiStack
from fabriscope.programs import compilers, objects, recipes

ENGINE = ROOT / "engine"
SOURCES = {
    "release.flags": "-O1\n",
    "include/fabriscope/number.h": "inline int number() { return 7; }\n",
    "src/main.cc": '#include "fabriscope/number.h"\nint rank();\nint main() { return number() + rank(); }\n',
    "src/transports/mpi.cc": "#ifdef FABRISCOPE_WITH_MPI\n#include <mpi.h>\n#endif\nint rank() { return MPI_RANK; }\n",
}
COMPILER = """#!/bin/sh
case " $* " in *" -c "*) echo "{name} $*" >>{folder}/calls; {before} ;; esac
exec c++ "$@"
"""
WRAPPER = """#!/bin/sh
[ "$1" = -show ] && {{ echo "{compiler} -I{library} {flags} -L{library} -lmpi"; exit; }}
exec {folder}/wrapped "$@" -I{library} {flags}
"""


class Place:
    """A small engine, and as many MPI libraries as a test wants."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in SOURCES.items():
            self.write(name, text)
        self.compiler("alone")
        self.compiler("wrapped")

    def write(self, name: str, text: str) -> None:
        path = self.folder / "engine" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def script(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)
        return str(path)

    def compiler(self, name: str, before: str = ":") -> str:
        return self.script(name, COMPILER.format(name=name, folder=self.folder, before=before))

    def stack(self, name: str, flags: str = "", compiler: str = "alone") -> MpiStack:
        library = self.folder / f"include-{name}"
        library.mkdir(exist_ok=True)
        (library / "mpi.h").write_text(f"#define MPI_RANK {len(name)}\n")
        words = {"folder": self.folder, "library": library, "flags": flags, "compiler": self.folder / compiler}
        wrapper = self.script(f"mpicxx-{name}", WRAPPER.format(**words))
        return MpiStack(name, "mpich", "5", "/x/mpirun", wrapper)

    def compiled(self) -> list[str]:
        """Return who has compiled which unit since this was asked last."""
        calls = self.folder / "calls"
        lines = calls.read_text().splitlines() if calls.exists() else []
        calls.unlink(missing_ok=True)
        units = [next(word for word in line.split() if word.endswith(".unit.cc")) for line in lines]
        return sorted(f"{line.split()[0]} {Path(unit).name}" for line, unit in zip(lines, units, strict=True))

    def kept(self) -> list[Path]:
        return sorted(objects.cache_folder().glob("*/object"))


def result(program: Path) -> int:
    return subprocess.run([program], timeout=10, check=False).returncode


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = Place(tmp_path)
    monkeypatch.setenv(engine_binary.SOURCE_VARIABLE, str(tmp_path / "engine"))
    return made


ALL = ["alone src.unit.cc", "wrapped transports.unit.cc"]
OF_A_LIBRARY = ["wrapped transports.unit.cc"]


def test_the_second_library_compiles_only_what_sees_its_header(place: Place) -> None:
    assert result(engine_binary.build_mpi_engine(place.stack("one"))) == 7 + 3
    assert place.compiled() == ALL
    engine = engine_binary.build_mpi_engine(place.stack("three"))
    assert (result(engine), place.compiled()) == (7 + 5, OF_A_LIBRARY)
    (kept,) = place.kept()
    assert f"src.unit.cc was compiled before, for every MPI of this compiler: {kept}" in (
        engine.with_name("build.log").read_text()
    )


def test_a_changed_header_makes_new_objects_and_one_that_is_not_included_does_not(place: Place) -> None:
    engine_binary.build_mpi_engine(place.stack("one"))
    place.write("include/fabriscope/number.h", "inline int number() { return 9; }\n")
    place.compiled()
    assert result(engine_binary.build_mpi_engine(place.stack("one"))) == 9 + 3
    assert place.compiled() == ALL
    place.write("include/fabriscope/other.h", "")
    assert result(engine_binary.build_mpi_engine(place.stack("one"))) == 9 + 3
    assert place.compiled() == OF_A_LIBRARY
    place.write("release.flags", "-O2\n")
    engine_binary.build_mpi_engine(place.stack("one"))
    assert place.compiled() == ALL


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("-DMPICH_SKIP=1 -D NDEBUG -pthread -Wall -g -O2 -fstack-protector-strong -Wl,-z,relro", OF_A_LIBRARY),
        ("-D_GLIBCXX_USE_CXX11_ABI=0", ALL),
        ("-fno-pie", ALL),
        ("-flto", ALL),
    ],
)
def test_only_flags_of_the_binary_interface_and_of_the_machine_make_other_objects(
    place: Place, flags: str, expected: list[str]
) -> None:
    engine_binary.build_mpi_engine(place.stack("one"))
    place.compiled()
    stack = place.stack("three", flags)
    if "-fno-pie" in flags:
        stack = replace(stack, mpicxx=place.script("linking", f'#!/bin/sh\nexec {stack.mpicxx} "$@" -no-pie\n'))
    assert result(engine_binary.build_mpi_engine(stack)) == 7 + 5
    assert place.compiled() == expected


def test_another_compiler_behind_the_wrapper_makes_other_objects(place: Place) -> None:
    engine_binary.build_mpi_engine(place.stack("one"))
    place.compiled()
    place.script("newer", f'#!/bin/sh\ncase "$*" in *-###*) echo version 99 ;; esac\nexec {place.folder}/alone "$@"\n')
    engine_binary.build_mpi_engine(place.stack("three", compiler="newer"))
    assert place.compiled() == ALL
    assert len(place.kept()) == 2


@pytest.mark.parametrize("damage", ["cut", "changed", "emptied", "a folder"])
def test_a_damaged_object_is_made_anew(place: Place, damage: str) -> None:
    engine_binary.build_mpi_engine(place.stack("one"))
    (kept,) = place.kept()
    whole = kept.read_bytes()
    if damage == "a folder":
        kept.unlink()
        kept.mkdir()
    else:
        kept.write_bytes({"cut": whole[:-1], "changed": whole[:-9] + b"#" + whole[-8:], "emptied": b""}[damage])
    (kept.parent / "keeping-x").mkdir()  # of one that was killed
    place.compiled()
    assert result(engine_binary.build_mpi_engine(place.stack("three"))) == 7 + 5
    assert place.compiled() == ALL
    assert kept.is_dir() or kept.read_bytes() == whole
    assert sorted(path.name for path in kept.parent.iterdir()) == ["lock", "object"]


def test_libraries_that_are_built_at_once_compile_it_once(place: Place) -> None:
    place.compiler("alone", before="sleep 0.5")
    stacks = [place.stack(name) for name in ("one", "three", "four")]
    threads = [threading.Thread(target=engine_binary.build_mpi_engine, args=(stack,)) for stack in stacks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert place.compiled() == ["alone src.unit.cc", *OF_A_LIBRARY * 3]
    assert [result(engine_binary.build_mpi_engine(stack)) for stack in stacks] == [7 + 3, 7 + 5, 7 + 4]


def test_what_the_compiler_alone_cannot_the_wrapper_may(place: Place) -> None:
    place.compiler("alone", before="echo error: no licence >&2; exit 1")
    engine = engine_binary.build_mpi_engine(place.stack("one"))
    assert (result(engine), place.kept()) == (7 + 3, [])
    assert place.compiled() == ["alone src.unit.cc", "wrapped src.unit.cc", *OF_A_LIBRARY]
    assert "without the library's wrapper" in (log := engine.with_name("build.log").read_text())
    assert "no licence" in log


def test_a_mistake_in_the_sources_is_told_in_one_sentence(place: Place) -> None:
    place.write("src/main.cc", "int main() { return nothing(); }\n")
    with pytest.raises(LaunchError, match=r"cannot be compiled with it: .*main.cc:1:21: error: 'nothing' was not"):
        engine_binary.build_mpi_engine(place.stack("one"))
    assert place.kept() == []


def test_what_others_could_have_put_there_is_not_linked(place: Place) -> None:
    engine_binary.build_mpi_engine(place.stack("one"))
    (kept,) = place.kept()
    kept.chmod(0o666)
    with pytest.raises(LaunchError, match=r"is not executed: .*object can be written by other users \(mode 0666\)"):
        engine_binary.build_mpi_engine(place.stack("three"))


def test_who_waits_for_another_process_can_be_interrupted(place: Place) -> None:
    engine_binary.build_mpi_engine(place.stack("one"))
    (kept,) = place.kept()
    cancel = threading.Event()
    timer = threading.Timer(0.5, cancel.set)
    with caches.locked(kept.with_name("lock"), 1, LaunchError):
        timer.start()
        began = time.monotonic()
        with pytest.raises(LaunchError, match="it was interrupted while fabriscope-engine was compiled with it"):
            engine_binary.build_mpi_engine(place.stack("three"), cancel)
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ("c++ -I/x/include -pthread -L/x/lib -Wl,-rpath -Wl,/x/lib -Wl,--enable-new-dtags -lmpi", ["c++"]),
        (
            'c++ -I"/x/include" -L"/x/lib/release" -Xlinker --enable-new-dtags -Xlinker -rpath -Xlinker "/x/lib"'
            " -lmpicxx -lmpi -lrt -lpthread -Wl,-z,now -Wl,-z,relro -ldl",
            ["c++"],
        ),
        (
            "c++ -Wl,-Bsymbolic-functions -flto=auto -ffat-lto-objects -Wl,-z,relro -I /x/include /x/libmpi.so.12",
            ["c++", "-flto=auto", "-ffat-lto-objects"],
        ),
        (
            "c++ -g -O2 -m32 -march=native -D_FORTIFY_SOURCE=2 -stdlib=libc++ -U X",
            ["c++", "-m32", "-march=native", "-stdlib=libc++"],
        ),
        ("env c++ -DX=1", ["env", "c++"]),
        ("no-such-compiler -DX=1", None),
        ("c++ 'unfinished", None),
        ("", None),
    ],
)
def test_of_a_wrappers_flags_those_are_kept_that_make_other_code(
    place: Place, shown: str, expected: list[str] | None
) -> None:
    wrapper = place.script("shows", f"#!/bin/sh\ncat <<'END'\n{shown}\nEND\n")
    found = compilers.underlying(MpiStack("x", "mpich", "5", "/x/mpirun", wrapper, {"CPATH": "/x/include"}))
    assert (found and list(found.command)) == expected
    assert found is None or "CPATH" not in found.env


@pytest.mark.parametrize("recipe", [recipes.ENGINE, recipes.NPB, recipes.PROFILER], ids=lambda recipe: str(recipe.name))
def test_the_compiler_finds_no_mpi_header_where_none_was_seen_and_no_file_that_was_not(
    tmp_path: Path, recipe: recipes.Recipe
) -> None:
    (tmp_path / "mpi.h").write_text("")
    for unit, text in recipe.units(ENGINE, str(ENGINE)).items():
        (tmp_path / unit).write_text(text)
    tree = recipes.headers(ENGINE)
    steps = recipes.compile_steps(recipe, ENGINE, tmp_path)
    shared = [step for step in steps if step.content is not None]
    assert shared
    assert len(shared) < len(steps)
    for step in shared:
        flags = [word for word in step.words if not word.startswith("-O")]
        argv = ["c++", *flags[: flags.index("-c")], "-I", str(tmp_path), "-M", str(tmp_path / step.unit)]
        said = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=True).stdout
        read = {Path(word).resolve() for word in said.replace("\\\n", " ").split()[1:]}
        assert tmp_path / "mpi.h" not in read, step.unit
        ours = {path for path in read if path.is_relative_to(ENGINE)}
        assert ours
        assert ours <= tree.included((tmp_path / step.unit).read_text(), tmp_path).files


def test_most_of_the_engine_sees_no_mpi() -> None:
    steps = recipes.compile_steps(recipes.ENGINE, ENGINE, Path("/out"))
    assert {"src.unit.cc", "verbs.unit.cc", "transports.unit.cc"} <= {step.unit for step in steps if step.content}
    assert {"transports-mpi.unit.cc", "collectives.unit.cc"} <= {step.unit for step in steps if not step.content}
