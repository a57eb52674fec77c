"""The ONNX standard's "light" models, networks whose weights are constants, of opset 9."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx.backend.test import runner

from pytensor.link.onnx import from_onnx
from tests.link.onnx.importing.with_onnxruntime import compare

FOLDER = Path(runner.__file__).parents[1] / "data" / "light"
NAMES = sorted(path.stem for path in FOLDER.glob("*.onnx"))


def image(value):
    """Return what the standard's runner gives the models."""
    shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
    n = np.prod(shape)
    return (np.arange(n).reshape(shape) / n).astype("float32")


def test_one_is_read():
    (out,) = from_onnx(FOLDER / "light_zfnet512.onnx").outputs.values()
    assert out.type.dtype == "float32"
    assert out.type.shape[:2] == (1, 1000)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_in_jax(name):
    pytest.importorskip("jax")
    model = onnx.load(FOLDER / f"{name}.onnx")
    weights = {tensor.name for tensor in model.graph.initializer}
    values = [image(v) for v in model.graph.input if v.name not in weights]
    (result,) = compare(model, values, "JAX", atol=1e-7)
    recorded = onnx.load_tensor(FOLDER / f"{name}_output_0.pb")
    np.testing.assert_allclose(result, numpy_helper.to_array(recorded), rtol=1e-3, atol=1e-7)
