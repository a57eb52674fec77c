"""What `all_reduce` is on one device; `tests.link.jax.parallel.test_sharding` has several."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.graph.replace import vectorize_graph
from pytensor.tensor.collectives import AllReduce, all_reduce
from tests.utils import REFERENCE_MODE


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "JAX"])
def test_identity_on_one_device(mode):
    x, n = pt.matrix("x"), pt.lscalar("n")
    total, number = all_reduce([x.sum(), n])
    function = pytensor.function([x, n], [total / number, number], mode=mode)
    assert not any(isinstance(node.op, AllReduce) for node in function.maker.fgraph.apply_nodes)
    mean, number = function(np.arange(6.0).reshape(2, 3), 6)
    assert mean == 2.5
    assert number == 6


def test_runs_without_rewrites():
    x = pt.vector("x")
    np.testing.assert_array_equal(all_reduce([x])[0].eval({x: [1, 2]}, mode="FAST_COMPILE"), [1, 2])
    op = AllReduce(("sum",))
    function = pytensor.function([x], op(x), mode=pytensor.compile.Mode("py", None))
    np.testing.assert_array_equal(function([1, 2]), [1, 2])


def test_gradient_is_reduced_in_the_same_way():
    x, y, i = pt.vector("x"), pt.vector("y"), pt.lvector("i")
    total, mean, _ = all_reduce([x.sum(), y.sum(), i], ["sum", "mean", "sum"])
    g_x, g_y = pytensor.grad(total * mean, [x, y])
    ops = [v.owner.op for v in pytensor.graph.traversal.ancestors([g_x, g_y]) if v.owner]
    assert {op.reductions for op in ops if isinstance(op, AllReduce)} == {
        ("sum", "mean", "sum"), ("sum", "mean"),
    }  # fmt: skip
    values = {x: [1.0, 2.0], y: [3.0, 4.0], i: [1]}
    settings = {"on_unused_input": "ignore", "mode": REFERENCE_MODE}
    np.testing.assert_array_equal(g_x.eval(values, **settings), [7, 7])
    np.testing.assert_array_equal(g_y.eval(values, **settings), [3, 3])


def test_a_constant_is_not_folded():
    """Of n devices its sum is n times the constant."""
    node = AllReduce(("sum",)).make_node(pt.constant(2.0))
    assert not node.op.do_constant_folding(None, node)


def test_vectorized():
    x, batch = pt.vector("x"), pt.matrix("batch")
    out = vectorize_graph(all_reduce([x])[0], {x: batch})
    assert out.owner.op == AllReduce(("sum",))
    assert out.type == batch.type


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([1.0], "max"), ValueError, "reductions are .*, got 'max'"),
        (([1.0, 2.0], ["sum"]), ValueError, "1 reductions for 2 variables"),
        (([1], "mean"), TypeError, "only floats have a mean"),
    ],
)
def test_errors(arguments, error, message):
    with pytest.raises(error, match=message):
        all_reduce(*arguments)


def test_nothing():
    assert all_reduce([]) == []
