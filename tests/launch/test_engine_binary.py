"""Finding the engine, and compiling it once for every MPI, with compilers that are fakes."""

from __future__ import annotations

import json
import stat
import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from fabriscope import engine_binary
from fabriscope.model import caches, native
from fabriscope.model.errors import LaunchError, ToolMissing
from fabriscope.model.mpi import MpiStack
from fabriscope.programs import recipes

COMPILER = """#!/bin/sh
[ "$1" = -show ] && { echo "fake-c++ -lmpi"; exit; }
case " $* " in *" -c "*) ;; *) echo x >> "$COUNT" ;; esac
while [ "$1" != -o ]; do shift; done
sleep 0.2
echo binary > "$2"
"""
BROKEN = """#!/bin/sh
echo "note: in file"
echo "src/a.cc:3:1: error: no such type" >&2
echo "src/a.cc:4:1: error: another" >&2
exit 1
"""


def program(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.fixture
def stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MpiStack:
    source = tmp_path / "engine"
    (source / "include" / "fabriscope").mkdir(parents=True)
    (source / "src" / "transports").mkdir(parents=True)
    (source / "src" / "main.cc").write_text("int main() {}")
    (source / "release.flags").write_text("-O9 -DFAST\n")
    (source / "src" / "transports" / "mpi.cc").write_text("")
    monkeypatch.setenv(engine_binary.SOURCE_VARIABLE, str(source))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COUNT", str(tmp_path / "count"))
    return MpiStack("fake", "mpich", "5", "/x/mpirun", program(tmp_path / "mpicxx", COMPILER))


def compilations(tmp_path: Path) -> int:
    count = tmp_path / "count"
    return len(count.read_text()) // 2 if count.exists() else 0


def test_plain_commands(tmp_path: Path, stack: MpiStack) -> None:
    source = tmp_path / "engine"
    steps = recipes.compile_steps(recipes.ENGINE, source, Path("/out"))
    flags = ["-std=c++17", "-O9", "-DFAST", "-DFABRISCOPE_WITH_MPI", "-I", f"{source}/include"]
    flags += ["-isystem", f"{source}/third_party/include"]
    assert [step.words for step in steps] == [
        (*flags, "-c", "/out/src.unit.cc", "-o", "/out/src.o"),
        (*flags, "-c", "/out/transports.unit.cc", "-o", "/out/transports.o"),
    ]
    objects = ["/out/src.o", "/out/transports.o"]
    link = recipes.link_words(recipes.ENGINE, steps, Path("/out"))
    assert link == [*objects, "-o", "/out/fabriscope-engine", "-lrt", "-ldl", "-pthread"]
    assert recipes.compile_words(source, with_mpi=False) == [
        "{compiler}", "-std=c++17", "-O9", "-DFAST", "-I", "include", "-isystem", "third_party/include",
        "units/src.unit.cc", "units/transports.unit.cc", "-o", "{output}", "-lrt", "-ldl", "-pthread",
    ]  # fmt: skip
    assert recipes.units(source, "..") == {
        "src.unit.cc": '#include "../src/main.cc"\n',
        "transports.unit.cc": '#include "../src/transports/mpi.cc"\n',
    }


def test_cmake_and_mpicxx_compile_with_the_same_flags(tmp_path: Path) -> None:
    source = Path(__file__).parents[2] / "engine"
    options = ["-DFABRISCOPE_TESTS=OFF", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    subprocess.run(
        ["cmake", "-S", str(source), "-B", str(tmp_path), *options], capture_output=True, timeout=120, check=True
    )
    steps = json.loads((tmp_path / "compile_commands.json").read_text())
    by_cmake = {word for step in steps for word in step["command"].split()}
    by_mpicxx = recipes.compile_words(source, with_mpi=False)
    kinds = ("-O", "-D", "-std", "-f", "-m", "-g")
    assert {word for word in by_cmake if word.startswith(kinds)} == {
        word for word in by_mpicxx if word.startswith(kinds)
    }


def test_no_header_of_a_library_that_is_loaded_at_run_time_is_the_machines() -> None:
    source = Path(__file__).parents[2] / "engine"
    for library in ("verbs", "libfabric"):
        flags = ["-std=c++17", "-isystem", str(source / "third_party/include"), "-I", str(source / "include")]
        argv = ["c++", *flags, "-M", str(source / "src" / library / "library.cc")]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=True)
        theirs = [word for word in done.stdout.split() if "/infiniband/" in word or "/rdma/" in word]
        assert theirs, f"{library}: none of its headers is read"
        assert [word for word in theirs if "third_party" not in word] == []


def test_it_is_compiled_once(tmp_path: Path, stack: MpiStack) -> None:
    first = engine_binary.build_mpi_engine(stack)
    assert first.read_text() == "binary\n"
    assert engine_binary.build_mpi_engine(stack) == first
    assert compilations(tmp_path) == 1


def test_it_is_compiled_again_for_other_sources_and_other_libraries(tmp_path: Path, stack: MpiStack) -> None:
    engines = {engine_binary.build_mpi_engine(stack)}
    (tmp_path / "engine" / "src" / "main.cc").write_text("int main() { return 0; }")
    engines.add(engine_binary.build_mpi_engine(stack))
    engines.add(engine_binary.build_mpi_engine(replace(stack, version="6")))
    assert len(engines) == compilations(tmp_path) == 3


def test_the_nas_kernels_are_a_program_of_their_own(tmp_path: Path, stack: MpiStack) -> None:
    engine = engine_binary.build_mpi_engine(stack)
    kernel = tmp_path / "engine" / "npb" / "ep.cc"
    kernel.parent.mkdir()
    kernel.write_text("")
    program = engine_binary.build_npb(stack)
    assert (program.name, program.read_text()) == ("fabriscope-npb", "binary\n")
    assert "-c" in (program.parent / "build.log").read_text().splitlines()[0]
    kernel.write_text("//")
    assert engine_binary.build_npb(stack) != program
    assert engine_binary.build_mpi_engine(stack) == engine


def test_two_at_once_compile_once(tmp_path: Path, stack: MpiStack) -> None:
    threads = [threading.Thread(target=engine_binary.build_mpi_engine, args=(stack,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert compilations(tmp_path) == 1


def test_a_failing_compiler_is_told_with_its_first_errors_and_its_log(tmp_path: Path, stack: MpiStack) -> None:
    broken = replace(stack, mpicxx=program(tmp_path / "broken", BROKEN))
    with pytest.raises(LaunchError, match=r"a\.cc:3:1: error: no such type") as caught:
        engine_binary.build_mpi_engine(broken)
    log = Path(str(caught.value.fix).rpartition(" ")[2])
    assert "note: in file" in log.read_text()
    assert not (log.parent / engine_binary.ENGINE_NAME).exists()


def test_a_compiler_that_is_gone(stack: MpiStack) -> None:
    with pytest.raises(LaunchError, match="cannot be started"):
        engine_binary.build_mpi_engine(replace(stack, mpicxx="/nowhere/mpicxx"))
    with pytest.raises(ToolMissing, match="no mpicxx"):
        engine_binary.build_mpi_engine(replace(stack, mpicxx=None))


def test_missing_sources(tmp_path: Path, stack: MpiStack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(engine_binary.SOURCE_VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(ToolMissing, match=engine_binary.SOURCE_VARIABLE):
        engine_binary.build_mpi_engine(stack)


def test_the_engine_is_where_the_variable_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.BIN_DIR_VARIABLE, str(tmp_path))
    program(tmp_path / engine_binary.ENGINE_NAME, "")
    assert engine_binary.find_engine() == tmp_path / engine_binary.ENGINE_NAME


def test_without_an_engine_the_remedy_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.BIN_DIR_VARIABLE, str(tmp_path))
    monkeypatch.setattr(native, "_INSTALLED", tmp_path)
    with pytest.raises(ToolMissing, match="pip"):
        engine_binary.find_engine()


def test_a_variable_that_names_no_folder_is_not_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.BIN_DIR_VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(ToolMissing, match=r"FABRISCOPE_BIN_DIR is '.*nowhere', and that is no folder -- correct it"):
        engine_binary.find_engine()


def test_what_others_could_have_put_into_the_cache_is_not_executed(tmp_path: Path, stack: MpiStack) -> None:
    engine = engine_binary.build_mpi_engine(stack)
    engine.chmod(0o757)
    with pytest.raises(LaunchError, match=r"is not executed: .*engine can be written by other users \(mode 0757\) -- "):
        engine_binary.build_mpi_engine(stack)
    engine.chmod(0o755)
    (tmp_path / "cache").chmod(0o777)
    with pytest.raises(LaunchError, match=r"cache can be written by other users \(mode 0777\) -- "):
        engine_binary.build_mpi_engine(stack)
    (tmp_path / "cache").chmod(0o755)
    assert engine_binary.build_mpi_engine(stack) == engine


def test_who_waits_for_another_that_compiles_does_not_wait_for_ever(
    stack: MpiStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engine_binary.build_mpi_engine(stack)
    engine.unlink()
    monkeypatch.setattr(engine_binary, "COMPILE_TIMEOUT_S", 0.2)
    with caches.locked(engine.with_name("lock"), 1, LaunchError):  # noqa: SIM117 - one holds it, the other waits
        with pytest.raises(LaunchError, match="another process has held this lock"):
            engine_binary.build_mpi_engine(stack)


def test_who_interrupts_a_compilation_does_not_wait_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    mpicxx = tmp_path / "mpicxx"
    # It says what it is; asked to compile, it begins something that takes for ever, and tells of it.
    mpicxx.write_text(
        '#!/bin/sh\ncase "$1" in -show|--version) echo mpicxx 1; exit ;; esac\n'
        f"sleep 600 & echo $! >>{tmp_path}/pids; wait\n"
    )
    mpicxx.chmod(0o755)
    stack = MpiStack("mine", "mpich", "1", "/x/mpirun", str(mpicxx))
    cancel = threading.Event()
    errors: list[BaseException] = []

    def build() -> None:
        try:
            engine_binary.build_mpi_engine(stack, cancel)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=build)
    thread.start()
    while not (tmp_path / "pids").exists():
        time.sleep(0.01)
    cancel.set()
    thread.join(60)
    assert not thread.is_alive()
    assert [str(error) for error in errors] == [
        "MPI mine: it was interrupted while fabriscope-engine was compiled with it"
    ]
    for pid in (tmp_path / "pids").read_text().split():
        while Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z":
            time.sleep(0.01)
    (folder,) = (tmp_path / "cache" / "fabriscope" / "engines").iterdir()
    assert [path.name for path in folder.iterdir() if path.name.startswith("compiling")] == []
