"""Distributions of start values."""

import math

import numpy as np
import pytest

import pytensor.tensor as pt
from pytensor import layers
from pytensor.layers import init

SHAPE = (40, 30, 3, 3)  # fan-in 270, fan-out 360


def drawn(distribution, shape=SHAPE):
    return distribution(np.random.default_rng(0), shape)


@pytest.mark.parametrize(
    ("distribution", "std", "bound"),
    [
        (init.normal(0.3), 0.3, None),
        (init.uniform(0.3), 0.3 / math.sqrt(3), 0.3),
        (init.kaiming_normal(), math.sqrt(2 / 270), None),
        (init.kaiming_normal(mode="fan_out"), math.sqrt(2 / 360), None),
        (init.kaiming_uniform(math.sqrt(5)), math.sqrt(2 / 6 / 270), 1 / math.sqrt(270)),
        (init.xavier_normal(2.0), 2 * math.sqrt(2 / 630), None),
        (init.xavier_uniform(), math.sqrt(2 / 630), math.sqrt(6 / 630)),
        (init.truncated_normal(0.5), 0.4999, 2.0),
        (init.truncated_normal(1.0), 0.8796, 2.0),  # sqrt(1 - 4 phi(2) / (2 Phi(2) - 1))
        (init.truncated_normal(1.0, 0.5), 0.2838, 0.5),
    ],
)
def test_moments(distribution, std, bound):
    values = drawn(distribution)
    assert values.shape == SHAPE
    assert values.std() == pytest.approx(std, rel=0.02)
    assert abs(values.mean()) < 4 * std / math.sqrt(values.size)
    if bound:
        assert 0.99 * bound < np.abs(values).max() <= bound or bound > 3 * std


@pytest.mark.parametrize("shape", [(4, 2, 3), (8, 2, 2), (3, 3)])
def test_orthogonal(shape):
    matrix = drawn(init.orthogonal(2.0), shape).reshape(shape[0], -1)
    short = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    np.testing.assert_allclose(short @ short.T, 4 * np.eye(len(short)), atol=1e-12)


def test_orthogonal_matrices_are_not_all_alike():
    signs = [np.sign(np.linalg.det(init.orthogonal()(np.random.default_rng(k), (3, 3))))
             for k in range(20)]  # fmt: skip
    assert {*signs} == {-1, 1}


def test_constant():
    assert (drawn(init.constant(3.0)) == 3).all()
    assert drawn(init.constant([1, 2]), (3, 2)).tolist() == [[1, 2]] * 3


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: init.truncated_normal(0.0), "greater than 0, not 0.0"),
        (lambda: init.kaiming_normal(mode="fan"), "'fan_in' or 'fan_out', not 'fan'"),
        (lambda: drawn(init.xavier_uniform(), (3,)), "has no fan-in"),
        (lambda: drawn(init.orthogonal(), (3,)), "needs two axes or more"),
        (lambda: Wrong(), r"start values of weight have shape \(2,\), not \(3,\)"),
    ],
)
def test_what_cannot_be_drawn(build, message):
    with pytest.raises(ValueError, match=message):
        build()


class Wrong(layers.Module):
    def __init__(self):
        self.weight = layers.parameter((3,), lambda rng, shape: np.ones(2))


def test_restart_draws_by_the_name():
    net = layers.Sequential(layers.Linear(3, 3), layers.Linear(3, 3))
    for layer in net.layers:
        layers.restart(layer.weight, init.normal(0.1))
    values = [layer.weight.get_value() for layer in net.layers]
    assert not np.array_equal(*values)
    layers.restart(net.layers[0].weight, init.normal(0.1))
    np.testing.assert_array_equal(net.layers[0].weight.get_value(), values[0])
    # within a constructor it is drawn with the others

    class Inner(layers.Module):
        def __init__(self):
            self.layers = [layers.Linear(3, 3), layers.Linear(3, 3)]
            for layer in self.layers:
                layers.restart(layer.weight, init.normal(0.1))

    again = Inner().layers
    assert not np.array_equal(again[0].weight.get_value(), again[1].weight.get_value())
    assert np.abs(again[0].weight.get_value()).max() < 0.5


@pytest.mark.parametrize(
    ("layer", "bound"),
    [
        (layers.Linear(50, 40), 1 / math.sqrt(50)),
        (layers.Conv1d(10, 20, 5), 1 / math.sqrt(50)),
        (layers.ConvTranspose1d(20, 10, 5), 1 / math.sqrt(50)),
        (layers.Conv2d(20, 40, 5, groups=10), 1 / math.sqrt(50)),
    ],
)
def test_layers_start_as_in_pytorch(layer, bound):
    for variable in (layer.weight, layer.bias):
        value = np.abs(variable.get_value())
        assert 0.8 * bound < value.max() <= bound


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: layers.Conv2d(4, 6, 3, groups=4), ValueError, "Conv2d: groups must divide"),
        (lambda: layers.GroupNorm(3, 4), ValueError, "num_groups must divide the 4 channels"),
        (lambda: layers.Dropout(1.5), ValueError, "p must be a number from 0 to 1"),
        (lambda: layers.Dropout(None), ValueError, "Dropout: p must be a finite number"),
        (lambda: layers.Sequential(pt.nn.relu, 3), TypeError, "layer 1 is not callable: 3"),
        (lambda: layers.MultiHeadAttention(6, 4), ValueError, "num_heads must divide embed_dim"),
        (lambda: layers.MultiHeadAttention(6, 3, 2), ValueError, "dropout must be a number"),
        (lambda: layers.LSTM(3, 0), ValueError, "LSTM: sizes must be at least 1, got 3, 0"),
        (lambda: layers.GRU(3, 4)(pt.matrix()), ValueError, r"GRU: x must have 3 axes"),
        (lambda: layers.BatchNorm2d(3)(pt.tensor3()), ValueError, "2d: x must have 4 axes"),
        (lambda: layers.InstanceNorm2d(3)(pt.matrix()), ValueError, "3 or 4 axes, got 2"),
        # PyTorch's next argument is another one
        (lambda: layers.GRU(3, 4, 2, True, True), TypeError, "GRU: too many positional"),
        (lambda: layers.InstanceNorm(3, 1e-5, 0.1), TypeError, "InstanceNorm: too many positional"),
    ],
)
def test_arguments_of_layers(build, error, message):
    with pytest.raises(error, match=message):
        build()
