"""Which hosts a launcher's command line names: `mpirun -H a,b`, `mpiexec -f hosts`, `srun -w node[1-4]`.

Only the launcher's own options are read, not those of the program that it starts. Which word is the program can be told
for certain only with the launcher's own parser: options that we do not know take one word unless that is a program.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from fabriscope.hosts.allocation import MOST_BYTES
from fabriscope.model import plain_files
from fabriscope.model.errors import HostError
from fabriscope.model.host_lists import unfolded

_MPIRUNS = re.compile(r"(mpirun|mpiexec|orterun|prterun|mpirun_rsh)([.-].*)?")
_SRUN = "srun"

_LISTS = frozenset({"H", "host", "hosts"})
_FILES = frozenset({"f", "hostfile", "machinefile", "machine"})
_SRUN_LISTS = frozenset({"w", "nodelist"})
_SRUN_FILES = frozenset({"F", "nodefile"})
_OF_TWO_WORDS = frozenset({"mca", "gmca", "prtemca", "pmixmca", "genv", "env"})
_OF_ONE_WORD = frozenset(
    {
        "n", "np", "c", "N", "ppn", "perhost", "x", "wdir", "wd", "path", "prefix", "launcher", "launcher-exec",
        "bootstrap", "bootstrap-exec", "rmk", "iface", "genvlist", "envlist", "map-by", "bind-to", "rank-by",
        "ntasks", "nodes",
    }
)  # fmt: skip
"""Those whose word may look like a program. All are written with one dash or two."""


def hosts_of(argv: Sequence[str], read: Callable[[str], str] | None = None) -> tuple[str, ...]:
    """Return the hosts that a command names to its launcher, each once; none where there is no launcher in it.

    `read` returns a file's text. Raises HostError for a list or a file that cannot be read.
    """
    start = next((at for at, word in enumerate(argv) if _is_launcher(word)), None)
    if start is None:
        return ()
    names: list[str] = []
    is_srun = Path(argv[start]).name == _SRUN
    for option, value in _options(argv[start + 1 :], is_srun=is_srun):
        if option in (_SRUN_LISTS if is_srun else _LISTS):
            names += _in_list(value)
        elif option in (_SRUN_FILES if is_srun else _FILES):
            names += _in_file(value, read or _text_of)
    return tuple(dict.fromkeys(names))


def is_mpirun(name: str) -> bool:
    """Return whether a program's name is that of an MPI library's launcher."""
    return _MPIRUNS.fullmatch(name) is not None


def _is_launcher(word: str) -> bool:
    name = Path(word).name
    return name == _SRUN or is_mpirun(name)


def _options(words: Sequence[str], *, is_srun: bool) -> Iterator[tuple[str, str]]:
    """Yield every option with its word, of each program that is started (they are separated by `:`)."""
    at = 0
    while at < len(words):
        word = words[at]
        if not word.startswith("-") or word == "--":
            at = next((later + 1 for later in range(at, len(words)) if words[later] == ":"), len(words))
            continue
        name, has_value, value = word.partition("=")
        if has_value:
            yield name.lstrip("-"), value
            at += 1
        elif is_srun and word.startswith(("-w", "-F")) and len(word) > 2:
            yield word[1], word[2:]
            at += 1
        else:
            count = _count(words, at)
            if count == 1:
                yield word.lstrip("-"), words[at + 1]
            at += 1 + count


def _count(words: Sequence[str], at: int) -> int:
    """Return how many words after an option belong to it."""
    option = words[at].lstrip("-")
    if option in _OF_TWO_WORDS:
        return 2
    if at + 1 >= len(words):
        return 0
    if option in _OF_ONE_WORD | _LISTS | _FILES | _SRUN_LISTS | _SRUN_FILES:
        return 1
    following = words[at + 1]
    return 0 if following.startswith("-") or following == ":" or _is_program(following) else 1


def _is_program(word: str) -> bool:
    if "\0" in word:
        return False
    return shutil.which(word) is not None if os.sep not in word else os.access(word, os.X_OK) and Path(word).is_file()


def _in_list(text: str) -> list[str]:
    """Return the hosts of `a,b:2,c[1-3]`; how many ranks each has is left out."""
    names: list[str] = []
    for part in re.split(r",(?![^\[]*\])", text):
        bare = re.sub(r":\d*$", "", part.strip())
        if bare:
            names += unfolded(bare, groups=False, fix="give --hosts")
    return names


def _in_file(path: str, read: Callable[[str], str]) -> list[str]:
    """Return the hosts of a host file: the first word of every line."""
    try:
        lines = [line.partition("#")[0].split() for line in read(path).splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise HostError(f"the host file cannot be read: {error}", where=path, fix="give --hosts") from error
    return [name for words in lines if words for name in _in_list(words[0])]


def _text_of(path: str) -> str:
    return plain_files.read(Path(path), MOST_BYTES).decode("utf-8")
