"""One model of every supported Op in onnxruntime-web, by WebAssembly under Node."""

import base64
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest

from pytensor.link.onnx import export_onnx
from tests.link.onnx.compare.intact import exported_examples
from tests.link.onnx.extras.random.test_random import CONTINUOUS, N, session_of, shared_rng
from tests.utils import TOLERANCES

WEB = Path(__file__).parent / "web"


@pytest.fixture(scope="module")
def runner(tmp_path_factory):
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("needs Node.js and npm")
    folder = tmp_path_factory.mktemp("web")
    for file in WEB.iterdir():
        shutil.copy(file, folder)
    subprocess.run(
        ["npm", "install", "--no-audit", "--no-fund"], cwd=folder, check=True, capture_output=True
    )
    return folder / "run_models.mjs"


def encode(array):
    array = np.asarray(array, order="C")
    data = base64.b64encode(array.tobytes()).decode()
    return {"type": array.dtype.name, "dims": list(array.shape), "data": data}


def decode(tensor):
    data = base64.b64decode(tensor["data"])
    return np.frombuffer(data, tensor["type"]).reshape(tensor["dims"])


@pytest.mark.long
def test_every_supported_op(runner, tmp_path):
    expected = {}
    for number, (name, model, values, results) in enumerate(exported_examples()):
        key = f"{number:03d}"
        expected[key] = name, [output.name for output in model.graph.output], results
        onnx.save(model, tmp_path / f"{key}.onnx")
        feeds = {i.name: encode(v) for i, v in zip(model.graph.input, values, strict=True)}
        (tmp_path / f"{key}.json").write_text(json.dumps({"inputs": feeds}))
    subprocess.run(["node", runner, tmp_path], check=True)
    results = json.loads((tmp_path / "results.json").read_text())
    failures = []
    for key, (name, outputs, wanted) in expected.items():
        if "error" in results[key] and "error" not in outputs:
            failures.append(f"{name}: {results[key]['error']}")
            continue
        for output, reference in zip(outputs, wanted, strict=True):
            actual, reference = decode(results[key][output]), np.asarray(reference)
            rtol, atol = TOLERANCES.get(reference.dtype.name, (0, 0))
            same = (actual.dtype, actual.shape) == (reference.dtype, reference.shape)
            if not same or not np.allclose(actual, reference, rtol, atol, equal_nan=True):
                failures.append(f"{name}: {actual!r} instead of {reference!r}")
    assert len(expected) > 150
    assert not failures, "\n".join(failures)


# What is drawn by arithmetic alone, and what isn't.
EXACT = {
    "uniform": (-2.0, 3.0),
    "triangular": (-1.0, 0.5, 4.0),
    "bernoulli": (0.3,),
    "integers": (-3, 2**61),
    "categorical": ([0.1, 0.0, 0.6, 0.3],),
    "hypergeometric": (10, 15, 8),
}
ROUNDED = {"normal": (1.0, 2.0), "exponential": (3.0,), "beta": (2.0, 3.5), "poisson": (40.0,)}


@pytest.mark.long
@pytest.mark.parametrize("opset", [18, 24])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_draws_by_counter(runner, tmp_path, dtype, opset):
    outputs = []
    for name, parameters in (EXACT | ROUNDED).items():
        floats = {"dtype": dtype} if name in CONTINUOUS else {}
        outputs.append(getattr(shared_rng(), name)(*parameters, size=(N,), **floats)[1])
    outputs.append(shared_rng().permutation(N)[1])
    model = export_onnx(
        [],
        outputs,
        opset_version=opset,
        output_names=[*EXACT, *ROUNDED, "permutation"],
        random="counter",
    )
    onnx.save(model, tmp_path / "draws.onnx")
    seed = np.array(-(2**60) - 1)
    (tmp_path / "draws.json").write_text(json.dumps({"inputs": {"seed": encode(seed)}}))
    subprocess.run(["node", runner, tmp_path], check=True)
    results = json.loads((tmp_path / "results.json").read_text())["draws"]
    names = [output.name for output in model.graph.output]
    for name, wanted in zip(names, session_of(model).run(None, {"seed": seed}), strict=True):
        actual = decode(results[name])
        assert (actual.dtype, actual.shape) == (wanted.dtype, wanted.shape)
        if name in ROUNDED:
            np.testing.assert_allclose(actual, wanted, rtol=np.finfo(dtype).eps, atol=1e-13)
        else:
            assert actual.tobytes() == wanted.tobytes(), name
