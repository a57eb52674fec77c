import numpy as np
import pytest

import pytensor.scalar as ps
import pytensor.tensor as pt
from pytensor.scalar.loop import ScalarLoop
from pytensor.tensor.elemwise import Elemwise
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types


def newton_step(x, a):
    """Take one step towards the square root of `a`."""
    return (x + a / x) * ps.constant(0.5, dtype="float64")


@pytest.mark.parametrize("shapes", [((3,), (2, 1)), ((), ()), ((0,), (2, 1)), ((3,), ())])
def test_fixed_number_of_steps(shapes):
    x, a = ps.float64("x"), ps.float64("a")
    op = Elemwise(ScalarLoop(init=[x], constant=[a], update=[newton_step(x, a)]))
    start, square = pt.tensor("start", shape=shapes[0]), pt.tensor("square", shape=shapes[1])
    values = [np.full(s, 1.5) + np.arange(np.prod(s)).reshape(s) for s in shapes]
    model = compare_onnx_and_py([start, square], op(4, start, square), values, rtol=1e-13)
    assert op_types(model).count("Loop") == 1


def test_each_element_has_its_steps():
    n, total = ps.int64("n"), ps.int64("total")
    update = [n + ps.constant(1, dtype="int64"), total * n]
    op = Elemwise(ScalarLoop(init=[n, total], update=update))
    steps, start = pt.lvector("steps"), pt.tensor("start", shape=(None, 1), dtype="int64")
    outputs = op(steps, start, np.int64(1))
    compare_onnx_and_py([steps, start], outputs, [[0, 3, 1, 7], [[2], [2**33 + 1], [-1]]])


def test_loop_until():
    x, a = ps.float64("x"), ps.float64("a")
    new = newton_step(x, a)
    until = ps.lt(ps.abs(new * new - a), ps.constant(1e-6))
    op = Elemwise(ScalarLoop(init=[x], constant=[a], update=[new], until=until))
    start, square = pt.dvector("start"), pt.tensor("square", shape=(None, 1), dtype="float64")
    outputs = [out for steps in (0, 3, 50) for out in op(steps, start, square)]
    values = [[1, 2, 1e9], [[1.0], [2.0], [1e12], [np.nan]]]
    compare_onnx_and_py([start, square], outputs, values, rtol=1e-13)


def test_declared_in_another_dtype():
    x, y = ps.float64("x"), ps.float64("y")
    start, limit = pt.vector("start", dtype="float16"), pt.scalar("limit", dtype="float16")
    composite = ps.Composite([x, y], [x * 2.5 + y, ps.sqr(ps.Composite([y], [y + y])(x))])
    compare_onnx_and_py([start], Elemwise(composite)(start, start), [[1, 2, 3, 20]])
    doubled = x * 2
    for until in (None, ps.ge(doubled, y)):
        loop = Elemwise(ScalarLoop(init=[x], update=[doubled], constant=[y], until=until))
        compare_onnx_and_py([start, limit], loop(3, start, limit), [[1, 2, 3, 20], 10])


def test_one_result_of_several():
    x, y = ps.float32("x"), ps.float32("y")
    composite = Elemwise(ps.Composite([x, y], [ps.exp(x), ps.second(x, y), x * y]))
    row, column = pt.tensor("row", shape=(1, 3), dtype="float32"), pt.fcol("column")
    values = [[[1, 2, 3]], [[4], [5]]]
    compare_onnx_and_py([row, column], composite(row, column), values)
