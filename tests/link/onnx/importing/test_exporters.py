"""Networks that torch, scikit-learn's converter and jax2onnx wrote, through `from_onnx`.

Outputs are compared with onnxruntime's, gradients with those that torch and JAX recorded.
"""

import numpy as np
import onnx
import pytest

from pytensor import function, grad
from pytensor.compile.mode import Mode
from pytensor.link.onnx import from_onnx
from tests.link.onnx.importing.recorded import FOLDER, NAMES, inputs_of, recorded
from tests.link.onnx.importing.with_onnxruntime import PYTHON, compare, in_onnxruntime

FAST = Mode("py", "fast_compile")


def agrees(name, mode):
    compare(onnx.load(FOLDER / f"{name}.onnx"), inputs_of(name), mode, atol=1e-5)


@pytest.mark.by_default(
    "sklearn_logistic_regression",
    "sklearn_mlp",
    "sklearn_random_forest",
    "sklearn_svc_of_two",
    "torch_lstm",
)
@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_those_of_onnxruntime(name):
    agrees(name, FAST)


@pytest.mark.by_default("sklearn_logistic_regression")
@pytest.mark.slow
@pytest.mark.usefixtures("compiled_sooner")
@pytest.mark.filterwarnings("ignore:Skipping Assert:UserWarning")  # of which JAX keeps none
@pytest.mark.parametrize("name", NAMES[::3])
def test_in_jax(name):
    pytest.importorskip("jax")
    agrees(name, "JAX")


@pytest.mark.by_default("jax_convolutional")
@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith("sklearn")])
def test_gradients_are_those_of_the_exporting_program(name):
    wanted = recorded(name)
    network = from_onnx(FOLDER / f"{name}.onnx", trainable=True)
    x, y = network.inputs.values(), next(iter(network.outputs.values()))
    of = {"gradient": next(iter(x))}
    of |= {f"gradient of {k}": parameter for k, parameter in network.parameters.items()}
    of = {key: variable for key, variable in of.items() if key in wanted}
    assert of
    gradients = grad((y**2).mean(), list(of.values()))
    compute = function(list(x), gradients, mode=PYTHON, on_unused_input="ignore")
    for key, result in zip(of, compute(*inputs_of(name)), strict=True):
        np.testing.assert_allclose(result, wanted[key], rtol=1e-4, atol=1e-6, err_msg=key)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["logistic_regression", "svc"])
def test_gradients_of_probabilities_are_those_of_differences(name):
    model = onnx.load(FOLDER / f"sklearn_{name}.onnx")
    (rows,), step = inputs_of("sklearn"), np.float32(0.01)
    rows = rows[:5]
    network = from_onnx(model)
    (x,), (_, y) = network.inputs.values(), network.outputs.values()
    weights = np.array([1, -2, 4], "float32")
    gradient = function([x], grad((y * weights).sum(), x), mode=PYTHON)(rows)
    for feature in range(rows.shape[1]):
        more, less = rows.copy(), rows.copy()
        more[:, feature] += step
        less[:, feature] -= step
        change = in_onnxruntime(model, [more])[1] - in_onnxruntime(model, [less])[1]
        wanted = (change @ weights) / (2 * step)
        np.testing.assert_allclose(gradient[:, feature], wanted, rtol=1e-2, atol=2e-3)
