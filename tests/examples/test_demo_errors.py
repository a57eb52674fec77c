"""What the demo page says when something is missing or wrong, and that it goes on afterwards."""

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from tests.examples.demo_browser import (
    GREEN,
    as_rows,
    assert_same,
    blob_picture,
    choose_model,
    copy_site,
    detect_file,
    drop_file,
    encode,
    expected_detections,
    file_of,
    open_browser,
    ready_page,
    screenshot,
    until,
    wait_screen,
    write_y4m,
)

PICTURE = blob_picture(320, 240, [(GREEN, 110, 130, 50)])


@pytest.fixture(scope="module")
def page(open_colours):
    """One page that survives all the failures of this file, one after the other."""
    return open_colours


def assert_works(page, demo_models):
    """A picture is detected in and takes the message's place."""
    last = detect_file(page, encode(PICTURE))
    assert_same(as_rows(last), expected_detections(demo_models.colour, PICTURE))
    assert page.evaluate("demo.screen") is None
    assert page.locator("#message").is_hidden()


# ------------------------------------------------------------------------------ camera


def test_no_camera(page, demo_models, tmp_path):
    page.click("#start")
    assert "camera" in wait_screen(page, "no-camera").lower()
    assert page.evaluate("demo.state") != "running"
    screenshot(page, "no-camera", tmp_path)
    assert_works(page, demo_models)
    page.click("#start")
    wait_screen(page, "no-camera")  # asked again, not remembered


def test_camera_refused(colour_site, demo_models, tmp_path):
    film = tmp_path / "film.y4m"
    write_y4m(film, [PICTURE] * 2)
    with (
        open_browser(camera=film, permission=False) as browser,
        ready_page(browser, colour_site) as page,
    ):
        page.click("#start")
        assert "allow" in wait_screen(page, "camera-refused").lower()
        screenshot(page, "camera-refused", tmp_path)
        assert_works(page, demo_models)


# ------------------------------------------------------------------------------ WebGPU


def test_webgpu_where_there_is_none(page, demo_models, tmp_path):
    """Chosen by hand it is an error, with the way back in it."""
    page.select_option("#backend", "webgpu")
    assert "WebAssembly" in wait_screen(page, "no-webgpu")
    screenshot(page, "no-webgpu", tmp_path)
    page.click("#message [data-action='use-wasm']")
    until(page, "demo.ready && demo.screen === null && demo.info.requested === 'wasm'")
    assert_works(page, demo_models)


def test_picture_after_no_webgpu(page, demo_models):
    """Who ignores the message still has the model that worked."""
    page.select_option("#backend", "webgpu")
    wait_screen(page, "no-webgpu")
    assert_works(page, demo_models)
    assert "wasm" in page.evaluate("demo.info.backend")


# What a back end that fails while it starts does: the detector then has no model any more.
FAIL_ONCE = """() => {
  const load = Detector.prototype.load;
  Detector.prototype.load = async function () {
    Detector.prototype.load = load;
    this.dispose();
    throw Object.assign(new Error("WebGPU failed: on purpose"), {code: "no-webgpu"});
  };
}"""


def test_back_end_that_takes_the_model_along(page, demo_models):
    """The model is loaded again as it was."""
    before = page.evaluate("demo.info.requested")
    page.evaluate(FAIL_ONCE)
    page.select_option("#backend", "webgpu")
    assert "on purpose" in wait_screen(page, "no-webgpu")
    until(page, "demo.ready", what="the model again")
    assert page.evaluate("demo.info.requested") == before
    assert page.input_value("#backend") == before
    assert_works(page, demo_models)


# The graphics device goes away during a detection, as the detector tells it.
LOSE_DEVICE = """() => {
  const detect = Detector.prototype.detect;
  Detector.prototype.detect = async function (bitmap) {
    Detector.prototype.detect = detect;
    bitmap.close();
    this.dispose();
    this.onLost("on purpose");
    throw Object.assign(new Error("the graphics device is gone"), {code: "device-lost"});
  };
}"""


def test_lost_device(browser, colour_site, demo_models):
    """Loaded again as it was after the first loss, with WebAssembly after the second one."""
    with ready_page(browser, colour_site) as page:
        for requested in ("auto", "wasm"):
            page.evaluate(LOSE_DEVICE)
            last = detect_file(page, encode(PICTURE))
            assert_same(as_rows(last), expected_detections(demo_models.colour, PICTURE))
            until(page, "demo.ready && demo.screen === null")
            assert page.evaluate("demo.info.requested") == requested
            assert "on purpose" in page.inner_text("#backend-note")
        assert page.evaluate("demo.errors") == []


# ------------------------------------------------------------------------------ models


def truncated(model):
    return model.SerializeToString()[:-300]


def renamed_words(model):
    return b"This is not a model.\n" * 50


def zeros(model):
    return bytes(5000)


def web_page(model):
    return b"<!doctype html><html><body>404</body></html>"


def empty(model):
    return b""


def unknown_operator(model):
    model.graph.node[3].op_type = "NoSuchOperator"
    return model.SerializeToString()


@pytest.mark.parametrize(
    "damage", [truncated, renamed_words, zeros, web_page, empty, unknown_operator]
)
def test_broken_model(page, demo_models, tmp_path, damage):
    data = damage(onnx.load(demo_models.colour))
    page.set_input_files("#model-file", file_of(data, "broken.onnx"))
    text = wait_screen(page, "model-broken")
    assert "broken.onnx" in text
    screenshot(page, f"model-broken-{damage.__name__}", tmp_path)
    assert_works(page, demo_models)
    # The same file name again, mended, is not taken for the same file.
    choose_model(page, demo_models.colour, "broken.onnx")
    assert_works(page, demo_models)


def transposed(model):
    """Output (1, anchors, 6)."""
    old = model.graph.output[0].name
    model.graph.node[-1].output[0] = "straight"
    model.graph.node.append(onnx.helper.make_node("Transpose", ["straight"], [old], perm=[0, 2, 1]))
    shape = model.graph.output[0].type.tensor_type.shape.dim
    shape[1].dim_value, shape[2].dim_value = shape[2].dim_value, shape[1].dim_value
    return model.SerializeToString()


def oblong(model):
    model.graph.input[0].type.tensor_type.shape.dim[3].dim_value = 64
    return model.SerializeToString()


def grey(model):
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 1
    return model.SerializeToString()


def bytes_input(model):
    model.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.UINT8
    return model.SerializeToString()


def too_many_names(model):
    onnx.helper.set_model_props(model, {"names": "{0: 'a', 1: 'b', 2: 'c'}"})
    return model.SerializeToString()


def second_input(model):
    value = onnx.helper.make_tensor_value_info("orig_target_sizes", onnx.TensorProto.INT64, [1, 2])
    model.graph.input.append(value)
    return model.SerializeToString()


@pytest.mark.parametrize(
    "change", [transposed, oblong, grey, bytes_input, too_many_names, second_input]
)
def test_wrong_shape(page, demo_models, tmp_path, change):
    data = change(onnx.load(demo_models.colour))
    drop_file(page, data, "other.onnx")
    text = wait_screen(page, "model-shape")
    assert "other.onnx" in text
    assert "1, 3, S, S" in text
    screenshot(page, f"model-shape-{change.__name__}", tmp_path)
    assert_works(page, demo_models)
    assert page.evaluate("demo.info.modelName") != "other.onnx"


def test_model_that_gives_nan(page, demo_models):
    """Detections of NaN aren't shown as an empty list."""
    model = onnx.load(demo_models.colour)
    for constant in model.graph.initializer:
        if numpy_helper.to_array(constant).size == 1:
            constant.CopyFrom(numpy_helper.from_array(np.float32(np.nan), constant.name))
    page.set_input_files("#model-file", file_of(model.SerializeToString(), "nan.onnx"))
    until(page, "demo.screen !== null", what="a message")
    text = page.locator("#message").inner_text()
    assert "NaN" in text
    assert_works(page, demo_models)


# ------------------------------------------------------------------------------ pictures


@pytest.mark.parametrize(
    ("name", "data"),
    [("cut.png", encode(PICTURE)[:60]), ("words.jpg", b"words"), ("none.png", b"")],
)
def test_broken_picture(page, demo_models, name, data):
    page.set_input_files("#image-file", file_of(data, name))
    text = wait_screen(page, "file-broken")
    assert name in text
    assert_works(page, demo_models)


def test_broken_video(page, demo_models):
    page.set_input_files("#video-file", file_of(b"no video" * 100, "film.mp4"))
    assert "film.mp4" in wait_screen(page, "file-broken")
    assert_works(page, demo_models)


# ------------------------------------------------------------------------------ the build


def test_not_built(browser, demo_site, tmp_path):
    """Without the assets it names the command; nothing is missing but the four scripts."""
    site = copy_site(demo_site, tmp_path / "site")
    for path in (site.folder / "demo_assets").iterdir():
        path.unlink()
    with browser.visit(site.url, complaints=["ERR_FILE_NOT_FOUND"]) as page:
        text = wait_screen(page, "no-assets")
        assert "python -m tools.build_demo" in text
        assert "bash train.sh" in text
        screenshot(page, "no-assets", tmp_path)
        assert len(page.log.complaints) == 4


@pytest.mark.parametrize("missing", ["model.js", "wasm.js", "runtime.js"])
def test_one_asset_missing(browser, demo_site, tmp_path, missing):
    site = copy_site(demo_site, tmp_path / "site")
    (site.folder / "demo_assets" / missing).unlink()
    with browser.visit(site.url, complaints=["ERR_FILE_NOT_FOUND"]) as page:
        assert "python -m tools.build_demo" in wait_screen(page, "no-assets")


def test_without_samples_the_page_works(browser, colour_site, demo_models, tmp_path):
    site = copy_site(colour_site, tmp_path / "site")
    (site.folder / "demo_assets" / "samples.js").unlink()
    with ready_page(browser, site, complaints=["ERR_FILE_NOT_FOUND"]) as page:
        assert page.locator("#samples [data-sample]").count() == 0
        assert_works(page, demo_models)


def test_damaged_asset(browser, demo_site, tmp_path):
    """A download that broke off: the page says what is damaged and how to make it again."""
    site = copy_site(demo_site, tmp_path / "site")
    path = site.folder / "demo_assets" / "model.js"
    text = path.read_text()
    middle = len(text) // 3
    path.unlink()
    path.write_text(text[:middle] + "AAAAAAAAAAAA" + text[middle + 12 :])
    with browser.visit(site.url) as page:
        text = wait_screen(page, "no-assets")
        assert "damaged" in text
        assert "python -m tools.build_demo" in text


def test_two_failures_in_a_row(page, demo_models):
    """The later message takes the place of the earlier one."""
    page.set_input_files("#model-file", file_of(b"", "first.onnx"))
    wait_screen(page, "model-broken")
    page.click("#start")
    wait_screen(page, "no-camera")
    page.set_input_files("#model-file", file_of(b"", "second.onnx"))
    assert "second.onnx" in wait_screen(page, "model-broken")
    assert_works(page, demo_models)
