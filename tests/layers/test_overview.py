"""The table of a network's layers."""

import pytest

import pytensor
import pytensor.tensor as pt
from pytensor import layers


class Net(layers.Module):
    def __init__(self):
        self.conv = layers.Conv2d(3, 4, 3, padding=1, groups=1)
        self.up = layers.ConvTranspose2d(4, 2, 2, stride=2)
        self.scale = layers.parameter((2, 1, 1))
        self.head = layers.Linear(2, 5)

    def __call__(self, x):
        x = self.up(pt.nn.relu(self.conv(x)))
        return self.head(self.head.__call__((x * self.scale).mean((2, 3)))[:, :2])


def rows_of(text):
    return [[cell.strip() for cell in line.split("  ") if cell] for line in text.splitlines()]


def test_each_call_is_a_line():
    net = layers.Sequential(Net())
    calls = {kind: kind.__call__ for kind in (Net, layers.Linear, layers.Conv2d)}
    assert rows_of(layers.summary(net, (7, 3, 8, 8)))[1:] == [
        ["0.conv", "Conv2d", "(7, 4, 8, 8)", "112", f"{7 * 4 * 64 * 27:,}"],
        ["0.up", "ConvTranspose2d", "(7, 2, 16, 16)", "34", f"{7 * 4 * 64 * 2 * 4:,}"],
        ["0.head", "Linear", "(7, 5)", "15", "70"],
        ["0.head", "Linear", "(7, 5)", "15", "70"],
        ["0", "Net", "(7, 5)", "2", "0"],
        ["total", "Sequential", "(7, 5)", "163", f"{7 * 64 * (108 + 32) + 140:,}"],
    ]
    # the classes are as before
    assert all(kind.__call__ is call for kind, call in calls.items())
    assert "__call__" not in vars(layers.Conv2d)


class Sum(layers.Module):
    def __call__(self, x):
        return pytensor.scan(lambda row, sum: row + sum, x, x[0], return_updates=False)


def test_scans_are_not_counted():
    lines = rows_of(layers.summary(layers.LSTM(3, 4), (2, 5, 3)))
    assert lines[1] == ["LSTM", "(2, 5, 4)", "144", f"{2 * 5 * 16 * (3 + 4):,}"]
    assert rows_of(layers.summary(Sum(), (2, 5)))[1] == ["total", "Sum", "(2, 5)", "0", "?"]


def test_a_shape_without_the_batch_is_named():
    net = layers.Sequential(layers.Conv2d(1, 8, 3), layers.BatchNorm(8))
    with pytest.raises(ValueError, match=r"\(1, 8, 8\),\), which must include the batch, "):
        layers.summary(net, (1, 8, 8))


def test_inputs_of_other_dtypes():
    ids = pt.tensor("ids", dtype="int64", shape=(2, 7))
    net = layers.Sequential(layers.Embedding(10, 4), layers.MultiHeadAttention(4, 2))
    lines = rows_of(layers.summary(net, ids))
    assert lines[1] == ["0", "Embedding", "(2, 7, 4)", "40", "0"]
    # projections of queries, keys and values, then scores and sums of two heads
    size = f"{14 * 48 + 2 * 14 * 7 * 4:,}"
    assert lines[3] == ["1", "MultiHeadAttention", "(2, 7, 4)", "60", size]
