"""Five fitted PyMC models, each as a file that predicts; compared with PyMC's own predictions.

    pip install "../../..[pymc]"
    python models.py [hierarchical logistic hsgp state_space ordinal]

Writes NAME.onnx.  Fails where a quantity without noise differs by more than 1e-6, or the mean or
spread of one with noise by more than chance.
"""

import argparse
import json
import logging
from dataclasses import dataclass, field

import numpy as np
import onnxruntime
import pymc as pm

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx.pymc import export_posterior_predictive

MODELS = {}


@dataclass
class Fitted:
    """A model, its posterior, new data, and what to predict: without noise, and with it."""

    model: pm.Model
    idata: object
    new: dict
    exact: list
    noisy: list
    settings: dict = field(default_factory=dict)
    redrawn: list = field(default_factory=list)  # what PyMC has to be told to draw again
    unknown: dict = field(default_factory=dict)  # how PyMC draws a new group


def example(build):
    MODELS[build.__name__] = build
    return build


def fit(model):
    with model:
        return pm.sample(
            250, tune=500, chains=2, cores=1, random_seed=2, progressbar=False,
            compute_convergence_checks=False,
        )  # fmt: skip


@example
def hierarchical():
    rng = np.random.default_rng(1)
    schools = ["Aldgate", "Barnet", "Camden", "Dalston", "Ealing", "Fulham"]
    school, hours = rng.integers(0, 6, 150), rng.uniform(0, 10, 150)
    score = 40 + rng.normal(0, 8, 6)[school] + rng.normal(4, 1, 6)[school] * hours
    with pm.Model(coords={"schools": schools}) as model:
        school, hours = pm.Data("school", school, dims="row"), pm.Data("hours", hours, dims="row")
        mean, spread = pm.Normal("mean", 40, 20), pm.HalfNormal("spread", 10)
        start = pm.Normal("start", mean, spread, dims="schools")
        gain, gain_spread = pm.Normal("gain", 0, 5), pm.HalfNormal("gain_spread", 2)
        offset = pm.Normal("offset", 0, 1, dims="schools")
        slope = pm.Deterministic("slope", gain + gain_spread * offset, dims="schools")
        mu = pm.Deterministic("mu", start[school] + slope[school] * hours, dims="row")
        observed = score + rng.normal(0, 5, 150)
        pm.Normal("score", mu, pm.HalfNormal("noise", 10), observed=observed, dims="row")
    new = {"school": np.array([0, 2, 5, 5], "int32"), "hours": np.array([1.0, 5.0, 0.0, 9.5])}
    unknown = {
        "new": {"school": np.zeros(4, "int32")},
        "coords": {"schools": ["unknown"]},
        "redrawn": ["start", "offset"],
    }
    settings = {"unknown": ["schools"], "indexes": {"school": "schools"}}
    return Fitted(model, fit(model), new, ["mu"], ["score"], settings, unknown=unknown)


@example
def logistic():
    rng = np.random.default_rng(2)
    features = rng.normal(size=(200, 3))
    passed = rng.random(200) < 1 / (1 + np.exp(-(features @ [1.0, -2.0, 0.5] + 0.3)))
    with pm.Model(coords={"feature": ["age", "dose", "weight"]}) as model:
        x = pm.Data("x", features, dims=("row", "feature"))
        logit = pm.Normal("intercept", 0, 2) + x @ pm.Normal("beta", 0, 2, dims="feature")
        pm.Deterministic("p", pm.math.invlogit(logit), dims="row")
        pm.Bernoulli("outcome", logit_p=logit, observed=passed, dims="row")
    return Fitted(model, fit(model), {"x": rng.normal(size=(6, 3))}, ["p"], ["outcome"])


@example
def hsgp():
    rng = np.random.default_rng(3)
    day = rng.uniform(0, 10, 120)
    with pm.Model() as model:
        x = pm.Data("day", day, dims="row")
        length, height = pm.InverseGamma("length", 5, 8), pm.HalfNormal("height", 1)
        gp = pm.gp.HSGP(m=[25], c=1.5, cov_func=height**2 * pm.gp.cov.Matern52(1, ls=length))
        phi, sqrt_psd = gp.prior_linearized(x[:, None])
        f = phi @ (pm.Normal("coefficients", 0, 1, size=25) * sqrt_psd)
        rate = pm.Deterministic("rate", pt.exp(pm.Normal("level", 1, 1) + f), dims="row")
        counts = rng.poisson(np.exp(1.5 + np.sin(day)))
        pm.NegativeBinomial("count", rate, pm.HalfNormal("alpha", 20), observed=counts, dims="row")
    return Fitted(model, fit(model), {"day": np.linspace(-1, 12, 9)}, ["rate"], ["count"])


@example
def state_space():
    """Build a level that forgets, is pushed by an input, and wanders; its forecast has a model."""
    rng = np.random.default_rng(4)

    def build(push, start=None, observed=None):  # `start`: name of the level to go on from
        with pm.Model() as model:
            push = pm.Data("push", push, dims="step")
            keep, effect = pm.Beta("keep", 8, 2), pm.Normal("effect", 0, 2)
            wander, noise = pm.HalfNormal("wander", 0.5), pm.HalfNormal("noise", 0.5)
            shock = pm.Normal("shock", 0, 1, dims="step")
            begin = pm.Normal("begin", 0, 2) if start is None else pm.Flat(start)
            level = pytensor.scan(
                lambda u, e, level, a, b, s: a * level + b * u + s * e,
                sequences=[push, shock], outputs_info=begin,
                non_sequences=[keep, effect, wander], return_updates=False,
            )  # fmt: skip
            pm.Deterministic("level", level, dims="step")
            if start is None:
                pm.Deterministic("last", level[-1])
            pm.Normal("value", level, noise, observed=observed, dims="step")
        return model

    push, level, values = rng.binomial(1, 0.2, 60).astype(float), 0.0, []
    for u in push:
        level = 0.8 * level + 1.5 * u + 0.2 * rng.normal()
        values.append(level + 0.3 * rng.normal())
    idata = fit(build(push, observed=np.array(values)))
    new = {"push": np.array([1.0, 0, 0, 0, 1, 1, 0, 0])}
    settings = {"across_rows": "request"}  # of steps that follow one another
    outputs = ["level", "value"]
    return Fitted(build(np.zeros(8), "last"), idata, new, [], outputs, settings, redrawn=["shock"])


@example
def ordinal():
    rng = np.random.default_rng(5)
    price = rng.uniform(0, 4, 250)
    noise = rng.logistic(size=250)
    with pm.Model(coords={"grade": ["bad", "fair", "good", "excellent"]}) as model:
        x = pm.Data("price", price, dims="row")
        eta = pm.Normal("slope", 0, 2) * x
        cuts = pm.Normal(
            "cuts", [1, 2, 4], 2, transform=pm.distributions.transforms.ordered, size=3
        )
        below = pm.math.invlogit(cuts - eta[:, None])
        edges = pt.concatenate([pt.zeros_like(eta)[:, None], below, pt.ones_like(eta)[:, None]], 1)
        pm.Deterministic("p", pt.diff(edges, axis=1), dims=("row", "grade"))
        grade = np.digitize(1.2 * price + noise, [1, 2.5, 4])
        pm.OrderedLogistic("rating", eta, cuts, observed=grade, dims="row", compute_p=False)
    return Fitted(model, fit(model), {"price": np.array([0.0, 1.0, 2.5, 5.0])}, ["p"], ["rating"])


def z_scores(ours, theirs):
    """Yield z-scores of differences of means, and of means of squares, of two sets of draws."""
    shift = theirs.mean(axis=0)
    for power in 1, 2:
        a, b = ((x - shift) ** power for x in (ours, theirs))
        error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / len(a)) + 1e-12
        yield (a.mean(axis=0) - b.mean(axis=0)) / error


def run(session, new):
    outputs = [output.name for output in session.get_outputs()]
    return dict(zip(outputs, session.run(outputs, new), strict=True))


def pymc_draws(fitted, names, new, coords=None, redrawn=()):
    """Return PyMC's predictions, all draws along the first axis."""
    with fitted.model:
        pm.set_data(new, coords=coords)
        drawn = pm.sample_posterior_predictive(
            fitted.idata, predictions=True, random_seed=1, progressbar=False, var_names=names,
            sample_vars=[*(v.name for v in fitted.model.observed_RVs), *fitted.redrawn, *redrawn],
        )  # fmt: skip
    drawn = drawn.predictions
    return {n: drawn[n].values.reshape(-1, *drawn[n].shape[2:]) for n in names}


def check(name, fitted):
    """Write the file and compare its predictions with PyMC's."""
    names, settings = [*fitted.exact, *fitted.noisy], {"draws": 500} | fitted.settings
    file = export_posterior_predictive(
        fitted.model, fitted.idata, f"{name}.onnx", list(fitted.new), names, **settings
    )
    about = {entry.key: json.loads(entry.value) for entry in file.metadata_props}
    session = onnxruntime.InferenceSession(f"{name}.onnx")
    ours, theirs = run(session, fitted.new), pymc_draws(fitted, names, fitted.new)
    error = max((np.abs(ours[n] - theirs[n]).max() for n in fitted.exact), default=0.0)
    z = [z for n in fitted.noisy for z in z_scores(ours[n], theirs[n])]
    if unknown := fitted.unknown:
        last = {n: np.full_like(v, -1) for n, v in unknown["new"].items()}
        ours = run(session, fitted.new | last)
        theirs = pymc_draws(fitted, names, **unknown | {"new": fitted.new | unknown["new"]})
        z += [z for n in names for z in z_scores(ours[n], theirs[n])]
    for n in names:  # what is computed in the file, from its own draws
        for p, quantile in zip(about["probabilities"], ours[f"{n}_quantiles"], strict=True):
            expected = np.quantile(ours[n], p, axis=0, method="inverted_cdf")
            np.testing.assert_array_equal(quantile, expected)
        np.testing.assert_allclose(ours[f"{n}_mean"], ours[n].mean(axis=0), rtol=1e-12)
    z = np.abs(np.concatenate([each.ravel() for each in z])).max()
    print(f"{name}: without noise {error:.1e}, with noise at most {z:.1f} standard errors")
    if error > 1e-6 or z > 4.5:
        raise SystemExit(f"{name}: the file's predictions aren't PyMC's")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="all by default")
    logging.getLogger("pymc").setLevel(logging.ERROR)
    for name in parser.parse_args().names or MODELS:
        check(name, MODELS[name]())
