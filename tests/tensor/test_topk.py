import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.utils import REFERENCE_MODE

rng = np.random.default_rng(0)


def evaluate(value, k, axis=-1):
    x = pt.tensor("x", dtype=value.dtype, shape=(None,) * value.ndim)
    outputs = pt.topk(x, k, axis)
    f = pytensor.function([x], [*outputs, *(o.shape for o in outputs)], mode=REFERENCE_MODE)
    values, indices, *shapes = f(value)
    assert all(tuple(shape) == values.shape == indices.shape for shape in shapes)
    assert values.dtype == value.dtype
    assert indices.dtype == "int64"
    return values, indices


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("k", [1, 3])
def test_against_sorting(axis, k):
    value = rng.normal(size=(3, 5, 4))
    values, indices = evaluate(value, k, axis)
    expected = np.flip(np.sort(value, axis=axis), axis).take(range(k), axis=axis)
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(np.take_along_axis(value, indices, axis), values)
    static = pt.topk(pt.constant(value), k, axis)
    assert [v.type.shape for v in static] == [expected.shape] * 2


def test_ties_and_nan():
    values, indices = evaluate(np.array([2.0, np.nan, 7.0, 2.0, 7.0, np.nan, np.inf]), 6)
    np.testing.assert_array_equal(values, [np.nan, np.nan, np.inf, 7, 7, 2])
    np.testing.assert_array_equal(indices, [1, 5, 6, 2, 4, 0])


@pytest.mark.parametrize("dtype", ["uint8", "uint64", "int8", "int64", "bool"])
def test_integers(dtype):
    if dtype == "bool":
        value = np.array([False, True, False, True])
    else:
        info = np.iinfo(dtype)
        value = np.array([3, info.max, info.min, info.max], dtype=dtype)
    values, indices = evaluate(value, 3)
    np.testing.assert_array_equal(indices, [1, 3, 0])
    np.testing.assert_array_equal(values, value[[1, 3, 0]])


def test_gradient_of_ties():
    x = pt.vector("x")
    f = pytensor.function([x], pytensor.grad(pt.topk(x, 2)[0].sum(), x), mode=REFERENCE_MODE)
    np.testing.assert_array_equal(f([4.0, 1.0, 4.0, 4.0]), [1, 0, 1, 0])


@pytest.mark.parametrize(
    ("axis", "expected"), [(0, [[0, 0, 0], [1, 1, 1]]), (1, [[1, 0, 0], [0, 1, 0]])]
)
def test_gradient_along_an_axis(axis, expected):
    x = pt.matrix("x")
    gradient = pytensor.grad(pt.topk(x, 1, axis)[0].sum(), x)
    value = [[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]]
    np.testing.assert_array_equal(gradient.eval({x: value}, mode=REFERENCE_MODE), expected)


def test_gradient_only_through_the_values():
    x = pt.vector("x")
    values, indices = pt.topk(x, 2)
    with pytest.raises(pytensor.gradient.DisconnectedInputError):
        pytensor.grad(indices.sum().astype("float64"), x)
    both = pytensor.grad((values * indices).sum(), x)
    np.testing.assert_array_equal(both.eval({x: [1.0, 5.0, 3.0]}, mode=REFERENCE_MODE), [0, 1, 2])
    # Through rounded scores nothing flows, and nothing fails
    integer = pytensor.grad(pt.topk(x.astype("int64"), 2)[0].astype("float64").sum(), x)
    np.testing.assert_array_equal(integer.eval({x: [1.0, 5.0]}, mode=REFERENCE_MODE), [0, 0])


def test_float32_is_kept():
    x = pt.vector("x", dtype="float32")
    gradient = pytensor.grad(pt.topk(x, 2)[0].sum(dtype="float32"), x)
    value = gradient.eval({x: np.ones(3, "f4")}, mode=REFERENCE_MODE)
    assert gradient.type.dtype == value.dtype == "float32"


@pytest.mark.parametrize("k", [0, -1, 1.5, True, None, "2"])
def test_bad_k(k):
    with pytest.raises(ValueError, match="k must be an integer of at least 1"):
        pt.topk(pt.vector(), k)


def test_bad_input():
    with pytest.raises(ValueError, match="at least one axis"):
        pt.topk(pt.scalar(), 1)
    with pytest.raises(TypeError, match="topk: x must be of real numbers"):
        pt.topk(pt.zvector(), 1)
    for axis in (2, -3, None, "0", True):
        with pytest.raises(ValueError, match="topk: axis must be an int from -2 to 1, got"):
            pt.topk(pt.matrix(), 1, axis)
    message = "k=4 is larger than the length 3 of axis 0"
    with pytest.raises(ValueError, match=message):
        pt.topk(np.arange(3.0), 4)
    x = pt.vector("x")
    f = pytensor.function([x], pt.topk(x, 4), mode=REFERENCE_MODE)
    with pytest.raises(ValueError, match=message):
        f([1.0, 2.0, 3.0])
