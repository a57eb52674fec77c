"""A density that a network has just learned is PyMC's likelihood, in float32 throughout.

    pip install "../..[pymc]"
    python likelihood_network.py [--sampler numpyro]

The network of likelihood_onnx.py without a file between: it is a part of PyMC's graph.  Two
accumulators race for a threshold in easy and in hard trials, which differ in the first's drift.
"""

import argparse

import arviz as az
import numpy as np
import pymc as pm
from likelihood_onnx import mixture, simulate, train

import pytensor
import pytensor.tensor as pt

TRUE = {"drift_0[easy]": 2.6, "drift_0[hard]": 1.4, "drift_1": 1.2, "threshold": 1.5}


def observe(rng, trials=400):
    """Draw conditions (int32), times (float32) and choices (int32) of a number of trials."""
    condition = rng.integers(0, 2, trials, dtype="int32")
    easy, hard, *others = TRUE.values()
    theta = np.column_stack([np.where(condition, hard, easy), np.tile(others, (trials, 1))])
    times, choices = simulate(theta, rng)
    return condition, times.astype("float32"), choices.astype("int32")


def race(network, condition, times, choices):
    """Build the model; ``floatX`` says the dtype of all but the network."""

    def log_density(value, drift_0, drift_1, threshold):
        columns = pt.broadcast_arrays(drift_0[condition], drift_1, threshold)
        return mixture(network, pt.stack(columns, axis=1), value, choices)

    with pm.Model(coords={"condition": ["easy", "hard"]}) as model:
        drift_0 = pm.Uniform("drift_0", 0.5, 4, dims="condition")
        drift_1 = pm.Uniform("drift_1", 0.5, 4)
        threshold = pm.Uniform("threshold", 0.5, 2.5)
        pm.CustomDist("time", drift_0, drift_1, threshold, logp=log_density, observed=times)
    return model


def check(posterior):
    """Fail unless the chains agree, and the true parameters lie in the 94 % intervals."""
    low, high = "hdi94_lb", "hdi94_ub"
    table = az.summary(posterior, ci_prob=0.94, ci_kind="hdi", round_to="none").loc[[*TRUE]]
    true = np.array([*TRUE.values()])
    print(table[["mean", low, high, "r_hat"]].round(3).assign(true=true))
    if (table.r_hat > 1.02).any() or ((table[low] > true) | (table[high] < true)).any():
        raise SystemExit("the parameters were not recovered")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sampler", default="pymc", help="pymc, numpyro, nutpie or blackjax")
    sampler = parser.parse_args().sampler
    pytensor.config.floatX = "float32"  # of priors, data and JAX; so early, for JAX asks once
    with race(train(), *observe(np.random.default_rng(1))):
        posterior = pm.sample(
            1000, tune=500, chains=2, nuts_sampler=sampler, backend="jax", random_seed=3,
            progressbar=False,
        )  # fmt: skip
    check(posterior)
