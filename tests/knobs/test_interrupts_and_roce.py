"""Settings that scripts make of folders of the kernel's: interrupts of a card, the traffic class of RoCE."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fabriscope.hosts.access import changes, journal
from fabriscope.hosts.access.journal import Change
from fabriscope.knobs import knobs
from fabriscope.knobs.knob import Setting
from fabriscope.model.errors import HostError
from fabriscope.model.host import HERE

pytestmark = pytest.mark.usefixtures("state")

Made = Callable[[str, Setting], Change]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Return what makes a change of eth0 below a folder that stands in for the machine's own."""

    def of(name: str, value: Setting) -> Change:
        knob = knobs()[name]
        real = knob.change("eth0", knob.value(value))

        def below(argv: tuple[str, ...]) -> tuple[str, ...]:
            script = argv[2]
            for folder in ("/sys/", "/proc/"):
                script = script.replace(folder, f"{tmp_path}{folder}")
            return (*argv[:2], script, *argv[3:])

        return replace(
            real,
            read_argv=below(real.read_argv),
            set_argv=below(real.set_argv),
            restore_argv=below(real.restore_argv),
        )

    return of


def interrupts(tmp_path: Path, *lists: str) -> list[Path]:
    files = []
    (tmp_path / "sys/class/net/eth0/device/msi_irqs").mkdir(parents=True)
    for number, text in enumerate(lists, 24):
        (tmp_path / "sys/class/net/eth0/device/msi_irqs" / str(number)).write_text("msix\n")
        file = tmp_path / "proc/irq" / str(number) / "smp_affinity_list"
        file.parent.mkdir(parents=True)
        file.write_text(f"{text}\n")
        files.append(file)
    return files


@pytest.mark.parametrize(
    ("before", "value", "during"),
    [
        (("0", "1", "2"), "0-3", ["0-3"] * 3),
        (("0-7", "0-7", "0-7"), "0/1/2", ["0", "1", "2"]),
        (("0", "1", "0"), "3,1,2", ["1-3"] * 3),
        (("0", "0", "1"), 2, ["2"] * 3),
    ],
)
def test_interrupts_go_where_they_are_sent_and_back(
    before: tuple[str, ...], value: Setting, during: list[str], made: Made, tmp_path: Path
) -> None:
    files = interrupts(tmp_path, *before)
    with changes.changed(HERE, made("irq_affinity", value)):
        assert [file.read_text().strip() for file in files] == during
    assert [file.read_text().strip() for file in files] == list(before)
    assert journal.entries() == []


@pytest.mark.parametrize("value", ["0/1", "0/1/2/3"])
def test_another_number_of_interrupts_is_refused_and_put_back(value: str, made: Made, tmp_path: Path) -> None:
    files = interrupts(tmp_path, "5", "6", "7")
    with pytest.raises(HostError, match="it reads '0/1/"), changes.changed(HERE, made("irq_affinity", value)):
        pass
    assert [file.read_text().strip() for file in files] == ["5", "6", "7"]
    assert journal.entries() == []


def test_an_interface_without_interrupts_says_so(made: Made, tmp_path: Path) -> None:
    interrupts(tmp_path)
    with (
        pytest.raises(HostError, match="eth0 has no interrupts of its own"),
        changes.changed(HERE, made("irq_affinity", "0")),
    ):
        pass


@pytest.mark.parametrize("value", ["", "a", "3-1", True, "0//1", 10**6])
def test_processors_that_none_has(value: Setting) -> None:
    with pytest.raises(ValueError, match=r".+"):
        knobs()["irq_affinity"].value(value)


def rdma(tmp_path: Path) -> Path:
    """Return the file of the second port's traffic class, which is eth0's; configfs has it when a folder is made."""
    for port, interface in (("1", "eth7"), ("2", "eth0")):
        ndev = tmp_path / f"sys/class/infiniband/mlx5_0/ports/{port}/gid_attrs/ndevs/0"
        ndev.parent.mkdir(parents=True)
        ndev.write_text(f"{interface}\n")
    file = tmp_path / "sys/kernel/config/rdma_cm/mlx5_0/ports/2/default_roce_tos"
    file.parent.mkdir(parents=True)
    file.write_text("0\n")
    return file


def test_the_traffic_class_of_the_interface_s_own_port(made: Made, tmp_path: Path) -> None:
    file = rdma(tmp_path)
    with changes.changed(HERE, made("roce_traffic_class", 106)):
        assert file.read_text() == "106\n"
    assert file.read_text() == "0\n"
    assert journal.entries() == []


def test_an_interface_without_rdma_says_so(made: Made, tmp_path: Path) -> None:
    rdma(tmp_path)
    (tmp_path / "sys/class/infiniband/mlx5_0/ports/2/gid_attrs/ndevs/0").write_text("eth9\n")
    with (
        pytest.raises(HostError, match="eth0 is the interface of no RDMA device"),
        changes.changed(HERE, made("roce_traffic_class", 106)),
    ):
        pass


def test_a_kernel_without_its_place_is_told_in_a_sentence(made: Made, tmp_path: Path) -> None:
    rdma(tmp_path)
    (tmp_path / "sys/kernel/config/rdma_cm").rename(tmp_path / "away")
    change = made("roce_traffic_class", 106)
    with (
        pytest.raises(HostError, match="rdma_cm: load rdma_cm and mount configfs") as raised,
        changes.changed(HERE, change),
    ):
        pass
    assert "a script with the words eth0 failed" in str(raised.value)
    assert "for path in" not in str(raised.value)
