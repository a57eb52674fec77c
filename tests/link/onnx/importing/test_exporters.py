"""Networks that torch, scikit-learn's converter and jax2onnx wrote, through `from_onnx`.

The files are made by make_networks.py.  Outputs are compared with onnxruntime's, gradients with
those that torch and JAX recorded.
"""

from pathlib import Path

import numpy as np
import onnx
import pytest

from pytensor import function, grad
from pytensor.compile.mode import Mode
from pytensor.link.onnx import from_onnx
from tests.link.onnx.importing.with_onnxruntime import PYTHON, compare, in_onnxruntime

FOLDER = Path(__file__).parent / "networks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.onnx"))
FAST = Mode("py", "fast_compile")


@pytest.fixture(scope="module")
def recorded():
    """Return, by network, its inputs, the gradient of one, and that of a weight."""
    with np.load(FOLDER / "gradients.npz") as file:
        found = {}
        for key, value in file.items():
            name, _, what = key.partition("/")
            found.setdefault(name, {})[what] = value
        return found


def network_of(name):
    """Return what a file holds, whichever exporter wrote it."""
    return name.partition("_")[2]


def inputs_of(name, recorded):
    """Return the inputs that were recorded; for scikit-learn's models rows like irises."""
    if name.startswith("sklearn"):
        low, high = [4, 2, 1, 0], [8, 4.4, 7, 2.5]
        return [np.random.default_rng(0).uniform(low, high, (50, 4)).astype("float32")]
    return [value for key, value in recorded[network_of(name)].items() if key.startswith("input_")]


def agrees(name, recorded, mode):
    compare(onnx.load(FOLDER / f"{name}.onnx"), inputs_of(name, recorded), mode, atol=1e-5)


@pytest.mark.by_default(
    "sklearn_logistic_regression",
    "sklearn_mlp",
    "sklearn_random_forest",
    "sklearn_svc_of_two",
    "torch_lstm",
)
@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_those_of_onnxruntime(name, recorded):
    agrees(name, recorded, FAST)


@pytest.mark.by_default("sklearn_logistic_regression")
@pytest.mark.slow
@pytest.mark.usefixtures("compiled_sooner")
@pytest.mark.filterwarnings("ignore:Skipping Assert:UserWarning")  # of which JAX keeps none
@pytest.mark.parametrize("name", NAMES[::3])
def test_in_jax(name, recorded):
    pytest.importorskip("jax")
    agrees(name, recorded, "JAX")


@pytest.mark.by_default("jax_convolutional")
@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith("sklearn")])
def test_gradients_are_those_of_the_exporting_program(name, recorded):
    wanted = recorded[network_of(name)]
    network = from_onnx(FOLDER / f"{name}.onnx", trainable=True)
    x, y = network.inputs.values(), next(iter(network.outputs.values()))
    of = {"gradient": next(iter(x))}
    of |= {f"gradient of {k}": parameter for k, parameter in network.parameters.items()}
    of = {key: variable for key, variable in of.items() if key in wanted}
    assert of
    gradients = grad((y**2).mean(), list(of.values()))
    compute = function(list(x), gradients, mode=PYTHON, on_unused_input="ignore")
    for key, result in zip(of, compute(*inputs_of(name, recorded)), strict=True):
        np.testing.assert_allclose(result, wanted[key], rtol=1e-4, atol=1e-6, err_msg=key)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["logistic_regression", "svc"])
def test_gradients_of_probabilities_are_those_of_differences(name):
    model = onnx.load(FOLDER / f"sklearn_{name}.onnx")
    (rows,), step = inputs_of("sklearn", None), np.float32(0.01)
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
