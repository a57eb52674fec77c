import numpy as np

import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode, get_mode
from pytensor.graph.basic import Constant
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.tensor.basic import MakeVector
from pytensor.tensor.rewriting.static_shapes import local_set_subtensor_of_make_vector
from pytensor.tensor.shape import Reshape
from pytensor.tensor.subtensor import IncSubtensor
from tests.utils import compare_jax_and_py


def nodes_of(function, op_class):
    return [n for n in function.maker.fgraph.apply_nodes if isinstance(n.op, op_class)]


def test_reshape_to_static_shape():
    x = pt.tensor("x", shape=(None, 6))
    n = x.shape[0]
    out = pt.specify_shape(pt.reshape(x, (n * 2, 3)), (None, 3))
    f = pytensor.function([x], out, mode="JAX")
    (node,) = nodes_of(f, Reshape)
    assert isinstance(node.inputs[1], Constant)
    assert node.inputs[1].data.tolist() == [-1, 3]
    value = np.arange(12.0).reshape(2, 6)
    np.testing.assert_array_equal(f(value), value.reshape(4, 3))


def test_reshape_with_two_unknown_lengths_is_left_alone():
    x = pt.tensor("x", shape=(None, None))
    f = pytensor.function([x], pt.reshape(x, (x.shape[1], x.shape[0])), mode="JAX")
    (node,) = nodes_of(f, Reshape)
    assert not isinstance(node.inputs[1], Constant)
    assert f(np.zeros((2, 3))).shape == (3, 2)


def test_empty_batch():
    x = pt.tensor("x", shape=(None, 6))
    f = pytensor.function([x], pt.reshape(x, (x.shape[0] * 2, 3)), mode="JAX")
    assert f(np.zeros((0, 6))).shape == (0, 3)


def test_set_subtensor_of_make_vector():
    a, b, c = pt.lscalars("abc")
    for index, expected in [(1, [a, c]), (-2, [c, b])]:
        out = pt.set_subtensor(pt.stack([a, b])[index], c)
        new = rewrite_graph(out, include=("canonicalize",))
        assert isinstance(new.owner.op, MakeVector)
        assert new.owner.inputs == expected


def test_set_subtensor_that_must_stay():
    """Additions, run-time positions and positions out of range."""
    a, b, c = pt.lscalars("abc")
    vector = pt.stack([a, b])
    for out in (
        pt.inc_subtensor(vector[1], c),
        pt.set_subtensor(vector[a], c),
        pt.set_subtensor(vector[5], c),
        pt.set_subtensor(vector[1:], c),
    ):
        assert isinstance(out.owner.op, IncSubtensor)
        assert local_set_subtensor_of_make_vector.transform(None, out.owner) in (None, False)


def test_gradient_through_split_and_reshape_with_symbolic_batch():
    """What JAX couldn't trace: the shape of a split half, asked for by a reshape's gradient."""
    x = pt.tensor("x", shape=(None, 4, 2, 3))
    first, second = pt.split(pt.sqr(x), [2, 2], n_splits=2, axis=1)
    out = (second.reshape((-1, 2, 6)).sum(axis=1) * first.reshape((-1, 2, 6))[:, 0]).sum()
    value = np.random.default_rng(0).normal(size=(5, 4, 2, 3))
    compare_jax_and_py([x], [out, pytensor.grad(out, x)], [value])


def test_same_results_with_and_without():
    x = pt.tensor("x", shape=(None, 4))
    a, b = pt.split(x, [1, 3], n_splits=2, axis=1)
    out = pt.concatenate([b, a], axis=1).reshape((x.shape[0] * 2, 2))
    value = np.random.default_rng(1).normal(size=(3, 4))
    without = get_mode("FAST_RUN").excluding("local_set_subtensor_of_make_vector")
    results = [
        pytensor.function([x], out, mode=mode)(value)
        for mode in ("JAX", "FAST_RUN", without, Mode("py", None))
    ]
    for result in results[1:]:
        np.testing.assert_array_equal(results[0], result)
