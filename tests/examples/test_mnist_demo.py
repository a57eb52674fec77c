"""The first example as its README gives it, and its reader of MNIST's files."""

import gzip
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import onnx
import pytest

from tests.examples.conftest import run_python

DEMO = Path(__file__).parents[2] / "examples" / "onnx" / "onnx-mnist-demo"
FILES = [f"{p}-{k}-ubyte" for p in ("train", "t10k") for k in ("images-idx3", "labels-idx1")]

pytest.importorskip("jax")
pytest.importorskip("sklearn")
spec = spec_from_file_location("digits", DEMO / "digits.py")
digits = module_from_spec(spec)
spec.loader.exec_module(digits)


def write_idx(path, array):
    data = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">i4").tobytes() + array.tobytes()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


@pytest.fixture
def mnist(tmp_path):
    """Write files in MNIST's format, of 100 and 20 made-up pictures; half of them compressed."""
    rng = np.random.default_rng(0)
    arrays = []
    for name, n in [("train", 100), ("t10k", 20)]:
        arrays += [rng.integers(256, size=(n, 28, 26), dtype="uint8"), np.arange(n, dtype="uint8")]
        arrays[-1] %= 10
        write_idx(tmp_path / f"{name}-images-idx3-ubyte.gz", arrays[-2])
        write_idx(tmp_path / f"{name}-labels-idx1-ubyte", arrays[-1])
    return tmp_path, arrays


@pytest.mark.slow
def test_digits(tmp_path):
    result = run_python([DEMO / "train_mnist_cnn.py"], tmp_path)
    assert result.returncode == 0, result.stderr
    assert "scikit-learn's digits: 1400 images to train with, 397 to test with" in result.stdout
    accuracy = float(re.search(r"mnist_cnn.onnx: accuracy (\S+)", result.stdout)[1])
    last = float(re.search(r"epoch 8, .* score ([\d.]+)", result.stdout)[1])
    assert accuracy == last >= 0.97
    model = onnx.load(tmp_path / "mnist_cnn.onnx")
    onnx.checker.check_model(model, full_check=True)
    operators = [node.op_type for node in model.graph.node]
    assert operators.count("Conv") == operators.count("MaxPool") == 3
    assert "BatchNormalization" not in operators


@pytest.mark.slow
def test_untrained_it_misses_the_target(mnist):
    folder, _ = mnist
    arguments = [DEMO / "train_mnist_cnn.py", "--mnist", folder, "--epochs", 0]
    result = run_python(arguments, folder)
    assert "MNIST: 100 images to train with, 20 to test with" in result.stdout
    assert result.returncode == 1
    assert re.search(r"the accuracy 0\.\d+ is under its target of 0.985", result.stderr)


def test_files_of_mnist(mnist):
    folder, (x, y, x_test, y_test) = mnist
    images, labels = digits.load(str(folder))
    for actual, expected in zip(images, [x, x_test], strict=True):
        assert actual.dtype == "float32"
        np.testing.assert_allclose(actual, expected[:, None] / 255, rtol=1e-6)
    for actual, expected in zip(labels, [y, y_test], strict=True):
        assert actual.dtype == "int32"
        np.testing.assert_array_equal(actual, expected)


def test_address(mnist):
    folder, (x, *_) = mnist
    actual = digits.read_idx(folder.as_uri() + "/", "train-images-idx3-ubyte")
    np.testing.assert_array_equal(actual, x)


def test_errors(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"has neither train-images-idx3-ubyte nor"):
        digits.load(str(tmp_path))
    for name in FILES:
        (tmp_path / name).write_text("<html>")
    with pytest.raises(ValueError, match=r"isn't an idx file of bytes"):
        digits.load(str(tmp_path))


def test_accuracy_over_parts():
    images, labels = np.eye(7), np.array([0, 1, 2, 3, 0, 0, 6])
    assert digits.accuracy(lambda part: part, images, labels, size=3) == 5 / 7
