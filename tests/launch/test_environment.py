"""What somebody's own program is given beside its variables: what `run` gives."""

from __future__ import annotations

from fabriscope.launch import environment

SHELL = "/run/labs/one/rsh"


def test_here_an_open_mpi_may_run_as_root() -> None:
    assert environment.here({}) == {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def test_in_a_lab_every_launcher_reaches_the_other_hosts_by_its_own_way() -> None:
    given = environment.in_lab(SHELL, "mgmt0", {})
    assert {name for name, value in given.items() if value == SHELL} == {
        "OMPI_MCA_plm_rsh_agent", "PRTE_MCA_plm_ssh_agent", "HYDRA_LAUNCHER_EXEC", "I_MPI_HYDRA_BOOTSTRAP_EXEC",
    }  # fmt: skip
    assert {name for name, value in given.items() if value == "mgmt0"} == {
        "OMPI_MCA_oob_tcp_if_include", "PRTE_MCA_oob_tcp_if_include", "HYDRA_IFACE", "I_MPI_HYDRA_IFACE",
    }  # fmt: skip
    assert given["HYDRA_LAUNCHER"] == given["I_MPI_HYDRA_BOOTSTRAP"] == "rsh"
    assert given["OMPI_ALLOW_RUN_AS_ROOT"] == "1"


def test_open_mpi_4_keeps_its_folder_where_no_other_user_had_a_lab() -> None:
    assert environment.in_lab(SHELL, "mgmt0", {})["OMPI_MCA_orte_tmpdir_base"].startswith("/dev/")
    assert "OMPI_MCA_orte_tmpdir_base" not in environment.in_lab(SHELL, "mgmt0", {"OMPI_MCA_orte_tmpdir_base": "/x"})


def test_what_the_user_chose_stays_but_not_the_way_to_the_hosts() -> None:
    own = {"HYDRA_BINDING": "core", "OMPI_MCA_mpi_yield_when_idle": "0", "OMPI_MCA_plm_rsh_agent": "ssh"}
    given = environment.in_lab(SHELL, None, own)
    assert "HYDRA_BINDING" not in given
    assert "OMPI_MCA_mpi_yield_when_idle" not in given
    assert given["OMPI_MCA_plm_rsh_agent"] == SHELL
    assert "HYDRA_IFACE" not in given
