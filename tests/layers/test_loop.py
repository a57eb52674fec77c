"""Batches, and trainings that are interrupted and go on."""

import csv
import signal

import numpy as np
import pytest
from safetensors.numpy import load_file

import pytensor
import pytensor.tensor as pt
from pytensor import layers
from pytensor.link.jax import jax_mode
from pytensor.optimizers import Adam, ExponentialMovingAverage, merge_updates, schedules

X = np.random.default_rng(0).normal(size=(22, 3))
Y = X @ [[1.0], [2.0], [-1.0]]


class Run:
    """A small training with all that has to be saved."""

    def __init__(self, mode="FAST_COMPILE"):
        self.net = layers.Sequential(
            layers.Linear(3, 8), layers.BatchNorm(8), layers.Dropout(0.3), layers.Linear(8, 1)
        )
        x, y = pt.matrix("x"), pt.matrix("y")
        noise_rng = pt.random.shared_rng(seed=5)
        next_rng, noise = noise_rng.normal(size=y.shape)
        with layers.training() as updates:
            loss = ((self.net(x) - y - noise) ** 2).mean()
        adam = Adam(lr=schedules.cosine(20, initial=0.1))
        updates = adam.minimize(loss, self.net, updates | {noise_rng: next_rng})
        average = ExponentialMovingAverage(self.net.parameters(), 0.9)
        updates = merge_updates(updates, average.get_updates(updates))
        self.step = pytensor.function([x, y], loss, updates=updates, mode=mode)
        self.optimizers = [adam, average]
        self.batches = layers.batches([X, Y], 5, rng=1)

    def fit(self, path, epochs=4, **how):
        return layers.fit(
            self.step, self.batches, epochs, module=self.net, optimizer=self.optimizers,
            checkpoint=path, **how,
        )  # fmt: skip


class Interrupting:
    """Batches that send Ctrl-C, each at a number."""

    def __init__(self, batches, *numbers):
        self.batches, self.rng = batches, batches.rng
        self.count, self.numbers = 0, numbers

    def __len__(self):
        return len(self.batches)

    def __iter__(self):
        for batch in self.batches:
            self.count += 1
            if self.count in self.numbers:
                signal.raise_signal(signal.SIGINT)
            yield batch


@pytest.fixture(autouse=True)
def usual_interrupts():
    """Have Ctrl-C do what it does in a program, whatever handler there is."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_batches_are_drawn_again_each_epoch():
    batches = layers.batches([X, np.arange(22)], 5, rng=1)
    first, second = ([rows.tolist() for _, rows in batches] for _ in range(2))
    assert len(batches) == len(first) == 4
    assert first != second
    assert len({*np.ravel(first)}) == 20
    assert all((x == X[rows]).all() for x, rows in batches)
    again = layers.batches([X, np.arange(22)], 5, rng=np.random.default_rng(1))
    assert [rows.tolist() for _, rows in again] == first


def test_without_a_generator_all_rows_are_there_in_order():
    batches = layers.batches([np.arange(22)], 5)
    assert len(batches) == 5
    assert np.concatenate([rows for (rows,) in batches]).tolist() == [*range(22)]


@pytest.mark.parametrize(
    ("arrays", "size", "message"),
    [([X, Y[:3]], 2, r"rows, got \[3, 22\]"), ([X], 23, "number of rows, 22; got 23"),
     ([X], 0, "got 0")],
)  # fmt: skip
def test_bad_batches(arrays, size, message):
    with pytest.raises(ValueError, match=message):
        layers.batches(arrays, size)
    with pytest.raises(TypeError, match=r"arrays come as a list: layers\.batches\(\[x\], 32\)"):
        layers.batches(X, 32)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "at"),
    [  # within the second epoch, and at its end
        ("FAST_COMPILE", 6),
        ("FAST_COMPILE", 8),
        pytest.param(jax_mode(), 6, marks=pytest.mark.long, id="jax-6"),
    ],
)
def test_an_interrupted_training_goes_on_exactly(mode, at, tmp_path, capsys):
    whole = Run(mode)
    rows = whole.fit(tmp_path / "whole.safetensors", validate=lambda: 0.0)
    path = tmp_path / "parts.safetensors"
    first = Run(mode)
    first.batches = Interrupting(first.batches, at)
    with pytest.raises(KeyboardInterrupt):
        first.fit(path, validate=lambda: 0.0)
    assert first.batches.count == at
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    second = Run(mode)
    second.net.initialize(seed=3)
    resumed = second.fit(path, validate=lambda: 0.0)
    assert f"goes on after epoch 1 and {at - 4} batches" in capsys.readouterr().out
    for row, other in zip(rows, resumed, strict=True):
        assert {**row, "seconds": 0} == {**other, "seconds": 0}
    arrays, others = load_file(tmp_path / "whole.safetensors"), load_file(path)
    assert arrays.keys() == others.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, others[name], name)
    # what has come to its end does nothing
    assert second.fit(path, validate=lambda: 0.0) == resumed
    assert f"the training has ended, after epoch {len(rows)}; delete" in capsys.readouterr().out
    with pytest.raises(ValueError, match="2 generators, not 0; pass the compiled function"):
        layers.fit(
            lambda *batch: 1.0, second.batches, 5, module=second.net, optimizer=second.optimizers,
            checkpoint=path,
        )  # fmt: skip


def test_a_second_interrupt_comes_through(tmp_path):
    def step():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        pytest.fail("the second one was lost")

    path = tmp_path / "run.safetensors"
    with pytest.raises(KeyboardInterrupt):
        layers.fit(step, [()], 1, module=layers.Linear(1, 1), checkpoint=path)
    assert not path.exists()


def test_patience_keeps_the_best(tmp_path, capsys):
    net = layers.Linear(1, 1)
    path = tmp_path / "run.safetensors"
    count = iter(range(100))

    def step():
        net.bias.set_value(np.array([next(count)], net.bias.dtype))
        return 1.5

    scores = iter([0.1, 0.3, 0.2, 0.25, 0.9])
    rows = layers.fit(
        step, [()], 9, module=net, checkpoint=path, validate=lambda: next(scores), patience=2
    )
    assert [row["score"] for row in rows] == [0.1, 0.3, 0.2, 0.25]
    assert load_file(tmp_path / "run.best.safetensors")["bias"] == [1]
    assert load_file(path)["bias"] == [3]
    with (tmp_path / "run.csv").open() as file:
        table = [*csv.DictReader(file)]
    assert [row["score"] for row in table] == ["0.1", "0.3", "0.2", "0.25"]
    assert table[0].keys() == {"epoch", "loss", "score", "seconds"}
    assert "epoch 2, loss 1.5, score 0.3" in capsys.readouterr().out

    def scored():
        pytest.fail("it goes on")

    # it has stopped, in the next program too
    how = {"checkpoint": path, "validate": scored, "patience": 2}
    assert layers.fit(step, [()], 9, module=net, **how) == rows


def test_the_learning_rate_is_shown():
    net, x = layers.Linear(1, 1), pt.matrix("x")
    optimizer = Adam(lr=schedules.linear(10))
    loss = net(x).sum()
    step = pytensor.function(
        [x], loss, updates=optimizer.minimize(loss, net), mode="FAST_COMPILE"
    )
    data = [(np.ones((1, 1)),)]
    rows = layers.fit(step, data, 2, optimizer=optimizer)
    np.testing.assert_allclose([row["rate"] for row in rows], [0.9, 0.8])
    rate = pt.scalar("rate")  # an argument of the step
    assert "rate" not in layers.fit(lambda: 1.0, [()], 1, optimizer=Adam(rate))[0]


@pytest.mark.parametrize(
    ("how", "message"),
    [({"checkpoint": "run"}, "needs module="), ({"patience": 1}, "needs validate=")],
)
def test_bad_arguments(how, message):
    with pytest.raises(ValueError, match=message):
        layers.fit(lambda: 1.0, [()], 1, **how)
    with pytest.raises(TypeError, match="not an iterator"):
        layers.fit(lambda: 1.0, iter([()]), 1)
    with pytest.raises(TypeError, match=r"write layers.batches\(\[x, y\], 50\)"):
        layers.fit(pytest.fail, [X, Y], 1)
    with pytest.raises(TypeError, match=r"validate must be a function.*validate=lambda: "):
        layers.fit(pytest.fail, [()], 1, validate=(X, Y))
    for step in (layers.Linear(1, 1), pt.scalar()):
        with pytest.raises(TypeError, match=r"step must be a compiled function.*module=net"):
            layers.fit(step, [()], 1)


def test_other_batches_are_no_continuation(tmp_path):
    net, path = layers.Linear(1, 1), tmp_path / "run.safetensors"
    layers.fit(lambda: 1.0, [(), ()], 1, module=net, checkpoint=path)
    with pytest.raises(ValueError, match="of 2 batches an epoch, not 1"):
        layers.fit(lambda: 1.0, [()], 1, module=net, checkpoint=path)
    # nothing diverged is written over it
    net.weight.set_value(np.full((1, 1), np.nan))
    with pytest.raises(ValueError, match="weight and 0 other arrays are not finite"):
        layers.save(path, net)
    assert np.isfinite(load_file(path)["weight"]).all()


def test_missing_packages_are_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "tqdm", None)
    with pytest.raises(ModuleNotFoundError, match="'tqdm': pip install safetensors tqdm"):
        layers.fit(lambda: 1.0, [()], 1)
