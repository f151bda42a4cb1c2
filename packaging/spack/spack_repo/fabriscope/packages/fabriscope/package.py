"""Spack's recipe of the clone that it lies in: `spack repo add packaging/spack/spack_repo/fabriscope`."""

from pathlib import Path

from spack.package import depends_on, license, variant, version  # noqa: A004 -- its name there
from spack_repo.builtin.build_systems.python import PythonPackage

_CLONE = Path(__file__).resolve().parents[6]


class Fabriscope(PythonPackage):
    """Evaluates cluster interconnects: which fabric, transport, MPI library or setting is better, for what."""

    homepage = _CLONE.as_uri()
    git = _CLONE.as_uri()

    license("Apache-2.0")

    version("main", branch="main")

    variant("mpi", default=True, description="Have an MPI library, which engines over MPI are compiled with")
    variant("submit", default=False, description="Submit runs to Slurm, PBS, LSF or Flux by PSI/J")

    depends_on("cxx", type="build")
    depends_on("cmake@3.20:", type="build")
    depends_on("py-scikit-build-core@0.10:", type="build")
    depends_on("mpi", type="run", when="+mpi")

    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-click@8.1:", type=("build", "run"))
    depends_on("py-clustershell@1.9:", type=("build", "run"))
    depends_on("py-jinja2@3.1:", type=("build", "run"))
    depends_on("py-markupsafe@2.0:", type=("build", "run"))
    depends_on("py-numpy@1.26:", type=("build", "run"))
    depends_on("py-polars@1.0:", type=("build", "run"))
    depends_on("py-pydantic@2.7:", type=("build", "run"))
    depends_on("py-pydantic-core", type=("build", "run"))
    depends_on("py-pyyaml@6.0:", type=("build", "run"))
    depends_on("py-rich@13:", type=("build", "run"))
    depends_on("py-scipy@1.11:", type=("build", "run"))
    depends_on("py-vl-convert-python@1.6:", type=("build", "run"))
    depends_on("py-psij-python@0.9.9:", type=("build", "run"), when="+submit")
