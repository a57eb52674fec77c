"""One set of weights for two sizes of input: what differs, in Python and in the page's graph."""

import numpy as np
import onnx
import onnxruntime
import pytest
from evaluation.detectors import OnnxDetector
from export import export_detector
from onnx import numpy_helper
from tools.sizes import SizeError, size_patch, with_size

from pytensor.link.onnx import half_weights, optimized_graph
from tests.examples.yolo11n.conftest import CLASSES

LARGER = 96


@pytest.fixture(scope="module")
def models(finder, finder_onnx_of_one, tmp_path_factory):
    """Return the same weights at both sizes."""
    path = tmp_path_factory.mktemp("sizes") / "larger.onnx"
    return onnx.load(finder_onnx_of_one), export_detector(finder, path, CLASSES, LARGER)


def outputs(model, folder):
    """Return what a model computes of noise."""
    onnx.save(model, folder / "m.onnx")
    image = np.random.default_rng(0).integers(0, 256, (1, 3, LARGER, LARGER), dtype=np.uint8)
    return OnnxDetector(folder / "m.onnx")(image)


@pytest.mark.slow
def test_a_patched_model_is_the_larger_export(models, tmp_path):
    smaller, larger = models
    patch = size_patch(smaller, larger)
    assert len(patch.SerializeToString()) < 10_000
    patched = with_size(smaller, patch)
    onnx.checker.check_model(patched, full_check=True)
    np.testing.assert_array_equal(outputs(patched, tmp_path), outputs(larger, tmp_path))
    assert size_patch(smaller, patched) == patch  # so the page in the repository can be rebuilt
    names = [array.name for array in patch.initializer]
    half = [half_weights(model, exclude=names) for model in models]
    found = [outputs(model, tmp_path) for model in (with_size(half[0], patch), half[1])]
    np.testing.assert_array_equal(*found)


@pytest.mark.slow
def test_the_optimized_graph_takes_the_same_patch(models, finder_onnx_of_one, tmp_path):
    patch = size_patch(*models)
    graph = with_size(optimized_graph(finder_onnx_of_one, "model"), patch)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    weights = finder_onnx_of_one.read_bytes()
    options.add_external_initializers_from_files_in_memory(["model"], [weights], [len(weights)])
    session = onnxruntime.InferenceSession(graph.SerializeToString(), options)
    image = np.random.default_rng(0).integers(0, 256, (1, 3, LARGER, LARGER), dtype=np.uint8)
    found = session.run(None, {"images": image.astype(np.float32) / np.float32(255)})[0]
    np.testing.assert_allclose(found, outputs(models[1], tmp_path), atol=1e-3)


@pytest.mark.slow
def test_other_models_are_refused(models):
    smaller, larger = models
    changed = onnx.ModelProto()
    changed.CopyFrom(larger)
    weights = next(a for a in changed.graph.initializer if a.name == "model.23.cv3.0.2.bias")
    values = numpy_helper.to_array(weights)
    weights.CopyFrom(numpy_helper.from_array(values + np.float32(1), weights.name))
    with pytest.raises(SizeError, match=r"the weights model\.23\.cv3\.0\.2\.bias differ"):
        size_patch(smaller, changed)
    changed.graph.initializer.remove(weights)
    for pair in ((smaller, changed), (changed, smaller)):
        with pytest.raises(SizeError, match=r"only one .* constant model\.23\.cv3\.0\.2\.bias"):
            size_patch(*pair)
    changed.graph.node[5].op_type = "Relu"
    with pytest.raises(SizeError, match="different nodes"):
        size_patch(smaller, changed)
    patch = size_patch(smaller, larger)
    patch.initializer[0].name = "folded"
    with pytest.raises(SizeError, match="the model has no constant folded"):
        with_size(smaller, patch)
