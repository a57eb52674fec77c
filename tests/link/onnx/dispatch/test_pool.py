import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx import export_onnx
from pytensor.link.onnx.write.term import INTEGERS
from pytensor.tensor.pool import POOL_MODES, Pool, PoolWithIndices, lp_pool, pool_nd
from pytensor.tensor.pullback import SymbolicPullback
from tests.catalogue.operators import OPERATORS
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types, run
from tests.tensor.pool.test_pool import poolings
from tests.utils import REFERENCE_MODE

X = np.random.default_rng(7).normal(size=(2, 3, 9, 12)).astype("float32") - 1


@pytest.mark.parametrize("ignore_border", [True, False])
@pytest.mark.parametrize(
    ("ws", "stride", "pad"),
    [((2, 3), None, (0, 0)), ((5, 5), (1, 1), (2, 2)), ((2, 4), (3, 5), (1, 3))],
)  # fmt: skip
def test_no_window_is_left_to_the_runtimes_rounding(ws, stride, pad, ignore_border):
    x = pt.tensor("x", shape=(None, 3, 9, 12), dtype="float32")
    outputs = [pt.pool_2d(x, ws, ignore_border, stride, pad, mode) for mode in POOL_MODES]
    model = compare_onnx_and_py([x], outputs, [X])
    assert not any(a.name == "ceil_mode" for n in model.graph.node for a in n.attribute)


@pytest.mark.slow
def test_nan_and_infinity():
    x = pt.tensor("x", shape=(1, 2, 5, 7), dtype="float32")
    value = np.linspace(-3, 3, 70, dtype="float32").reshape(x.type.shape)
    value[0, 0, 1, 1] = value[0, 1, 4, 6] = value[0, 0, 4, :2] = np.nan
    value[0, 0, 2, 4] = np.inf
    value[0, 1, :2] = -np.inf
    y = pt.nn.max_pool2d(x, (2, 3), ceil_mode=True)
    outputs = [y, pt.grad(y.sum(), x)]
    compare_onnx_and_py([x], outputs, [value], exact=True)
    # What is exported by default is one node, and NaN are the runtime's affair.
    assert op_types(export_onnx([x], y)) == ["MaxPool"]
    results = pytensor.function([x], outputs, mode="ONNX")(value)
    expected = pytensor.function([x], outputs, mode=REFERENCE_MODE)(value)
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, wanted)


def test_large_integers():
    x = pt.tensor("x", shape=(None, 4), dtype="int64")
    value = [[2**53 + 1, 2**53, -(2**63), 2**62], [2**53, 1, 2**62, 2**62]]
    outputs = [pool_nd(x, (1, 2), mode=mode) for mode in ("sum", "max")]
    compare_onnx_and_py([x], outputs, [value])
    value = np.random.default_rng(0).integers(-(2**33), 2**33, (20, 4))
    compare_onnx_and_py([x], outputs[1:], [value])


def test_windows_of_four_axes():
    x = pt.tensor("x", shape=(None, 2, 3, 4, 5), dtype="float32")
    value = np.random.default_rng(3).permutation(240).reshape(2, 2, 3, 4, 5)
    outputs = [pool_nd(x, (2, 1, 2, 3), mode=mode) for mode in ("average_exc_pad", "max")]
    compare_onnx_and_py([x], outputs, [value])


NODES = {
    "MaxPool": (
        lambda x: pt.nn.max_pool2d(x, (2, 3), (1, 2), ((1, 0), (1, 2)), dilation=(2, 1)),
        lambda x: pt.nn.max_pool2d(
            x, (2, 3), 2, 1, dilation=2, ceil_mode=True, return_indices=True
        ),
    ),
    "AveragePool": (
        lambda x: pool_nd(
            x, (2, 3), True, 2, ((1, 0), 1), "average_inc_pad", dilation=(2, 1)
        ),
        lambda x: pt.nn.adaptive_avg_pool2d(x, (3, None)),
    ),
    "LpPool": (lambda x: lp_pool(x, 3, (2, 3), (1, 2), ((1, 0), 2), (2, 1)),),
    "GlobalMaxPool": (pt.nn.global_max_pool,),
    "GlobalAveragePool": (pt.nn.global_avg_pool,),
    "ScatterElements": (OPERATORS["max_unpool2d, as the image"].build,),
}


@pytest.mark.parametrize("opset", [18, 24])
@pytest.mark.parametrize("op_type", NODES)
def test_native_nodes(op_type, opset):
    x = pt.tensor("x", shape=(None, 3, 9, 12), dtype="float32")
    for build in NODES[op_type]:
        outputs = build(x)
        outputs = outputs if isinstance(outputs, list) else [outputs]
        model = export_onnx([x], outputs, opset_version=opset)
        if op_type != "AveragePool" or opset > 18:
            assert op_type in op_types(model)
        results = run(model, [X])
        expected = pytensor.function([x], outputs, mode=REFERENCE_MODE)(X)
        for result, wanted in zip(results, expected, strict=True):
            np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
@given(poolings(), st.sampled_from(["float16", "float32", "float64"]), st.data())
def test_pooling_and_its_gradient(pooling, dtype, data):
    op, shape = pooling
    special = [0, 1, 2, 3, -4, np.nan, np.inf, -np.inf] if op.mode == "max" else range(-4, 5)
    value = data.draw(hnp.arrays(dtype, shape, elements=st.sampled_from(special)))
    static = [data.draw(st.sampled_from([length, None])) for length in shape]
    x = pt.tensor("x", shape=static, dtype=dtype)
    spatial = op.output_spatial_shape(shape[-len(op.ws) :])
    g_shape = (*shape[: -len(op.ws)], *spatial)
    g = pt.tensor("g", shape=g_shape, dtype=dtype)
    g_value = data.draw(hnp.arrays(dtype, g_shape, elements=st.integers(-4, 4)))
    outputs = [op(x), SymbolicPullback(op=op)(x, g)]
    if op.mode == "max":
        outputs += PoolWithIndices(op=op)(x)
    compare_onnx_and_py([x, g], outputs, [value, g_value], exact=True)


@pytest.mark.slow
@given(poolings(), st.sampled_from(INTEGERS), st.data())
def test_pooling_of_integers(pooling, dtype, data):
    op, shape = pooling
    mode = "max" if op.mode == "max" else "sum"
    properties = {name: getattr(op, name) for name in Pool.__props__}
    op = Pool(**{**properties, "mode": mode})
    value = data.draw(hnp.arrays(dtype, shape))
    static = [data.draw(st.sampled_from([length, None])) for length in shape]
    x = pt.tensor("x", shape=static, dtype=dtype)
    outputs = [op(x), *(PoolWithIndices(op=op)(x) if mode == "max" else ())]
    compare_onnx_and_py([x], outputs, [value], exact=True)
