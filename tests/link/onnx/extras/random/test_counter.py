"""Draws that a seed decides: ``export_onnx(random="counter")``."""

import warnings

import numpy as np
import onnx
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx import DroppedRandomStateWarning, export_onnx
from tests.link.onnx.extras.random import test_random
from tests.link.onnx.extras.random.test_random import (
    session_of,
    shared_rng,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore:RandomVariable Ops will stop hiding:DeprecationWarning"
)
# Random123's (kat_vectors, philox4x32 10): counter, key, block.
KNOWN = [
    ((0,) * 4, (0,) * 2, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((2**32 - 1,) * 4, (2**32 - 1,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]
SEED = -(2**61) + 7
DRAW = test_random.draw
KEY = SEED % 2**32, SEED >> 32 & (2**32 - 1)


def draw(outputs, inputs=(), values=(), *, runs=1, **kwargs):
    """Draw as `test_random.draw`, with the seed, the one after it, and so on."""
    seeds = [SEED + i for i in range(runs)]
    kwargs |= {"runs": runs, "seeds": seeds, "random": "counter"}
    return DRAW(outputs, inputs, values, **kwargs)


def philox(words, key):
    """Compute a block of Philox4x32-10, as in the paper."""
    for i in range(10):
        first, second = words[0] * 0xD2511F53, words[2] * 0xCD9E8D57
        k0, k1 = ((k + i * w) % 2**32 for k, w in zip(key, (0x9E3779B9, 0xBB67AE85), strict=True))
        words = (
            (second >> 32) ^ words[1] ^ k0, second % 2**32,
            (first >> 32) ^ words[3] ^ k1, first % 2**32,
        )  # fmt: skip
    return words


def uniform(element, step, number, key=KEY):
    a, b, _, _ = philox((element, step, 0, number), key)
    return (a << 21 | b >> 11) * 2.0**-53


@pytest.mark.parametrize(("words", "key", "block"), KNOWN)
def test_known_answers(words, key, block):
    """Of what the model's draws are compared with."""
    assert philox(words, key) == block


@pytest.mark.parametrize(("dtype", "opset"), [("float32", 20), ("float32", 24), ("float64", 18)])
def test_counters_of_draws(dtype, opset):
    rng, x = shared_rng().uniform(-1, 3, size=(2, 3), dtype=dtype)
    # An integer of 64 bits is made of three numbers, and of three if these won't do.
    rng, y = rng.integers(0, 2**53, size=(2,))
    _, z = rng.uniform(size=())
    x, _, z = draw([x, y, z], opset=opset)
    expected = [-1 + 4 * uniform(i, 0, 0) for i in range(6)]
    np.testing.assert_array_equal(x.ravel(), np.array(expected, dtype))
    assert z == uniform(0, 0, 7)


def test_counters_of_steps():
    def step(x, rng):
        next_rng, x = rng.uniform(size=(2,))
        return x, next_rng

    def steps(seed, n):
        start = [pt.zeros((2,), dtype="float64"), shared_rng(seed)]
        return pytensor.scan(step, outputs_info=start, n_steps=n, return_updates=False)[0]

    n = pt.lscalar("n")
    for result in (draw(steps(1, 5)), draw(steps(1, n), [n], [5])):
        assert result.tolist() == [[uniform(i, s, 0) for i in range(2)] for s in range(5)]

    def outer(rng):
        path, rng = pytensor.scan(
            step,
            outputs_info=[pt.zeros((2,), dtype="float64"), rng],
            n_steps=n,
            return_updates=False,
        )
        return path, rng

    nested, _ = pytensor.scan(
        outer, outputs_info=[None, shared_rng()], n_steps=n, return_updates=False
    )
    result = draw(nested, [n], [4])
    for s, inner in enumerate(result):
        a, _, b, _ = philox((s, 0, 0, 2**32 - 1), KEY)
        assert inner.tolist() == [[uniform(i, t, 0, (a, b)) for i in range(2)] for t in range(4)]


def test_seeds_and_draws_have_their_own_numbers():
    rng, x = shared_rng().uniform(size=(50, 20))
    _, y = rng.uniform(size=(50, 20))
    _, z = shared_rng(21).uniform(size=(50, 20))
    results = draw([x, y, z], runs=20, optimize=False)
    again = draw([x, y, z], runs=20, optimize=False)
    np.testing.assert_array_equal(results, again)
    assert len(np.unique(results)) == np.size(results)


def test_only_equal_states_count():
    """Whatever the generators' states are, the model is the same, unless they are the same."""

    def model(*seeds):
        draws = [rng.gamma(2.0, scale=1.0, size=(3,))[1] for rng in map(shared_rng, seeds)]
        return export_onnx([], draws, random="counter").SerializeToString()

    assert model(1, 2) == model(3, 4) != model(1, 1)
    x, y = draw([shared_rng().normal(a, 2, size=(5,))[1] for a in (0, 3)])
    np.testing.assert_allclose(y, x + 3)


def test_first_numbers_do_not_depend_on_how_many_there_are():
    n = pt.lscalar("n")
    _, x = shared_rng().uniform(size=(n,))
    _, y = shared_rng(1).gamma(0.5, scale=1.0, size=(n, 2))
    results = {length: draw([x, y], [n], [length]) for length in (0, 1, 5, 300)}
    for length, drawn in results.items():
        assert [each.shape for each in drawn] == [(length,), (length, 2)]
        np.testing.assert_array_equal(drawn[0], results[300][0][:length])
        # onnxruntime's logarithm depends on the place in a tensor.
        np.testing.assert_allclose(drawn[1], results[300][1][:length], rtol=1e-12)


@pytest.mark.parametrize("name", ["normal", "gamma", "vonmises"])
def test_continuous(monkeypatch, name):
    """Two of them by rejection, in loops."""
    monkeypatch.setattr(test_random, "draw", draw)
    test_random.test_continuous(name, "float64", 20)


def test_model_is_valid():
    x = pt.fmatrix("x")
    rng, y = shared_rng().normal(x, 1.0)
    _, z = rng.poisson(pt.exp(x))
    for half in (False, True):
        model = export_onnx([x], [y, z], opset_version=18, half=half, random="counter")
        onnx.checker.check_model(model, full_check=True)
        assert {node.op_type for node in model.graph.node}.isdisjoint({"RandomNormalLike"})
        feed = {"x": np.ones((2, 3), "float32"), "seed": np.array(1)}
        first, second = (session_of(model).run(None, feed) for _ in range(2))
        np.testing.assert_array_equal(first, second)


def test_arguments():
    x, seed = pt.dvector("x"), pt.dscalar("seed")
    _, y = shared_rng().normal(x)
    with pytest.raises(ValueError, match=r"random must be one of .*'counter'\], got 'seed'"):
        export_onnx([x], y, random="seed")
    with pytest.raises(ValueError, match="adds an input 'seed'"):
        export_onnx([x, seed], y + seed, random="counter")
    with pytest.raises(ValueError, match="adds an input 'seed'"):
        export_onnx([x], y, output_names=["seed"], random="counter")
    with pytest.raises(ValueError, match="can't be verified"):
        export_onnx([x], x + 1, verify=[np.zeros(2)], random="counter")
    model = export_onnx([x, seed], y + seed, input_names=["x", "s"], random="counter")
    assert [i.name for i in model.graph.input] == ["x", "s", "seed"]
    shared = pytensor.shared(np.zeros(2), name="seed")
    assert draw(x + shared, [x], [[1.0, 2.0]]).tolist() == [1, 2]


def test_a_warning_is_of_what_is_left_out_alone():
    rng = shared_rng(name="dice")
    next_rng, x = rng.normal()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        export_onnx([], x, random="counter")
    with pytest.warns(DroppedRandomStateWarning, match="dice don't seed them"):
        export_onnx([], [x, next_rng], random="counter")
