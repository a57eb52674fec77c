"""Layers that are alike are traced once, and compute what mode JAX computes."""

from collections import Counter

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt

pytest.importorskip("jax")

import jax

from pytensor.link.jax.tuned import jax_mode


@pytest.fixture
def convolutions(monkeypatch):
    """Shapes of the images and filters of each convolution that is traced, and how often."""
    seen = Counter()
    convolve = jax.lax.conv_general_dilated

    def counted(image, filters, *args, **kwargs):
        seen[image.shape, filters.shape] += 1
        return convolve(image, filters, *args, **kwargs)

    monkeypatch.setattr(jax.lax, "conv_general_dilated", counted)
    return seen


def network(layers, mode, constant=False):
    """A function of layers that are alike, with parameters and running statistics each."""
    rng = np.random.default_rng(0)
    x = pt.tensor("x", shape=(2, 4, 6, 6))
    h, updates, values = x, {}, []
    for k in range(layers):
        filters = rng.normal(0, 0.2, (4, 4, 3, 3))
        w = pt.constant(filters) if constant else pytensor.shared(filters, shape=filters.shape)
        mean, variance = (pytensor.shared(np.full(4, float(v)), shape=(4,)) for v in (k, 1))
        h = pt.conv2d(h, w, border_mode="half")
        h, _, _, new_mean, new_variance = pt.batch_normalization_train(
            h, np.ones(4), np.zeros(4), "spatial", running_mean=mean, running_var=variance
        )
        h = pt.silu(h)
        updates |= {mean: new_mean, variance: new_variance}
        values += [mean, variance]
    return pytensor.function([x], h.sum(), updates=updates, mode=mode), values


def test_alike_layers_are_traced_once(convolutions):
    step, _ = network(4, jax_mode())
    step(np.ones((2, 4, 6, 6)))
    assert list(convolutions.values()) == [1]


def test_what_differs_is_traced_apart(convolutions):
    x = pt.tensor("x", shape=(2, 4, 6, 6))
    filters = [pytensor.shared(np.ones((n, 4, 3, 3)), shape=(n, 4, 3, 3)) for n in (4, 4, 8)]
    full, half, other = (
        pt.conv2d(x, w, border_mode=mode)
        for w, mode in zip(filters, ("valid", "half", "half"), strict=True)
    )
    step = pytensor.function([x], [full.sum(), half.sum(), other.sum()], mode=jax_mode())
    step(np.ones((2, 4, 6, 6)))
    assert sorted(convolutions.values()) == [1, 2]


def test_values_are_those_of_mode_jax():
    x = np.random.default_rng(1).normal(size=(2, 4, 6, 6))
    results = []
    for mode in ("JAX", jax_mode(), jax_mode(donate=True)):
        step, values = network(3, mode)
        results.append([step(x), step(x), *(v.get_value() for v in values)])
    for wanted, *got in zip(*results, strict=True):
        for value in got:
            np.testing.assert_allclose(value, wanted, rtol=1e-10, atol=1e-12)


def test_constant_filters(convolutions):
    step, _ = network(2, jax_mode(), constant=True)
    wanted, _ = network(2, "JAX", constant=True)
    x = np.random.default_rng(1).normal(size=(2, 4, 6, 6))
    np.testing.assert_allclose(step(x), wanted(x), rtol=1e-10)
    # The filters are part of the program, each layer's of its own.
    assert list(convolutions.values()) == [4]


def test_new_shapes_are_traced_anew(convolutions):
    x = pt.tensor("x", shape=(None, 4, None, None))
    w = pytensor.shared(np.ones((4, 4, 3, 3)), shape=(4, 4, 3, 3))
    y = pt.conv2d(pt.conv2d(x, w, border_mode="half"), w, border_mode="half")
    step = pytensor.function([x], y, mode=jax_mode())
    for size in (5, 6, 5):
        assert step(np.ones((1, 4, size, size))).shape == (1, 4, size, size)
    assert sorted(shape[2] for (shape, _) in convolutions) == [5, 6]
    assert set(convolutions.values()) == {1}
