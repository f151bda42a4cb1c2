"""Host lists: one reading of them, wherever one is given."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fabriscope.hosts import allocation, launcher_words
from fabriscope.model.errors import HostError
from fabriscope.model.host_lists import unfolded


def test_a_list_is_unfolded_in_order_and_each_host_once() -> None:
    assert unfolded("node[1-3],head,node2") == ("head", "node1", "node2", "node3")
    assert unfolded(" r[1-2]n[01-02]\n") == ("r1n01", "r1n02", "r2n01", "r2n02")


@pytest.mark.parametrize(("text", "what"), [("node[1-", "'node[1-' is no host list"), ("", "the host list is empty")])
def test_what_is_no_list_has_one_error(text: str, what: str) -> None:
    with pytest.raises(HostError, match=r"write it like node\[1-4\],head") as caught:
        unfolded(text)
    assert caught.value.what.startswith(what)


def test_what_a_scheduler_or_a_launcher_says_knows_no_groups() -> None:
    with pytest.raises(HostError, match=r"hosts of this batch job cannot be told: 'node\[1-' is no host list"):
        allocation.find({"SLURM_JOB_NODELIST": "node[1-"})
    with pytest.raises(HostError, match=r"'node\[1-' is no host list.* -- give --hosts"):
        launcher_words.hosts_of(["mpirun", "-H", "node[1-", "true"])
    assert launcher_words.hosts_of(["mpirun", "-H", "a:2,,b,", "true"]) == ("a", "b")
    with pytest.raises(HostError, match=r"'@all' is no host's name -- give --hosts"):
        launcher_words.hosts_of(["mpirun", "-H", "@all", "true"])


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with groups, one of which leaves a mark when it is asked for."""
    tmp_path.chmod(0o755)
    folder = tmp_path / "site"
    (folder / "parts").mkdir(parents=True)
    (folder / "sets").mkdir()
    mark = f"echo $GROUP >>{tmp_path / 'mark'}"
    (folder / "groups.conf").write_text(
        f"[Main]\ndefault: own\nconfdir: $CFGDIR/parts\nautodir: {folder}/sets\n[own]\nmap: {mark}; echo a,b\n"
    )
    (folder / "parts" / "more.conf").write_text(f"[more]\nmap: {mark}; echo c\nall: {mark}; echo node1,node2\n")
    (folder / "sets" / "few.yaml").write_text("few:\n    some: d\n")
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    monkeypatch.setenv("CLUSTERSHELL_CFGDIR", str(folder))
    return folder


def test_groups_of_the_site_are_known(site: Path) -> None:
    assert unfolded("@x,@more:y,@few:some,e") == ("a", "b", "c", "d", "e")
    assert (site.parent / "mark").read_text() == "x\ny\n"


@pytest.mark.parametrize("name", ["", "groups.conf", "parts", "parts/more.conf", "sets", "sets/few.yaml"])
def test_groups_that_others_could_have_written_are_not_asked(site: Path, name: str) -> None:
    (site / name).chmod(0o777)
    with pytest.raises(HostError, match=r"groups .* are not trusted.*can be written by other users"):
        unfolded("@x")
    assert not (site.parent / "mark").exists()
    assert unfolded("node[1-2],user@node3") == ("node1", "node2", "user@node3"), "no groups, so nothing is read"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_groups_of_somebody_else_are_not_asked(site: Path) -> None:
    os.chown(site / "parts", 54321, 54321)
    with pytest.raises(HostError, match=r"parts belongs to user 54321, not to us -- mend that"):
        unfolded("@x")


def test_groups_in_the_current_folder_are_not_asked(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(site)
    monkeypatch.setenv("CLUSTERSHELL_CFGDIR", "")
    with pytest.raises(HostError, match=r"groups.conf is looked for in the current folder"):
        unfolded("@x")
    assert not (site.parent / "mark").exists()


@pytest.mark.parametrize("text", ["@x;touch${IFS}y", "@$(touch)", "@`id`", "@-rf", "@x:$(id)", "@x|id", "@more:$(id)"])
def test_a_groups_name_is_never_more_than_a_word_of_its_command(site: Path, text: str) -> None:
    with pytest.raises(HostError):
        unfolded(text)
    assert not (site.parent / "mark").exists()


@pytest.mark.parametrize("name", ["-oProxyCommand=id", "$(id)", "a;id", "a'b", "../a"])
def test_no_host_of_a_job_is_an_option_or_more_than_a_word(name: str) -> None:
    with pytest.raises(HostError, match="the hosts of this batch job cannot be told"):
        allocation.find({"PBS_NODEFILE": "nodes"}, read=lambda _: f"good\n{name}\n")
