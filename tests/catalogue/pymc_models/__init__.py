"""The zoo: PyMC's models, for the tests of every mode, the comparisons and the benchmarks."""

from tests.catalogue.pymc_models import distributions, processes, regressions
from tests.catalogue.pymc_models.registry import LAWS, MODELS, build, names_of

__all__ = ["LAWS", "MODELS", "build", "distributions", "names_of", "processes", "regressions"]
