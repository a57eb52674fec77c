"""A density that a network learned from simulations, as an ONNX file, is PyMC's likelihood.

    pip install "../..[pymc]"
    python likelihood_onnx.py [--sampler numpyro]

Two accumulators race for a threshold; the first one there gives the choice and its time.  Whoever
trained the network needs no PyTensor: of the file, only the names of inputs and output are used.
"""

import argparse

import arviz as az
import numpy as np
import pymc as pm

import pytensor
import pytensor.tensor as pt
from pytensor import config, layers
from pytensor.link.jax import jax_mode
from pytensor.link.onnx import export_onnx, from_onnx
from pytensor.optimizers import Adam, schedules

NAMES, TRUE = ["drift_0", "drift_1", "threshold"], np.array([2.0, 1.2, 1.5])
LOW, HIGH = np.array([0.5, 0.5, 0.5]), np.array([4.0, 4.0, 2.5])
COMPONENTS = 5  # of a mixture over log(time), for each choice


def simulate(theta, rng):
    """Simulate times and choices of trials, of which `theta`, (trials, 3), has the parameters."""
    drifts, threshold = theta[:, :2], theta[:, 2:]
    arrivals = rng.wald(threshold / drifts, threshold**2)
    return arrivals.min(axis=1), arrivals.argmin(axis=1)


def trials(rows):
    """Return the network's inputs: parameters, time and choice of `rows` trials, None for any."""
    theta = pt.tensor("theta", shape=(rows, 3), dtype="float32")
    time = pt.tensor("time", shape=(rows,), dtype="float32")
    return theta, time, pt.tensor("choice", shape=(rows,), dtype="int64")


def make_network(width=64):
    """Make the network that says a mixture's parameters."""
    hidden = layers.Linear(3, width), pt.tanh, layers.Linear(width, width), pt.tanh
    return layers.Sequential(pt.log, *hidden, layers.Linear(width, 6 * COMPONENTS))


def mixture(network, theta, time, choice):
    """Return each trial's log-density: lognormal components, whose parameters a network says."""
    sizes = [2 * COMPONENTS] * 3
    logits, mean, log_sd = pt.split(network(theta), sizes, n_splits=3, axis=1)
    z = (pt.log(time)[:, None] - mean) * pt.exp(-log_sd)
    parts = pt.special.log_softmax(logits, axis=1) - z**2 / 2 - log_sd
    first, second = pt.split(parts, [COMPONENTS] * 2, n_splits=2, axis=1)
    parts = pt.switch(pt.eq(choice, 0)[:, None], first, second)
    return pt.logsumexp(parts, axis=1) - pt.log(time) - np.float32(np.log(2 * np.pi) / 2)


@config.change_flags(floatX="float32")
def train(steps=4000, batch=1000):
    """Fit a network to simulations; with weights that are constants."""
    rng = np.random.default_rng(0)
    network, inputs = make_network(), trials(batch)
    loss = -mixture(network, *inputs).mean()
    updates = Adam(schedules.linear(steps, initial=5e-3)).minimize(loss, network)
    step = pytensor.function(inputs, loss, updates=updates, mode=jax_mode())
    losses = []
    for _ in range(steps):
        theta = rng.uniform(LOW, HIGH, size=(batch, 3))
        times, choices = simulate(theta, rng)
        losses.append(float(step(theta.astype("float32"), times.astype("float32"), choices)))
    print(f"loss {np.mean(losses[:50]):.3f} -> {np.mean(losses[-300:]):.3f}")
    return network.frozen()


def export(network, path):
    """Write the density as a file that takes any number of trials."""
    inputs = trials(None)
    density = mixture(network, *inputs)
    names = {v.name: {0: "trials"} for v in inputs}
    export_onnx(inputs, density, path, output_names=["log_density"], dynamic_axes=names)


def sample(path, times, choices, sampler):
    """Draw from the posterior of the parameters, with the file's density as likelihood."""

    def log_density(value, *parameters):
        theta = pt.stack([np.ones(len(times)) * v for v in parameters], axis=1)
        inputs = {"theta": theta.astype("float32"), "time": value.astype("float32")}
        network = from_onnx(path, inputs | {"choice": pt.constant(choices)})
        return network.outputs["log_density"].astype("float64")

    with pm.Model():
        priors = [pm.Uniform(*prior) for prior in zip(NAMES, LOW, HIGH, strict=True)]
        pm.CustomDist("time", *priors, logp=log_density, observed=times)
        return pm.sample(
            500, tune=500, chains=2, nuts_sampler=sampler, backend="jax", random_seed=3,
            progressbar=False,
        )  # fmt: skip


def check(posterior):
    """Fail unless the chains agree, and the true parameters lie in the 94 % intervals."""
    low, high = ("hdi94_lb", "hdi94_ub")
    table = az.summary(posterior, ci_prob=0.94, ci_kind="hdi", round_to="none")
    print(table[["mean", low, high, "r_hat"]].round(3).assign(true=TRUE))
    if (table.r_hat > 1.02).any() or ((table[low] > TRUE) | (table[high] < TRUE)).any():
        raise SystemExit("the parameters were not recovered")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sampler", default="pymc", help="pymc, numpyro, nutpie or blackjax")
    sampler = parser.parse_args().sampler
    export(train(), "race.onnx")
    observed = simulate(np.tile(TRUE, (300, 1)), np.random.default_rng(1))
    check(sample("race.onnx", *observed, sampler))
