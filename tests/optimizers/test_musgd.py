"""MuSGD: its steps against NumPy's."""

import numpy as np
import pytest

import pytensor
from pytensor.optimizers import MuSGD
from tests.optimizers.test_muon import gradients, orthogonalized, train

SHAPES = [(5, 8), (6, 2, 3, 3), (40, 1, 3, 3), (7,)]


def musgd(w, grads, lr, momentum=0.9, nesterov=True, weight_decay=0.0, muon_share=0.2):
    buffer = average = np.zeros_like(w)
    for grad in grads:
        decayed = grad + weight_decay * w
        buffer = momentum * buffer + decayed
        direction = decayed + momentum * buffer if nesterov else buffer
        average = momentum * average + (1 - momentum) * grad
        mixed = momentum * average + (1 - momentum) * grad if nesterov else average
        turned = orthogonalized(mixed) if w.ndim > 1 else 0
        w = w - lr * (direction + muon_share * turned)
    return w


@pytest.mark.by_default("settings1")
@pytest.mark.parametrize(
    "settings",
    [{}, {"momentum": 0.8, "nesterov": False, "weight_decay": 0.3, "muon_share": 0.5}],
)
def test_steps_are_those_of_the_formula(settings):
    actual = train(MuSGD(0.05, **settings), "float64", "FAST_COMPILE", SHAPES)
    for k, value in enumerate(actual):
        grads = [step[k] for step in gradients(SHAPES)]
        expected = musgd(np.ones(SHAPES[k]), grads, 0.05, **settings)
        np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)


def test_only_matrices_have_an_average():
    params = [pytensor.shared(np.ones(shape), name=f"w{shape[0]}") for shape in SHAPES]
    optimizer = MuSGD(0.1)
    optimizer.get_updates(params, params)
    slots = [name.rpartition(".")[2] for name in optimizer.state]
    assert (slots.count("momentum_buffer"), slots.count("gradient_average")) == (4, 3)


def test_refused_settings():
    with pytest.raises(ValueError, match="muon_share must be at least 0"):
        MuSGD(0.1, muon_share=-1)
    with pytest.raises(ValueError, match="nesterov=True needs a momentum"):
        MuSGD(0.1, momentum=0)
    with pytest.raises(ValueError, match=r"momentum must be in \[0, 1\)"):
        MuSGD(0.1, momentum=1.0)
