"""What a plan tells the Intel MPI Benchmarks beside its benchmarks."""

from __future__ import annotations

from dataclasses import dataclass

INSTRUMENT = "imb"
REFUSED = {
    **dict.fromkeys(("msglog", "msglen", "msgsize", "zero_size"), "the sizes are those of a benchmark: write `sizes`"),
    **dict.fromkeys(("include", "exclude", "input"), "the tests are those of `benchmarks`"),
    "npmin": "how many ranks take part is the plan's: write `ranks`",
    **dict.fromkeys(
        ("multi", "map"), "pairs that run at once are the benchmark `multi_pair_latency`, as many as `pairs`"
    ),
    "window_size": "messages in flight are a benchmark's: write `window`",
    "root_shift": "a root that moves is another definition: write `root: rotating` at a collective",
    "sync": "a collective without a barrier before it is another definition: write `timing: back_to_back` at it",
    **dict.fromkeys(("data_type", "red_data_type"), "elements are a benchmark's: write `datatype`"),
    "aggregate_mode": "`put_latency` completes each operation, and `put_bandwidth` all at once",
    "off_cache": "messages that move through memory are another definition, which our engine has: "
    "write `buffers: rotating` at a benchmark, and measure it with `instruments: [engine]`",
    "imb_barrier": "a barrier of IMB's own before each operation is another definition, and no metric here has it",
    "contig_type": "elements with gaps between them are another definition, and no metric here has it",
    "thread_level": "a library that locks for its threads is another thing to measure: "
    "let its environment say so (`mpi: [{name: ..., env: {...}}]`), which tells it apart",
}  # fmt: skip
"""Options of IMB that would make another quantity of its numbers, or that the plan says elsewhere, to what to write."""


@dataclass(frozen=True)
class ImbOptions:
    """What a plan tells the suite, by its own options; None leaves it to the launch's budget, or to IMB."""

    iterations: int | None = None
    """Repetitions of each size at most, the first number of `-iter`."""
    volume_mbytes: int | None = None
    """What all repetitions of a size move at most, the second one, in 2^20 bytes."""
    aggregate_iterations: int | None = None
    """The third one: repetitions of what all complete together, of IMB-RMA."""
    iter_policy: str | None = None
    """`dynamic`, `multiple_np`, `auto` or `off`: how IMB makes fewer repetitions than that."""
    time_s: float | None = None
    """How long a size may take."""
    memory_gbytes: float | None = None
    """Of a process' message buffers, at most."""
    warms_up: bool | None = None
    """Whether each size is repeated before it is timed."""

    def words(self) -> tuple[str, ...]:
        """Return the words of a command for what does not depend on the launch."""
        told = {
            "-iter_policy": self.iter_policy,
            "-mem": None if self.memory_gbytes is None else f"{self.memory_gbytes:g}",
            "-warm_up": None if self.warms_up is None else ("on" if self.warms_up else "off"),
        }
        return tuple(word for name, value in told.items() if value is not None for word in (name, value))
