"""The same detections in PyTensor, onnxruntime and the page: the command that compares them."""

import dataclasses
import io
import re

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from PIL import Image
from tools import chromium, compare_runtimes
from tools.chromium import BrowserError, find_chromium, page_url
from tools.compare_runtimes import (
    MAX_BOX_DIFFERENCE,
    MAX_SCORE_DIFFERENCE,
    Difference,
    Picture,
    format_table,
    largest_difference,
    main,
    match,
    parse_arguments,
    run_page,
)

from tests.examples.demo_browser import random_yolo, yolo_onnx

CLASSES, SIZE = ["person", "cell phone"], 64


def detections(*rows):
    """float32 (n, 6) of x1, y1, x2, y2, score, class."""
    return np.array(rows, dtype=np.float32).reshape(-1, 6)


# ------------------------------------------------------------------------------ matching


def test_the_same_detections_in_any_order_have_no_difference():
    rows = detections(
        [0, 0, 10, 20, 0.9, 0],
        [5, 5, 30, 40, 0.8, 1],
        [5, 5, 30, 40, 0.7, 0],
        [2, 0, 12, 20, 0.6, 0],
    )
    assert match(rows, rows[[2, 0, 3, 1]]) == Difference()


def test_differences_are_the_largest_ones_of_pairs():
    first = detections([0, 0, 10, 20, 0.9, 0], [50, 50, 90, 90, 0.5, 1])
    second = detections([50, 50.25, 90, 89, 0.5, 1], [0, 0.5, 10, 20, 0.875, 0])
    found = match(first, second)
    assert found.lonely == []
    assert found.box == pytest.approx(1)
    assert found.score == pytest.approx(0.025, abs=1e-6)
    assert found.fails(0.25)


def test_boxes_on_one_another_are_paired_by_score():
    box = [10, 10, 60, 60]
    first = detections([*box, 0.9, 0], [*box, 0.3, 0])
    second = detections([*box, 0.301, 0], [*box, 0.899, 0])
    assert match(first, second).score == pytest.approx(0.001, abs=1e-6)


def test_boxes_that_were_clipped_to_a_line_are_paired():
    first = detections([0, 0, 50, 0, 0.9, 0], [0, 0, 50, 0, 0.5, 0], [10, 0, 30, 0, 0.7, 0])
    second = first[[1, 2, 0]] + np.float32([0, 0, 0.25, 0, 0, 0])
    assert match(first, second) == Difference(0.25, 0)


@pytest.mark.parametrize(
    "other",
    [
        detections(),
        detections([0, 0, 10, 20, 0.9, 1]),  # another class
        detections([7, 0, 17, 20, 0.9, 0]),  # too little overlap
    ],
)
def test_detections_without_a_partner_fail_on_either_side(other):
    own = detections([0, 0, 10, 20, 0.9, 0])
    for first, second in ((own, other), (other, own)):
        found = match(first, second)
        assert len(found.lonely) == 1 + len(other)
        assert found.missing(0.25) == 1 + len(other)
        assert found.fails(0.25)


def test_a_lonely_detection_at_the_threshold_is_allowed_and_counted():
    shared = [0, 0, 10, 20, 0.9, 0]
    near = [50, 50, 90, 90, 0.25 + 0.8 * MAX_SCORE_DIFFERENCE, 1]
    far = [50, 50, 90, 90, 0.25 + 1.2 * MAX_SCORE_DIFFERENCE, 1]
    allowed = match(detections(shared, near), detections(shared))
    assert (len(allowed.lonely), allowed.missing(0.25), allowed.fails(0.25)) == (1, 0, False)
    assert match(detections(shared, far), detections(shared)).fails(0.25)


def test_the_limits_are_exclusive():
    assert not Difference(MAX_BOX_DIFFERENCE, MAX_SCORE_DIFFERENCE).fails(0.25)
    assert Difference(1.01 * MAX_BOX_DIFFERENCE, 0).fails(0.25)
    assert Difference(0, 1.01 * MAX_SCORE_DIFFERENCE).fails(0.25)
    assert Difference(float("nan"), 0).fails(0.25)
    assert Difference(0, 0, [float("nan")]).fails(0.25)


def test_every_runtime_is_compared_with_every_other():
    near, mid, far = (detections([0, 0, 10, 20 + y, 0.9, 0]) for y in (0, 0.125, 0.25))
    assert largest_difference([near, near, near]).box == 0
    for found in ([near, mid, far], [mid, near, far], [near, far, mid]):
        assert largest_difference(found).box == 0.25


def test_the_table_has_a_row_a_picture_and_a_count_a_runtime():
    rows = [("a park", [3, 3], Difference(0.125, 0.001, [0.251, 0.9]))]
    head, line = format_table(["onnxruntime", "page"], rows, 0.25).splitlines()
    words = ["picture", "onnxruntime", "page", "box, px", "score", "unmatched", "at threshold"]
    assert re.split("  +", head.strip()) == words
    assert line.split() == ["a", "park", "3", "3", "0.1250", "0.001000", "1", "1"]


def test_a_lossless_picture_has_the_same_pixels():
    pixels = np.random.default_rng(0).integers(0, 256, (24, 40, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG")
    picture = Picture("noise", file.getvalue(), "image/jpeg")
    png = picture.as_png()
    assert png.media_type == "image/png"
    np.testing.assert_array_equal(png.pixels(), picture.pixels())
    assert picture.pixels().shape == (24, 40, 3)


# ------------------------------------------------------------------------------ the browser


def test_a_chromium_is_named_by_the_variable_or_found_on_the_path(tmp_path, monkeypatch):
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BrowserError, match=r"apt-get install chromium.*CHROMIUM"):
        find_chromium()
    program = tmp_path / "chromium-headless-shell"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert find_chromium() == str(program)
    other = program.rename(tmp_path / "mine")
    monkeypatch.setenv("CHROMIUM", str(other))
    assert find_chromium() == str(other)
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "absent"))
    with pytest.raises(BrowserError, match="is no program"):
        find_chromium()


def test_without_playwright_the_error_names_it(monkeypatch):
    monkeypatch.setattr(chromium, "find_chromium", lambda: "chromium")
    monkeypatch.setattr(chromium, "find_spec", lambda name: None)
    with pytest.raises(BrowserError, match="pip install playwright"), chromium.open_browser():
        pass


def test_a_page_that_is_not_there_names_the_build(tmp_path):
    assert page_url("http://127.0.0.1:1/x.html") == "http://127.0.0.1:1/x.html"
    with pytest.raises(BrowserError, match=r"build_demo\.py"):
        page_url(tmp_path / "absent.html")


# ------------------------------------------------------------------------------ the command


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """Those of the model that `demo_site` was built from."""
    from training.checkpoint import save_weights

    path = tmp_path_factory.mktemp("parity") / "best.safetensors"
    model = random_yolo(len(CLASSES))
    info = {"classes": CLASSES, "image_size": SIZE, "class_width": model.class_width}
    save_weights(path, model.state_dict(), info)
    return path


@pytest.fixture(scope="module")
def answers(demo_models, demo_site):
    """What the page found, for the tests that vary what it is compared with."""
    arguments = [str(demo_models.yolo), "--html", demo_site.url, "--lossless"]
    return run_page(parse_arguments(arguments))


@pytest.fixture
def answered(answers, monkeypatch):
    monkeypatch.setattr(compare_runtimes, "run_page", lambda options: answers)


def table(text):
    """Titles of the runtimes, and their counts (pictures, runtimes), of what was printed."""
    lines = text.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("picture"))
    runtimes = lines[start].split()[1:-6]
    numbers = [re.split("  +", line.strip())[1:] for line in lines[start + 1 : -1]]
    return runtimes, np.array([row[: len(runtimes)] for row in numbers], dtype=int)


def test_the_page_and_onnxruntime_agree_on_jpeg_at_another_threshold(
    demo_models, demo_site, capsys
):
    arguments = ["--html", demo_site.single_url, "--confidence", "0.2"]
    assert main([str(demo_models.yolo), *arguments]) == 0
    text = capsys.readouterr().out
    assert "page: yolo.onnx by wasm, 1 thread(s); threshold 0.2, IoU 0.7" in text
    assert text.splitlines()[-1].startswith("all agree")
    assert "note:" not in text
    runtimes, counts = table(text)
    assert runtimes == ["onnxruntime", "page"]
    assert len(counts) >= 2
    assert counts.sum(axis=0).min() > 50


@pytest.mark.usefixtures("answered", "float32_everywhere")
def test_all_three_runtimes_agree(weights, demo_models, answers, capsys):
    assert main([str(weights), str(demo_models.yolo)]) == 0
    runtimes, counts = table(capsys.readouterr().out)
    assert runtimes == ["PyTensor", "onnxruntime", "page"]
    # what was handed to the page, and not the file of the build
    assert [picture.media_type for picture in answers.pictures] == len(counts) * ["image/png"]
    assert (counts == [[len(found)] * 3 for found in answers.found]).all()
    assert counts.sum(axis=0).min() > 50


@pytest.mark.usefixtures("answered")
def test_a_model_with_a_changed_filter_is_found_out(demo_models, tmp_path, capsys):
    proto = onnx.load(demo_models.yolo)
    filters = max(proto.graph.initializer, key=lambda array: np.prod(array.dims))
    filters.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(filters) * 1.1, filters.name))
    changed = tmp_path / "changed.onnx"
    onnx.save(proto, changed)
    assert main([str(changed)]) == 1
    text = capsys.readouterr().out
    assert text.splitlines()[-1].startswith("differences in 1. ")
    assert f"note: the page holds other bytes than {changed}" in text


@pytest.mark.usefixtures("answered")
def test_models_for_other_pictures_or_classes_are_refused(tmp_path, capsys):
    large, other = tmp_path / "large.onnx", tmp_path / "other.onnx"
    yolo_onnx(large, SIZE + 32)
    yolo_onnx(other, SIZE, ["person", "cat"])
    assert main([str(large)]) == 1
    assert "large.onnx takes 96 px" in capsys.readouterr().err
    assert main([str(other)]) == 1
    assert "the classes person, cat" in capsys.readouterr().err


def test_nothing_detected_is_no_agreement(demo_models, answers, monkeypatch, capsys):
    none = [found[:0] for found in answers.found]
    changed = dataclasses.replace(answers, confidence=0.9999, found=none)
    monkeypatch.setattr(compare_runtimes, "run_page", lambda options: changed)
    assert main([str(demo_models.yolo)]) == 1
    assert "nothing was detected" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["0", "1", "0.255", "much"])
def test_only_the_slider_s_thresholds_can_be_chosen(value, capsys):
    with pytest.raises(SystemExit):
        parse_arguments(["model.onnx", "--confidence", value])
    assert "--confidence" in capsys.readouterr().err
