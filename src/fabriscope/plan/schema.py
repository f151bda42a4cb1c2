"""What a plan may say: the source of the checks, of the JSON schema and of docs/plan.md."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from fabriscope.model.blocks import PILOT_BLOCKS, USUAL_BLOCKS
from fabriscope.model.lab import LEAST_CPU_SHARE
from fabriscope.plan.application_schema import ApplicationsSection, Folder
from fabriscope.plan.benchmark_sections import BenchmarkSection, ManyToManySection, ManyToOneSection
from fabriscope.plan.binding import RankBinding
from fabriscope.plan.counts import Launches
from fabriscope.plan.imb_schema import ImbOptionsSection
from fabriscope.plan.lab_schema import LabFabricSection, lab_fabric
from fabriscope.plan.mpi_schema import MpiSection, Settings, mpi_list
from fabriscope.plan.names import InterfaceName, Label, Text
from fabriscope.plan.osu_schema import OsuOptionsSection
from fabriscope.plan.place_schema import PaperUseSection, SshSection, SubmitSection, ssh_words
from fabriscope.plan.section import Section
from fabriscope.plan.service_schema import ServicesSection
from fabriscope.plan.strict import Budget, Timeout, Truth, TruthOrName
from fabriscope.plan.tune_schema import TuneSection
from fabriscope.plan.turns import AUTO, Turns
from fabriscope.plan.values import (
    Arrangements,
    CoreCounts,
    HostList,
    Layers,
    RankCounts,
    RateBitsPerS,
    Seed,
    Share,
    guest_lists,
    no_truth,
    or_host_list,
    or_name,
    or_one,
    unique_names,
)

MOST_LAUNCHES = 50
"""Of a plan that goes on until it is decided and does not say how far."""
MAX_FABRICS = 64
"""And MPI libraries, of a plan."""
MOST_ROUNDS = 5
"""Of sharpening: each one leaves about a quarter of an interval."""


class FabricSection(Section):
    """One fabric: an emulated switch of the lab, or an interface of real hosts."""

    lab: Annotated[LabFabricSection, BeforeValidator(lab_fabric), or_name] | None = Field(
        None, description="emulated switch: a preset's name, or a preset with changes"
    )
    interface: InterfaceName | dict[str, InterfaceName] | None = Field(
        None, description="network interface on every host, or one for each host name"
    )
    line_rate: RateBitsPerS | None = Field(
        None, description="line rate, for the bound in plots; read from the host if absent"
    )
    rdma: Literal["soft-roce", "iwarp", "roce", "ib"] | None = Field(
        None, description="it speaks verbs: in software (in the lab, on guests), or by the hosts' own devices"
    )
    settings: Settings = Field(
        {}, description="what is set for the launches over it and put back afterwards; docs/settings.md"
    )
    bind: RankBinding = Field(None, description="where ranks run in the launches over it; absent: as the plan says")
    service_level: Annotated[int, Field(ge=0, le=15)] = Field(0, description="of what verbs send (InfiniBand, RoCE v1)")
    traffic_class: Annotated[int, Field(ge=0, le=255)] = Field(0, description="of what verbs send: DSCP and ECN bits")
    lossless_priority: Annotated[int, Field(ge=0, le=7)] | None = Field(
        None, description="priority that its RDMA traffic is meant to have, without loss: the audit looks for it"
    )
    layers: Layers | None = Field(None, description="those of the plan's layers that are measured over it; absent: all")


class GuestSection(Section):
    """A guest: a host of the lab with a kernel of its own."""

    cpu_share: Annotated[Share, Field(ge=LEAST_CPU_SHARE)] | None = Field(
        None, description="its share of a processor's time, to make it a slower machine; absent: all that it can get"
    )


Guests = Annotated[dict[str, GuestSection], BeforeValidator(guest_lists), or_host_list]


Comparison = Literal["fabric", "layer", "transport", "mpi", "placement", "ranks", "series", "instrument"]


class PlanSection(Section):
    """A plan: what to compare, how, how often, and for how long."""

    version: Annotated[Literal[1], BeforeValidator(no_truth)] = Field(1, description="version of the plan's format")
    name: Text = Field(
        description="names the run's folder and the report", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
    )
    description: Text = Field("", description="stands under the report's title")
    hosts: HostList = Field(
        description="host list in any form that ClusterShell reads: node[1-4], a,b,c, @group;"
        " or @allocation (or slurm, pbs, lsf, flux): the hosts of the batch job that the plan runs in"
    )
    guests: Guests = Field(
        {}, description="those of the hosts that have a kernel of their own in the lab, or all; docs/guests.md"
    )
    ssh: Annotated[SshSection, BeforeValidator(ssh_words), or_name] = Field(
        SshSection(), description="the ssh that reaches hosts: its words, or a mapping of command and between_hosts"
    )
    fabrics: dict[Label, FabricSection] = Field(
        {}, description="what is compared between hosts: name to fabric", max_length=MAX_FABRICS
    )
    layers: Annotated[tuple[str, ...], BeforeValidator(unique_names), or_one] = Field(
        ("tcp",),
        description="software layers to measure: tcp, mpi, shm, verbs, libfabric by a provider (libfabric-tcp),"
        " or another transport of the engine",
        min_length=1,
    )
    mpi: Annotated[tuple[Annotated[MpiSection, or_name], ...], BeforeValidator(mpi_list), or_one] = Field(
        (), description="MPI libraries for the layer mpi", max_length=MAX_FABRICS
    )
    placements: Annotated[tuple[Literal["inter", "intra"], ...], BeforeValidator(unique_names), or_one] = Field(
        ("inter",), description="between two hosts, inside one host, or both", min_length=1
    )
    intra_fabrics: Annotated[tuple[str, ...], BeforeValidator(unique_names), or_one] = Field(
        (),
        description="inside one host, also over TCP to the host's own address on these fabrics"
        " (tcp, mpi, libfabric-tcp)",
    )
    ranks: RankCounts = Field(
        (2,),
        description="how many ranks collectives, incast and applications have: a count, a list,"
        " or all (ranks_per_host on each)",
    )
    ranks_per_host: CoreCounts = Field(
        (), description="ranks of these on each host: a count, a list, half or all of its cores; as few as fit"
    )
    many_to_one: ManyToOneSection = Field(
        ManyToOneSection(), description="who receives and who sends in many_to_one; docs/incast.md"
    )
    many_to_many: ManyToManySection = Field(
        ManyToManySection(), description="who receives and who sends in many_to_many; docs/incast.md"
    )
    pairs: CoreCounts = Field(
        (1,), description="pairs of ranks of multi_pair_latency and message_rate; half and all count a host's cores"
    )
    arrangement: Arrangements = Field(
        ("block",), description="neighbouring ranks on one host (block), or round the hosts in turn (cyclic), or both"
    )
    instruments: Annotated[tuple[str, ...], BeforeValidator(unique_names), or_one] = Field(
        ("engine",), description="our engine, or adapters of other programs", min_length=1
    )
    osu: Folder | dict[str, Folder] | None = Field(
        None,
        description="where the OSU micro-benchmarks are that `instruments: [osu]` runs: the folder that they were"
        " built or installed in, their sources or an archive of these (built once, then kept), or one for each MPI"
        " library by its name; absent: PATH",
    )
    osu_options: OsuOptionsSection = Field(OsuOptionsSection(), description="what they are told; docs/peers.md")
    imb_options: ImbOptionsSection = Field(ImbOptionsSection(), description="what IMB is told; docs/peers.md")
    benchmarks: dict[str, BenchmarkSection] = Field(
        {}, description="benchmark name to its sweep; wanted unless applications are named", min_length=1
    )
    applications: ApplicationsSection = Field(
        ApplicationsSection(), description="programs over MPI that solve a problem: npb, hpl; docs/applications.md"
    )
    services: ServicesSection = Field(
        ServicesSection(), description="how services are started, or which are used; docs/bigdata.md"
    )
    launches: Launches = Field(
        USUAL_BLOCKS,
        description="process starts of every entry: the replicates of the statistics; with until: decided the most, 50;"
        " auto: as many as make the expected intervals narrowest within the budget",
    )
    until: Literal["launches", "decided"] = Field(
        "launches",
        description="decided: go on, block by block, until each comparison is decided or the budget is spent",
    )
    compare: Annotated[tuple[Comparison, ...], BeforeValidator(unique_names), or_one] = Field(
        (),
        description="the kinds of comparison that are to be decided; all of them unless some are named",
        min_length=1,
    )
    only: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(unique_names), or_one] = Field(
        (), description="words: entries are measured whose id (`gige.tcp.inter`) holds one of them; all without any"
    )
    sharpen: int = Field(
        0,
        description="rounds of further sizes, measured after the others, inside the intervals in which a lead passes"
        " from one to another or a protocol changes; their time comes on top of the budget",
        ge=0,
        le=MOST_ROUNDS,
    )
    budget: Budget = Field(
        60 * 10**9,
        description="measuring time of the whole run, set-up excluded; with launches: auto the time of starting"
        " launches is in it",
    )
    case_timeout: Timeout = Field(10 * 10**9, description="a case without progress for this long has failed")
    turns: Turns = Field(AUTO, description="a block's launches measure in turns: auto (20ms), a time, or off")
    bind: RankBinding = Field(
        AUTO,
        description="where the ranks of our engine run: auto (a core for each, where there are enough), core (the same,"
        " and anew from the first where there are too few), none, default (nothing is said: where the system and the"
        " MPI library put them), or the processors of the first, second ... rank of every host",
    )
    intervene: Truth = Field(
        False,
        description="what the audit of the hosts finds and a setting can change is changed in launches of its own,"
        " and the report says what it costs; docs/causes.md",
    )
    tune: TuneSection | None = Field(
        None, description="settings that are tried on a fabric, to find which are best; docs/tune.md"
    )
    launcher: Literal["auto", "srun", "mpirun"] = Field(
        "auto", description="what starts MPI jobs inside a Slurm job; auto: srun where it offers the MPI's plugin"
    )
    submit: SubmitSection = Field(SubmitSection(), description="the job that `fabriscope submit` asks for")
    control: TruthOrName = Field(
        False, description="A/A control: enter a fabric (an entry's id, or a fabric's name) twice; true: the first one"
    )
    margin: Share = Field(0.03, description="two things that differ by less than this share are equivalent", gt=0, lt=1)
    floor: Truth = Field(True, description="also measure what the instrument itself costs (null and empty)")
    counters: Truth = Field(
        True, description="read the counters of the hosts during each launch: what carried its bytes (docs/counters.md)"
    )
    seed: Seed = Field(1, description="makes every random order repeatable")
    paper: PaperUseSection | None = Field(None, description="the published evaluation that this plan re-runs")

    @property
    def chooses_blocks(self) -> bool:
        """Return whether the run chooses the number of its blocks."""
        return not isinstance(self.launches, int)

    @property
    def block_count(self) -> int:
        """Return how many blocks the plan says: of a run that chooses their number its pilots."""
        return self.launches if isinstance(self.launches, int) else PILOT_BLOCKS

    @model_validator(mode="before")
    @classmethod
    def _most_launches(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("until") == "decided" and "launches" not in data:
            return {**data, "launches": MOST_LAUNCHES}
        return data


def json_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of a plan, as published in docs/plan.schema.json."""
    schema = PlanSection.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "fabriscope plan", **schema}
