"""onnxruntime-web as a runtime: in Chromium, by WebAssembly and by WebGPU in software."""

from pathlib import Path

import pytest

from pytensor.link.onnx.compare import ComparisonError, compare_runtimes
from pytensor.link.onnx.compare.web import find_chromium
from tests.link.onnx.compare.public_models import public_model

ROOT = Path(__file__).parents[4]
ORT_WEB = ROOT / "examples" / "onnx" / "onnx-yolo-demo" / "node_modules" / "onnxruntime-web"


@pytest.fixture
def ort_web():
    try:
        find_chromium()
    except ComparisonError as error:
        pytest.skip(str(error))
    if not ORT_WEB.is_dir():
        pytest.skip("needs onnxruntime-web: npm ci in the detector's folder")
    return ORT_WEB


@pytest.mark.slow
@pytest.mark.browser
def test_both_at_once(ort_web):
    model, inputs = public_model("ours")
    runtimes = ["web-wasm", "web-webgpu"]
    for one in compare_runtimes(model.proto, inputs, runtimes, ort_web=ort_web):
        assert not one.wrong, one
        assert 0 < one.used < 1


def test_another_folder_is_refused(tmp_path):
    with pytest.raises(ComparisonError, match=r"has no ort\.wasm\.min\.js: --ort-web names"):
        compare_runtimes(public_model("ours")[0].proto, runtimes=["web-wasm"], ort_web=tmp_path)
