"""The benchmark of the detection page: its checks, and the whole of it with a tiny model."""

import json

import pytest
from tools import build_demo
from tools.compare_runtimes import BrowserError

from benchmarks.common.results import rows_of
from benchmarks.page import browser
from tests.examples.yolo11n.page.browsers import require_chromium
from tests.examples.yolo11n.page.detectors import colour_detector_onnx


@pytest.fixture
def runtime():
    """Require onnxruntime-web, which npm fetches."""
    if problem := build_demo.runtime_problem():
        pytest.skip(problem)


def test_a_page_that_runs_in_another_way_is_not_measured():
    info = {"backend": "wasm", "threads": 1, "note": ""}
    gpu = info | {"backend": "webgpu"}
    browser.check_way(info, "wasm", 1)
    browser.check_way(gpu, "webgpu", 1)
    for found, backend, threads, message in (
        (info, "wasm", 2, r"1 thread\(s\), not 2"),
        (info, "webgpu", 1, "runs on wasm, not webgpu"),
        (gpu | {"note": "an imitation by software"}, "webgpu", 1, "times would say nothing"),
    ):
        with pytest.raises(BrowserError, match=message):
            browser.check_way(found, backend, threads)


def test_figures_of_frames_and_openings():
    """The ratio is that of the first model to the second in each round."""
    stage = {name: {"median": 1.0, "p90": 2.0} for name in browser.STAGES}
    rounds = {"model": [2, 9, 4], "reference": [4, 6, 4]}
    models = [{"name": n, "inferenceByRound": own, **stage} for n, own in rounds.items()]
    opening = {"median": 2.5, "min": 2.0, "max": 3.0}
    result = {"frames": {"wasm": models}, "openings": {"page": opening}, "files": {"a.js": 5}}
    rows = {figure: rest for figure, *rest in rows_of(browser.figures(result))}
    assert rows["wasm, ms > model > inference"] == ["1", "", "2"]
    assert rows["wasm, model / reference"] == ["1", "0.5", "1.5"]
    assert rows["from opening to the first result, seconds > page"] == ["2.5", "2", "3"]
    assert rows["bytes > a.js"] == ["5", "", ""]


@pytest.mark.slow
@pytest.mark.usefixtures("runtime")
def test_a_model_that_cannot_be_built_in_is_one_line(tmp_path, capsys):
    (tmp_path / "broken.onnx").write_bytes(b"no model")
    assert browser.main([str(tmp_path / "broken.onnx")]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert "broken.onnx: not an ONNX model" in error


@pytest.mark.long
@pytest.mark.browser
@pytest.mark.usefixtures("runtime")
def test_a_tiny_model_is_measured_beside_another(tmp_path, capsys):
    require_chromium()
    small, large = tmp_path / "small.onnx", tmp_path / "large.onnx"
    colour_detector_onnx(small, 64)
    colour_detector_onnx(large, 256)
    output = tmp_path / "result.json"
    counts = ["--frames", "3", "--rounds", "2", "--openings", "1"]
    arguments = [str(small), "--reference", str(large), *counts, "--json", str(output)]
    assert browser.main(arguments) == 0
    result = json.loads(output.read_text())
    assert len(result["frames"]) == 2
    for models in result["frames"].values():
        assert [model["name"] for model in models] == ["model", "reference"]
        assert [model["size"] for model in models] == [[64, 64], [256, 256]]
        for model in models:
            assert len(model["inferenceByRound"]) == 2
            assert all(model[stage]["median"] >= 0 for stage in browser.STAGES)
            assert model["loop"]["median"] > model["inference"]["median"] > 0
        # of the machine's noise sixteen times the pixels are free
        assert browser.ratios(models)["median"] < 1
    assert all(0 < opening["median"] < 600 for opening in result["openings"].values())
    sizes = result["files"]
    assert sizes["yolo_detection_single_file.html"] > sizes["demo_assets/runtime.js"] > 1e6
    text = capsys.readouterr().out
    assert "wasm, 1 thread (file://)" in text
    assert "inference, model / reference: 0." in text
