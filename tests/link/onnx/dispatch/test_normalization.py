import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytensor
import pytensor.tensor as pt
from tests.link.onnx.test_basic import compare_onnx_and_py
from tests.utils import in_turn

RNG = np.random.default_rng(8)
SHAPE = (2, 6, 3, 5)
X = RNG.normal(1, 3, size=SHAPE)
OPSETS = (18, 22, 23)

# Function of the input and the parameters, and the parameters' shape
CASES = {
    "layer": (lambda x, *p: pt.nn.layer_norm(x, (None,), *p), (5,)),
    "layer_over_two": (lambda x, *p: pt.nn.layer_norm(x, x.type.shape[2:], *p), (3, 5)),
    "layer_over_all": (lambda x, *p: pt.nn.layer_norm(x, x.type.shape[0:], *p), SHAPE),
    "rms": (
        lambda x, scale=None, bias=0: pt.nn.rms_norm(x, (None,), scale, eps=1e-5) + bias, (5,)
    ),
    "instance": (
        lambda x, scale=None, bias=None: pt.nn.instance_norm(x, weight=scale, bias=bias), (6,)
    ),
    "group": (lambda x, *p: pt.nn.group_norm(x, 3, *p), (6,)),
}
def inputs_of(name, static=True):
    shapes = (SHAPE, CASES[name][1], CASES[name][1])
    return [
        pt.tensor(label, shape=shape if static else (None,) * len(shape), dtype="float32")
        for label, shape in zip(("x", "scale", "bias"), shapes, strict=True)
    ]


def values_of(name):
    shape = CASES[name][1]
    return [X, RNG.uniform(0.5, 2, shape), RNG.normal(size=shape)]


@in_turn("name, static", [*CASES], [True, False])
def test_missing_parameters(name, static):
    x, scale, bias = inputs_of(name, static)
    function = CASES[name][0]
    outputs = [function(x), function(x, scale), function(x, None, bias)]
    compare_onnx_and_py([x, scale, bias], outputs, values_of(name), rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("name", [name for name in CASES if name != "rms"])
def test_large_mean(name):
    # ONNX's own GroupNormalization gives NaN here
    x = pt.tensor("x", shape=SHAPE, dtype="float32")
    compare_onnx_and_py([x], CASES[name][0](x), [X + 1e4], atol=5e-3)


@pytest.mark.parametrize("name", CASES)
def test_epsilon_counts_in_double_precision(name):
    x = pt.tensor("x", shape=SHAPE, dtype="float64")
    compare_onnx_and_py([x], CASES[name][0](x), [X * 1e-3], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", CASES)
def test_nan_and_infinity(name):
    x = pt.tensor("x", shape=SHAPE, dtype="float32")
    value = X.copy()
    value[0, 1, 2, 3], value[1, 4, 0, 0] = np.nan, np.inf
    compare_onnx_and_py([x], CASES[name][0](x), [value])


@pytest.mark.parametrize("name", [name for name in CASES if name != "group"])
def test_parameters_of_one_element(name):
    # Of unknown length in the input
    function, shape = CASES[name]
    x = pt.tensor("x", shape=(None,) * 4, dtype="float32")
    scale = pt.tensor("scale", shape=(1,) * len(shape), dtype="float32")
    value = X[:, :1] if name == "instance" else X[(..., *[slice(1)] * len(shape))]
    compare_onnx_and_py(
        [x, scale], function(x, scale, scale), [value, np.full((1,) * len(shape), 2)]
    )


@pytest.mark.slow
@given(
    hnp.array_shapes(min_dims=2, max_dims=4, min_side=0, max_side=4),
    st.booleans(),
    st.sampled_from(["float32", "float64"]),
    st.data(),
)
def test_any_shape(shape, static, dtype, data):
    groups = data.draw(st.sampled_from([n for n in range(1, 5) if shape[1] % n == 0]))
    axis = data.draw(st.integers(0, len(shape) - 1))
    value = data.draw(hnp.arrays("int8", shape, elements=st.integers(-4, 4)))
    x = pt.tensor("x", shape=shape if static else (None,) * len(shape), dtype=dtype)
    outputs = [
        pt.nn.layer_norm(x, x.type.shape[axis:], eps=0.1),
        pt.nn.rms_norm(x, x.type.shape[axis:], eps=0.1),
        pt.nn.group_norm(x, groups, eps=0.1),
    ]
    if len(shape) > 2:
        outputs.append(pt.nn.instance_norm(x, eps=0.1))
    with np.errstate(invalid="ignore", divide="ignore"):
        compare_onnx_and_py([x], outputs, [value], rtol=1e-4, atol=1e-5, exact=True)


def test_no_channels_with_parameters():
    x = pt.tensor("x", shape=(None,) * 3, dtype="float32")
    scale, channels = pt.fvectors("scale", "channels")
    outputs = [
        pt.nn.layer_norm(x, x.type.shape[-1:], scale),
        pt.nn.rms_norm(x, x.type.shape[-1:], scale),
        pt.nn.instance_norm(x, weight=channels, bias=channels),
        pt.nn.group_norm(x, 2, channels, channels),
    ]
    values = [np.ones(n) for n in ((2, 0, 3), 3, 0)]
    with np.errstate(invalid="ignore", divide="ignore"):
        compare_onnx_and_py([x, scale, channels], outputs, values, exact=True)


def test_channels_that_do_not_divide_into_groups():
    x = pt.tensor("x", shape=(None,) * 3, dtype="float32")
    f = pytensor.function([x], pt.nn.group_norm(x, 2), mode="ONNX")
    with pytest.raises(ValueError, match="GroupNormalization"):
        f(np.ones((2, 7, 4), "float32"))
