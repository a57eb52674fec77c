"""What single precision loses of a graph's outputs."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.link.onnx import export_onnx, rounding_error
from pytensor.link.onnx.compare.double_precision import in_double_precision
from pytensor.tensor.special import softmax


def network():
    """Build layers of all kinds that know their dtypes, and a sum that loses much."""
    rng = np.random.default_rng(0)
    weight = pytensor.shared(rng.normal(size=(4, 3, 3, 3)).astype("float32"), name="weight")
    x = pt.tensor("x", dtype="uint8", shape=(2, 3, 8, 6))
    h = pt.conv2d(x.astype("float32") / np.float32(255), weight, border_mode="half")
    h = softmax(pt.nn.max_pool2d(pt.silu(h), 2), axis=1)
    inner = h.type()
    h = OpFromGraph([inner], [pt.sqrt(inner)])(h)
    lost = (h + np.float32(4096)).sum(axis=(2, 3), acc_dtype="float32") - np.float32(6 * 4096)
    return x, weight, [h, lost]


@pytest.mark.slow
@pytest.mark.usefixtures("float32_everywhere")
def test_errors_are_those_of_single_precision():
    x, weight, outputs = network()
    value = np.random.default_rng(1).integers(0, 256, (2, 3, 8, 6), dtype="uint8")
    model = export_onnx([x], outputs, output_names=["h", "lost"])
    errors = rounding_error(model, {"x": value})
    assert errors["h"].dtype == errors["lost"].dtype == np.float64
    assert 0 < errors["h"].max() < 1e-4
    assert 1e-5 < errors["lost"].max() < 1
    own = weight.type(name="own")
    wide = in_double_precision([x, own], clone_replace(outputs, {weight: own}))
    exact = pytensor.function(*wide, mode="FAST_COMPILE")(value, weight.get_value())
    single = pytensor.function([x], outputs, mode="FAST_COMPILE")(value)
    for name, found, wanted in zip(errors, single, exact, strict=True):
        assert (np.abs(found - wanted) <= errors[name]).all()


def test_everything_is_wider():
    x, weight, outputs = network()
    own = weight.type(name="own")
    outputs = clone_replace(outputs, {weight: own})
    inputs, wide = in_double_precision([x, own], outputs)
    assert [v.type.dtype for v in (*inputs, *wide)] == ["uint8", "float64", "float64", "float64"]
    dtypes = {v.type.dtype for v in ancestors(wide) if hasattr(v.type, "dtype")}
    assert "float32" not in dtypes
    assert outputs[0].type.dtype == "float32"
