"""PyMC's models in all linkers: a few of them, and all when long tests run.

All: ``python -m tests.link.pymc``.
"""

import logging

import numpy as np
import pytest

pytest.importorskip("jax")
pytest.importorskip("onnxruntime")
pytest.importorskip("pymc")

import pymc as pm

import pytensor
from pytensor.link.jax import jax_mode
from tests.catalogue.pymc_models import build, names_of
from tests.link.jax.conftest import folder  # noqa: F401  a fixture
from tests.link.pymc.compare import FLAGS, compare

pytestmark = pytest.mark.filterwarnings("ignore")  # PyMC's, and those of what it imports

# Each has shown a fault: float64 constants, comparisons, products with sums in batches, lengths.
FAST = ("lkj_correlation", "kronecker_gp", "latent_matern", "sums_over_groups", "local_level")


@pytest.mark.by_default("sums_over_groups")
@pytest.mark.slow
@pytest.mark.parametrize("name", FAST)
def test_densities_and_gradients(name):
    verdict = compare(name, ["jax_mode"], batches=(4,))
    assert not verdict.wrong
    assert not verdict.refused


@pytest.mark.long
@pytest.mark.parametrize("name", names_of("large"))
def test_densities_and_gradients_in_all_linkers(name):
    if "markov" in name or "structural" in name:
        pytest.importorskip("pymc_extras")
    assert not compare(name, ["NUMBA", "jax_mode", "ONNX"]).wrong


def compiled(name, mode):
    with pytensor.config.change_flags(**FLAGS):
        model = build(name, "large")
        point = model.initial_point()
        function = model.compile_dlogp(mode=mode)
        kept = function.f.maker.fgraph.kept_program
        return function, point, kept.rewrite is not None


@pytest.mark.slow
def test_programs_are_kept(folder, caplog):  # noqa: F811
    results = []
    for found in (False, True):
        function, point, deferred = compiled("eight_schools", jax_mode(keep_programs=True))
        assert deferred == found
        results.append(function(point))
    np.testing.assert_array_equal(*results)
    assert len(list(folder.iterdir())) == 1
    assert "not kept" not in caplog.text
    other = jax_mode(keep_programs=True).including("local_remove_check_parameter")
    assert not compiled("eight_schools", other)[2]


@pytest.mark.slow
def test_draws_of_shared_generators_are_kept(folder):  # noqa: F811
    draws = []
    for found in (False, True):
        variable = pm.HalfCauchy.dist(2, shape=5) + pm.ZeroSumNormal.dist(shape=5)
        f = pm.compile([], variable, random_seed=3, mode=jax_mode(keep_programs=True))
        assert (f.maker.fgraph.kept_program.rewrite is not None) == found
        draws.append([f(), f()])
    np.testing.assert_array_equal(*draws)
    assert not np.array_equal(*draws[0])


@pytest.mark.slow
def test_what_has_no_name_is_told(folder, caplog):  # noqa: F811
    caplog.set_level(logging.WARNING)
    variable = pm.CustomDist.dist(1.0, dist=lambda mu, size: pm.Normal.dist(mu, 1, size=size) + 1)
    for _ in range(2):
        pm.compile([], variable, mode=jax_mode(keep_programs=True))()
    assert caplog.text.count("A program is not kept on disk: CustomDist is from") == 1


@pytest.mark.slow
def test_pymc_draws_by_its_own_functions():
    """They reseed a model's generators by `set_value` before and after they compile."""
    with build("eight_schools", "large") as model:
        x = model.basic_RVs[0]
        draws = [pm.draw(x, 3, random_seed=seed, mode=jax_mode()) for seed in (1, 1, 2)]
        np.testing.assert_array_equal(draws[0], draws[1])
        assert (draws[0] != draws[2]).all()
        assert len(np.unique(draws[0])) == np.size(draws[0])
        options = {"random_seed": 1, "compile_kwargs": {"mode": jax_mode()}}
        first, second = (pm.sample_prior_predictive(4, **options) for _ in range(2))
        assert first["prior"].equals(second["prior"])
        later = pm.sample_posterior_predictive(first["prior"], progressbar=False, **options)
        observed = later["posterior_predictive"][model.observed_RVs[0].name].to_numpy()
        assert len(np.unique(observed)) == observed.size
