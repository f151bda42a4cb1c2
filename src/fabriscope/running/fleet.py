"""The hosts that a run reaches over ssh: opened all at once, asked what they are, given the programs that they lack.

One round trip opens the connections that carry everything later, and brings back every fact, the addresses, and which
of our programs a host sees: at the same path with the same content (a shared folder), or in its cache. What it lacks is
copied to `~/.cache/fabriscope/bin/<sha256>/`, and compiled there from the sources if it does not run.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import secrets
import shutil
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fabriscope.hosts import access, facts
from fabriscope.launch.on_host import text_of
from fabriscope.launch.ssh import ControlFolder, Ssh
from fabriscope.launch.tree import Answer, Tree
from fabriscope.model import caches, folders
from fabriscope.model.errors import HostError, ParseError
from fabriscope.model.foreign import Foreign
from fabriscope.model.host import Fact, Host
from fabriscope.programs import recipes

BETWEEN_HOSTS_VARIABLE = "FABRISCOPE_SSH_BETWEEN_HOSTS"
OPEN_TIMEOUT_S = 60.0
COPY_TIMEOUT_S = 300.0
BUILD_TIMEOUT_S = 960.0
END_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Program:
    """One of our programs that every host must have."""

    path: Path
    trial: tuple[str, ...] = ()
    """argv that shows whether it runs, `{program}` in it; none for scripts."""
    env: tuple[tuple[str, str], ...] = ()
    compile_words: tuple[str, ...] = ()
    """A compiler's words, in a folder with the sources; `{compiler}` and `{output}` in them."""
    compilers: tuple[str, ...] = ()

    @property
    def sha256(self) -> str:
        """Return its content's hash."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()

    def kept_at(self, identity: str = "") -> str:
        """Return its path in a host's cache, named after its content and what else it depends on."""
        key = hashlib.sha256(self.path.read_bytes() + identity.encode()).hexdigest()
        return f"~/.cache/fabriscope/bin/{key}/{self.path.name}"


@dataclass(frozen=True)
class Seen:
    """What one host said of itself."""

    facts: list[Fact]
    addresses: Mapping[str, str]
    node_name: str
    machine: str
    python: str
    home: str
    cpu_count: int
    files: Sequence[str | None]
    """For each program that was asked for: `given` (seen at our own path), `kept` (in the cache), or None."""
    programs: Mapping[str, str | None]
    said: Mapping[str, str | None]


def seen_of(answer: Any, host: str) -> Seen:
    """Return what a host's probe answered; raises ParseError for what it never says."""
    part = Foreign(answer, f"host {host}")
    return Seen(
        facts=facts.from_answer(part.at("facts")),
        addresses={name: one.text() for name, one in part.at("addresses").members()},
        node_name=part.at("node_name").text(),
        machine=part.at("machine").text(),
        python=part.at("python").text(),
        home=part.at("home").text(),
        cpu_count=part.at("cpu_count").whole(least=1),
        files=[None if one.value is None else one.text() for one in part.at("files").items()],
        programs=_texts_or_none(part.at("programs")),
        said=_texts_or_none(part.at("said")),
    )


def _texts_or_none(part: Foreign) -> dict[str, str | None]:
    return {name: None if one.value is None else one.text() for name, one in part.members()}


class Fleet:
    """Open connections to hosts, and what they said."""

    def __init__(self, ssh: Ssh, tree: Tree) -> None:
        self.seen: dict[str, Seen] = {}
        self.problems: dict[str, str] = {}
        self._ssh = ssh
        self._tree = tree
        self._mark = secrets.token_hex(16)
        self._programs: list[Program] = []

    def look(
        self,
        names: Sequence[str],
        *,
        programs: Sequence[Program] = (),
        wanted: Sequence[str] = (),
        asked: Mapping[str, tuple[Sequence[str], Mapping[str, str]]] | None = None,
    ) -> None:
        """Open the connections and fill `seen`, or `problems` for hosts that cannot be reached; never raises.

        `wanted` are names of programs to look for, `asked` are commands (argv, variables) whose words are wanted.
        """
        self._programs = list(programs)
        request = {
            "facts": asdict(facts.wanted(facts.groups())),
            "files": [{"path": str(p.path), "sha256": p.sha256, "kept_at": p.kept_at()} for p in programs],
            "programs": list(wanted),
            "asked": {name: {"argv": argv, "env": dict(env)} for name, (argv, env) in (asked or {}).items()},
            "mark": self._mark,
        }
        job = access.collector() + Path(folders.__file__).read_text() + text_of("probe")
        answers = self._tree.ask(names, job, request, with_files=("sweep",), is_first=True, timeout_s=OPEN_TIMEOUT_S)
        for name, answer in answers.items():
            if answer.problem:
                self.problems[name] = answer.problem
                continue
            try:
                self.seen[name] = seen_of(answer.value, name)
            except ParseError as error:
                self.problems[name] = f"its answer is not understood: {error.what}"

    def check(self) -> None:
        """Raise HostError with one sentence for every host that cannot be used."""
        _raise_all(
            self.problems,
            "`ssh HOST python3 --version` must answer without a question; `fabriscope hosts check` tries all hosts",
        )

    def host(self, name: str) -> Host:
        """Return the host as launches know it; of one that could not be reached no more than how to try."""
        if name not in self.seen:
            return Host(name, access=self._ssh.to(name))
        seen = self.seen[name]
        return Host(
            name,
            access=self._ssh.to(name),
            addresses=dict(seen.addresses),
            node_name=seen.node_name,
            cpu_count=seen.cpu_count,
            env={BETWEEN_HOSTS_VARIABLE: " ".join(self._ssh.between_hosts)},
            mark=self._mark,
        )

    def place(self, program: Program, *, other_mpi: str = "", is_needed_here: bool) -> str:
        """Return the path at which every host has one of the programs of `look`; copied or compiled where it is absent.

        `other_mpi` names the hosts' own version of the MPI that it was compiled with here: then only they can compile
        it. The path begins with `~/` where it is in the hosts' caches. Raises HostError for hosts that can have it
        neither way.
        """
        index = self._programs.index(program)
        if not other_mpi and all(seen.files[index] == "given" for seen in self.seen.values()):
            return str(program.path)
        path = program.kept_at(other_mpi)
        if is_needed_here:
            _keep_here(program, Path(path).expanduser())
        if other_mpi:
            problems = dict.fromkeys(self.seen, "its MPI is another version than this machine's")
        else:
            lacking = [name for name, seen in self.seen.items() if seen.files[index] != "kept"]
            problems = self._keep(program, path, lacking, program.path.read_bytes(), (), COPY_TIMEOUT_S)
        if problems and program.compile_words:
            built = self._keep(program, path, list(problems), _archive(), program.compile_words, BUILD_TIMEOUT_S)
            problems = {name: f"{problems[name]}; {why}" for name, why in built.items()}
        _raise_all(
            {name: f"{program.path.name} cannot be had: {why}" for name, why in problems.items()},
            "install a C++17 compiler there, or let the hosts share the folder",
        )
        return path

    def _keep(
        self,
        program: Program,
        path: str,
        names: Sequence[str],
        body: bytes,
        words: tuple[str, ...],
        timeout_s: float,
    ) -> dict[str, str]:
        """Send a program, or its sources, to the caches of hosts; return why that failed, by host."""
        if not names:
            return {}
        request = {
            "path": path,
            "trial": program.trial,
            "env": dict(program.env),
            "argv": words,
            "compilers": program.compilers,
        }
        job = Path(folders.__file__).read_text() + text_of("keep")
        answers = self._tree.ask(names, job, request, body=body, timeout_s=timeout_s)
        return {name: why for name, answer in answers.items() if (why := _why(answer)) is not None}

    def sweep(self, names: Sequence[str]) -> None:
        """End what broken launches may have left on hosts."""
        known = [name for name in names if name in self.seen]
        self._tree.ask(known, text_of("end"), self._mark, with_files=("sweep",), timeout_s=END_TIMEOUT_S)


@contextlib.contextmanager
def connected(ssh: Ssh) -> Iterator[Fleet]:
    """Yield a fleet without hosts; at the end, however it comes, the hosts end what was started there."""
    with ControlFolder() as folder, Tree(folder.of(ssh)) as tree:
        yield Fleet(folder.of(ssh), tree)


def _why(answer: Answer) -> str | None:
    return answer.problem or answer.value


def _raise_all(problems: Mapping[str, str], fix: str) -> None:
    if problems:
        sentences = [HostError(why, where=f"host {name}").sentence() for name, why in problems.items()]
        raise HostError("\n".join(sentences), fix=fix)


def _keep_here(program: Program, path: Path) -> None:
    """Copy a program to this machine's own cache, where it is a host beside others. Raises HostError."""
    caches.check(path, HostError)
    caches.check(path.parent, HostError)
    if not path.is_file():
        folders.make(str(path.parent))
        scratch = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        shutil.copy2(program.path, scratch)
        scratch.chmod(0o700)
        scratch.replace(path)


def _archive() -> bytes:
    """Return the engine's sources as an archive."""
    from fabriscope import engine_binary

    source, buffer = engine_binary.engine_source(), io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name in ("include", "src", "third_party"):
            archive.add(source / name, arcname=name)
        for name, text in recipes.units(source, "..").items():
            entry = tarfile.TarInfo(f"units/{name}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


def described(seen: Seen) -> dict[str, Any]:
    """Return what a host said of itself, for people and other programs."""
    known = {fact.name: fact.value for fact in seen.facts}
    return {
        "node_name": seen.node_name,
        "machine": seen.machine,
        "python": seen.python,
        "cpu_count": seen.cpu_count,
        "distribution": known.get("kernel.distribution"),
        "addresses": dict(seen.addresses),
    }
