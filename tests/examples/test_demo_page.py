"""The demo page in a browser: three ways to open it, pictures, thresholds, files, its looks."""

import base64
import hashlib
import io
import json
import threading

import numpy as np
import pytest
from data.images import read_image
from PIL import Image

from tests.examples.demo_browser import (
    GREEN,
    ORANGE,
    after,
    as_rows,
    assert_same,
    blob_picture,
    choose_model,
    choose_sample,
    clear_scenes,
    colour_detector_onnx,
    copy_site,
    data_url,
    detect_file,
    drop_file,
    encode,
    expected_detections,
    find_blob,
    paste_file,
    ready_page,
    screenshot,
    until,
    wait_ready,
)

TINY = data_url(np.zeros((8, 8, 3), np.uint8))


@pytest.fixture(scope="module")
def open_page(browser, demo_site):
    """One page for the tests that leave it as they found it; see `page`."""
    with ready_page(browser, demo_site) as page:
        yield page


@pytest.fixture
def page(open_page):
    yield open_page
    open_page.locator("#confidence").fill("0.25")
    open_page.locator("#iou").fill("0.7")
    open_page.click("#classes-all")
    # Runs on the old picture may still wait; this one waits for them.
    open_page.evaluate("url => demo.detectImage(url)", TINY)
    assert open_page.log.complaints == []


@pytest.fixture
def colours(open_colours):
    """The page with the detector of colours, in it again after each test."""
    yield open_colours
    if open_colours.is_enabled("#model-builtin"):
        open_colours.click("#model-builtin")
        until(open_colours, "demo.ready && demo.info.modelName === 'built-in model'")
    assert open_colours.log.complaints == []


@pytest.fixture(scope="module")
def scenes(demo_models):
    return clear_scenes(demo_models.yolo, 4)


# ------------------------------------------------------------------------------ the small model


@pytest.mark.parametrize(("width", "height"), [(640, 480), (480, 640), (1280, 720)])
def test_colour_detector(demo_models, width, height):
    """In Python: one box, within 1 % of the longer side, wherever a square of either colour is."""
    rng = np.random.default_rng(width)
    unit = max(width, height) / 640
    for colour in (GREEN, ORANGE) * 8:
        side = int(rng.integers(40, 110) * unit)
        x, y = rng.integers(side, (width - side, height - side))
        picture = blob_picture(width, height, [(colour, x, y, side)])
        (row,) = expected_detections(demo_models.colour, picture)
        assert row[5] == (colour == ORANGE)
        assert row[4] > 0.4
        assert np.abs(row[:4] - find_blob(picture, colour, 0)).max() < 6 * unit
    assert len(expected_detections(demo_models.colour, blob_picture(width, height, []))) == 0


# ------------------------------------------------------------------------------ opening


def assert_works(page, model):
    info = wait_ready(page)
    assert (info["backend"], info["requested"]) == ("wasm", "auto")
    assert info["note"]  # why it isn't WebGPU
    assert info["names"] == ["person", "cell phone"]
    assert info["size"] == [64, 64]
    last = choose_sample(page, 1)
    assert len(last["detections"]) > 0
    assert page.locator("#detections li").count() > 0
    assert page.evaluate("demo.screen") is None
    return info


def test_from_disk(browser, demo_site, demo_models):
    with browser.visit(demo_site.url) as page:
        info = assert_works(page, demo_models.yolo)
        assert info["threads"] == 1
        assert page.evaluate("crossOriginIsolated") is False


def test_single_file(browser, demo_site, demo_models, tmp_path):
    """Alone in an empty folder."""
    page_file = tmp_path / "alone.html"
    page_file.write_bytes((demo_site.folder / "dist" / "yolo_detection_demo.html").read_bytes())
    with browser.visit(page_file.as_uri()) as page:
        assert_works(page, demo_models.yolo)
        files = [url for url in page.log.requests if url.startswith("file:")]
        assert files == [page_file.as_uri()]


def test_served(browser, demo_site, demo_models):
    """From the demo's own server the runtime has threads."""
    from tools.serve_demo import make_server

    server = make_server(demo_site.folder)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        host, port = server.server_address[:2]
        with browser.visit(f"http://{host}:{port}/yolo_detection_demo.html") as page:
            info = assert_works(page, demo_models.yolo)
            assert page.evaluate("crossOriginIsolated") is True
            cores = page.evaluate("navigator.hardwareConcurrency")
            assert info["threads"] == min(4, cores)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# ------------------------------------------------------------------------------ same as Python


def test_pictures(page, scenes, demo_models, tmp_path):
    for k, image in enumerate(scenes):
        last = detect_file(page, encode(image), f"scene{k}.png")
        assert (last["width"], last["height"]) == (image.shape[1], image.shape[0])
        expected = expected_detections(demo_models.yolo, image)
        assert_same(as_rows(last), expected)
        names = {found["classId"]: found["name"] for found in last["detections"]}
        assert names.items() <= {0: "person", 1: "cell phone"}.items()
        assert page.locator("#detections li").count() == len(expected)
    screenshot(page, "picture", tmp_path)


@pytest.mark.parametrize("size", [(1280, 720), (64, 64), (120, 480)])
def test_shapes(page, demo_models, size):
    """Shrunk by a large factor, of the network's own size, and tall."""
    (image,) = clear_scenes(demo_models.yolo, 1, size=size)
    assert_same(
        as_rows(detect_file(page, encode(image))), expected_detections(demo_models.yolo, image)
    )


@pytest.mark.parametrize("send", [drop_file, paste_file])
def test_drop_and_paste(page, scenes, demo_models, send):
    other, image = scenes[:2]
    detect_file(page, encode(other))
    last = after(page, lambda: send(page, encode(image)))
    assert_same(as_rows(last), expected_detections(demo_models.yolo, image))


def test_quick_change(page, scenes, demo_models):
    """Of pictures chosen faster than they are detected the last one stays."""
    expected = expected_detections(demo_models.yolo, scenes[3])
    script = """async (urls) => {
      const files = await Promise.all(urls.map(async (url, k) =>
        new File([await (await fetch(url)).blob()], `quick${k}.png`, {type: "image/png"})));
      const input = document.querySelector("#image-file");
      for (const [k, file] of files.entries()) {
        const transfer = new DataTransfer();
        transfer.items.add(file);
        input.files = transfer.files;
        input.dispatchEvent(new Event("change", {bubbles: true}));
        await new Promise((resolve) => setTimeout(resolve, 10 * k));
      }
    }"""
    urls = [data_url(image) for image in scenes]
    for _ in range(3):
        detect_file(page, encode(scenes[0]))
        page.evaluate(script, urls)
        until(page, "demo.last.title === 'quick3.png'")
        page.wait_for_timeout(200)
        assert page.evaluate("demo.last.title") == "quick3.png"
        assert_same(as_rows(page.evaluate("demo.last")), expected)


def test_detect_image(page, scenes, demo_models):
    """The page's entry for scripts takes a blob or a data: address."""
    url = data_url(scenes[0])
    expected = expected_detections(demo_models.yolo, scenes[0])
    assert_same(as_rows(page.evaluate("url => demo.detectImage(url)", url)), expected)
    blob = "async url => demo.detectImage(await (await fetch(url)).blob())"
    assert_same(as_rows(page.evaluate(blob, url)), expected)


def test_transparent_picture(page, scenes, demo_models, tmp_path):
    """What is transparent counts as the padding's grey, as in Python."""
    image = scenes[0]
    alpha = np.full((*image.shape[:2], 1), 255, np.uint8)
    alpha[:, : image.shape[1] // 3] = 0
    path = tmp_path / "hole.png"
    Image.fromarray(np.concatenate([image, alpha], axis=2)).save(path)
    seen = read_image(path)
    assert (seen[:, 0] == 114).all()
    last = detect_file(page, path)
    assert_same(as_rows(last), expected_detections(demo_models.yolo, seen))


@pytest.mark.parametrize("orientation", [3, 6, 8, 5])
def test_orientation(browser, colours, demo_models, tmp_path, orientation):
    """Photographs are turned upright as Python turns them."""
    picture = blob_picture(600, 400, [(GREEN, 140, 90, 80), (ORANGE, 420, 300, 60)])
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / "photograph.jpg"
    Image.fromarray(picture).save(path, quality=95, subsampling=0, exif=exif)
    upright = read_image(path)
    expected = expected_detections(demo_models.colour, upright)
    assert len(expected) == 2
    last = detect_file(colours, path, "photograph.jpg")
    assert (last["width"], last["height"]) == (upright.shape[1], upright.shape[0])
    # Two decoders of JPEG may differ by a level.
    assert_same(as_rows(last), expected, pixels=1.0, score=0.02)


def test_picture_chosen_during_the_very_first_detection(browser, colour_site, tmp_path):
    """It takes the first one's place, which never gets detections; nobody misses them."""
    script = """async (url) => {
      const input = document.querySelector("#image-file");
      const blob = await (await fetch(url)).blob();
      const choose = (name) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([blob], name, {type: "image/png"}));
        input.files = transfer.files;
        input.dispatchEvent(new Event("change", {bubbles: true}));
      };
      const detect = Detector.prototype.detect;
      let begun, finish;
      const beginning = new Promise((resolve) => { begun = resolve; });
      const end = new Promise((resolve) => { finish = resolve; });
      Detector.prototype.detect = async function (...parameters) {
        begun();
        const result = await detect.apply(this, parameters);
        await end;
        return result;
      };
      choose("first.png");
      await beginning;
      choose("second.png");
      await new Promise((resolve) => setTimeout(resolve, 300));
      finish();
    }"""
    site = copy_site(colour_site, tmp_path / "site")
    (site.folder / "demo_assets" / "samples.js").unlink()
    with ready_page(browser, site, complaints=["ERR_FILE_NOT_FOUND"]) as page:
        page.evaluate(script, TINY)
        until(page, "demo.last && demo.last.title === 'second.png'")
        assert page.evaluate("[demo.screen, demo.errors, demo.frames]") == [None, [], 1]


# ------------------------------------------------------------------------------ thresholds


def set_slider(page, name, value):
    """Move a slider; the page's new detections of the picture it shows."""
    last = after(page, lambda: page.locator(f"#{name}").fill(f"{value:g}"))
    assert float(page.inner_text(f"#{name}-value")) == pytest.approx(value)
    return last


def test_confidence_slider(page, demo_models):
    thresholds = (0.25, 0.4, 0.6)
    image = next(
        image
        for start in range(0, 400, 10)
        for image in clear_scenes(demo_models.yolo, 1, start=start, confidence=0.4)
        if len({len(expected_detections(demo_models.yolo, image, t)) for t in thresholds}) == 3
    )
    detect_file(page, encode(image))
    counts = []
    for threshold in thresholds[1:]:
        last = set_slider(page, "confidence", threshold)
        expected = expected_detections(demo_models.yolo, image, threshold)
        assert_same(as_rows(last), expected)
        assert page.locator("#detections li").count() == len(expected)
        counts.append(len(expected))
    assert counts[0] > counts[1] > 0


def test_iou_slider(page, demo_models):
    image = next(
        image
        for image in clear_scenes(demo_models.yolo, 8, iou=0.2)
        if len(expected_detections(demo_models.yolo, image))
        > len(expected_detections(demo_models.yolo, image, iou=0.2))
    )
    detect_file(page, encode(image))
    last = set_slider(page, "iou", 0.2)
    assert_same(as_rows(last), expected_detections(demo_models.yolo, image, iou=0.2))


def test_class_filter(page, demo_models, scenes):
    image = next(
        image
        for image in scenes
        if set(expected_detections(demo_models.yolo, image)[:, 5]) == {0, 1}
    )
    expected = expected_detections(demo_models.yolo, image)
    detect_file(page, encode(image))
    for off, left in ((0, 1), (1, 0)):
        last = after(page, lambda off=off: page.uncheck(f"#class-filter [data-class='{off}']"))
        assert_same(as_rows(last), expected[expected[:, 5] == left])
        after(page, lambda off=off: page.check(f"#class-filter [data-class='{off}']"))
    last = after(page, lambda: page.click("#classes-none"))
    assert last["detections"] == []
    last = after(page, lambda: page.click("#classes-all"))
    assert_same(as_rows(last), expected)


# ------------------------------------------------------------------------------ files


@pytest.mark.parametrize("way", ["button", "drop"])
def test_other_model(colours, demo_models, tmp_path, way):
    """Its names, size and thresholds take over, and what it finds."""
    path = tmp_path / "other.onnx"
    names = ("l'été", 'a "quoted" \\ one')
    colour_detector_onnx(path, 64, names, conf="0.5", iou="0.4")
    picture = blob_picture(300, 200, [(GREEN, 80, 90, 50), (ORANGE, 200, 120, 50)])
    if way == "button":
        info = choose_model(colours, path)
    else:
        drop_file(colours, path, "other.onnx")
        until(colours, "demo.info.modelName === 'other.onnx' && demo.ready")
        info = colours.evaluate("demo.info")
    assert info["names"] == list(names)
    assert info["size"] == [64, 64]
    assert "other.onnx" in colours.inner_text("body")
    shown = colours.locator("#class-filter label").all_inner_texts()
    assert [text.strip() for text in shown] == list(names)
    assert float(colours.input_value("#confidence")) == 0.5
    assert float(colours.input_value("#iou")) == pytest.approx(0.4)
    last = detect_file(colours, encode(picture))
    assert_same(as_rows(last), expected_detections(path, picture, 0.5, 0.4))
    assert {found["name"] for found in last["detections"]} <= set(names)
    assert len(last["detections"]) > 0


def test_model_of_bytes_without_metadata(colours, tmp_path):
    path = tmp_path / "bare.onnx"
    colour_detector_onnx(path, 64, names=None, conf=None, iou=None, imgsz=None, task=None)
    script = """async (text) => {
      const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
      await demo.loadModel(bytes, "bare.onnx");
      return demo.info;
    }"""
    info = colours.evaluate(script, base64.b64encode(path.read_bytes()).decode())
    assert info["names"] == ["class 0", "class 1"]
    assert (info["confidence"], info["iou"]) == (0.25, 0.7)


# Records a green square that moves to the right, and chooses it as a video.
FILM = """async () => {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [320, 240];
  const context = canvas.getContext("2d");
  const recorder = new MediaRecorder(canvas.captureStream(15), {mimeType: "video/webm"});
  const parts = [];
  recorder.ondataavailable = ({data}) => parts.push(data);
  recorder.start();
  for (let frame = 0; frame < 20; frame += 1) {
    context.fillStyle = "#46506e";
    context.fillRect(0, 0, 320, 240);
    context.fillStyle = "#00dc28";
    context.fillRect(40 + 8 * frame, 90, 50, 50);
    await new Promise((resolve) => setTimeout(resolve, 70));
  }
  const end = new Promise((resolve) => { recorder.onstop = resolve; });
  recorder.stop();
  await end;
  const transfer = new DataTransfer();
  transfer.items.add(new File(parts, "film.webm", {type: "video/webm"}));
  const input = document.querySelector("#video-file");
  input.files = transfer.files;
  input.dispatchEvent(new Event("change", {bubbles: true}));
}"""


def test_video(colours):
    """It plays, stops, gives single frames, and goes on after a change of the back end."""
    frames = colours.evaluate("demo.frames")
    colours.evaluate(FILM)
    until(colours, f"demo.state === 'running' && demo.frames > {frames + 5}", what="the video")
    last = colours.evaluate("demo.last")
    assert (last["title"], last["mirrored"], last["width"]) == ("film.webm", False, 320)
    assert len(last["detections"]) == 1
    assert colours.inner_text("#start-text") == "Play video"
    colours.click("#stop")
    until(colours, "demo.state === 'paused'")
    after(colours, lambda: colours.click("#step"))
    until(colours, "document.querySelector('#status').textContent.includes('One frame of')")
    colours.click("#start")
    for backend in ("wasm", "auto"):
        until(colours, "demo.state === 'running'")
        colours.select_option("#backend", backend)
        until(colours, f"demo.info.requested === '{backend}' && demo.ready")
        frames = colours.evaluate("demo.frames")
        until(colours, f"demo.state === 'running' && demo.frames > {frames + 2}")
    choose_sample(colours, 1)
    until(colours, "demo.state === 'ready'")
    assert colours.inner_text("#start-text") == "Start camera"
    assert colours.evaluate("[demo.screen, demo.errors]") == [None, []]


def test_snapshot(colours, demo_models):
    """The PNG has the picture, and the boxes' lines at the boxes' edges."""
    picture = blob_picture(640, 480, [(GREEN, 200, 250, 80)])
    last = detect_file(colours, encode(picture))
    (box,) = as_rows(last)[:, :4]
    with colours.expect_download() as download:
        colours.click("#snapshot")
    assert download.value.suggested_filename.endswith(".png")
    with Image.open(download.value.path()) as image:
        assert image.format == "PNG"
        saved = np.asarray(image.convert("RGB")).astype(int)
    scale = saved.shape[1] / 640
    assert saved.shape == (480 * scale, 640 * scale, 3)
    original = np.asarray(Image.fromarray(picture).resize(saved.shape[1::-1], 0)).astype(int)
    changed = np.abs(saved - original).max(axis=2) > 40
    x1, y1, x2, y2 = (box * scale).round().astype(int)
    middle_x, middle_y, near = (x1 + x2) // 2, (y1 + y2) // 2, int(4 * scale)
    assert changed[middle_y, x1 - near : x1 + near].any()
    assert changed[middle_y, x2 - near : x2 + near].any()
    assert changed[y2 - near : y2 + near, middle_x].any()
    assert changed[y1 - near : y1 + near, middle_x].any()
    assert not changed[y1 + 2 * near : y2 - 2 * near, x1 + 2 * near : x2 - 2 * near].any()
    assert not changed[y2 + 2 * near :].any()
    assert not changed[:, : x1 - 2 * near].any()


def test_json(page, scenes, demo_models):
    last = detect_file(page, encode(scenes[0]), "street.png")
    with page.expect_download() as download:
        page.click("#save-json")
    assert download.value.suggested_filename.endswith(".json")
    saved = json.loads(download.value.path().read_text())
    assert saved["picture"] == {
        "title": "street.png",
        "width": last["width"],
        "height": last["height"],
    }
    assert saved["detections"] == last["detections"]
    assert_same(as_rows(saved), expected_detections(demo_models.yolo, scenes[0]))
    assert saved["thresholds"] == {"confidence": 0.25, "iou": 0.7}
    assert saved["model"]["names"] == ["person", "cell phone"]
    digest = hashlib.sha256(demo_models.yolo.read_bytes()).hexdigest()
    assert saved["model"]["sha256"] == digest


# ------------------------------------------------------------------------------ use and looks


def test_samples(page):
    """Each sample is shown, and says whose it is by a name for those who don't see it."""
    buttons = page.locator("#samples [data-sample]")
    assert buttons.count() >= 3
    for k in range(buttons.count()):
        button = buttons.nth(k)
        name = button.get_attribute("aria-label") or button.inner_text()
        assert name.strip() or button.locator("img").get_attribute("alt")
        last = after(page, button.click)
        assert last["width"] > 0


def test_every_control_has_a_name(page):
    nameless = page.evaluate("""() => {
      const named = (e) => e.ariaLabel || e.labels?.length || e.innerText?.trim() || e.title ||
        e.getAttribute("aria-labelledby") || e.querySelector("img[alt]");
      return [...document.querySelectorAll("button, input, select, canvas")]
        .filter((e) => !named(e)).map((e) => e.outerHTML);
    }""")
    assert nameless == []


def test_tab_reaches_the_controls(page):
    choose_sample(page, 1)
    page.evaluate("() => document.activeElement.blur()")
    reached = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id"))
    wanted = {"start", "step", "image-file", "video-file", "snapshot", "save-json", "confidence"}
    wanted |= {"iou", "camera-select", "model-file", "backend", "theme", "help-open"}
    assert wanted - reached - {"step"} == set()


def test_keys(page):
    """Arrows move a slider, S saves, ? explains; letters typed into a field do nothing else."""
    choose_sample(page, 1)
    page.focus("#confidence")
    after(page, lambda: page.keyboard.press("ArrowRight"))
    assert float(page.input_value("#confidence")) == pytest.approx(0.26)
    page.evaluate("() => document.activeElement.blur()")
    with page.expect_download() as download:
        page.keyboard.press("s")
    assert download.value.suggested_filename.endswith(".png")
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert page.locator("#help").is_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phone(browser, colour_site, tmp_path, scheme):
    """A narrow screen has no sideways scrolling."""
    options = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2}
    options |= {"has_touch": True, "is_mobile": True, "color_scheme": scheme}
    with ready_page(browser, colour_site, **options) as page:
        screenshot(page, f"phone-{scheme}-idle", tmp_path)
        picture = blob_picture(640, 480, [(GREEN, 200, 250, 80), (ORANGE, 500, 100, 80)])
        detect_file(page, encode(picture))
        screenshot(page, f"phone-{scheme}", tmp_path)
        page.screenshot(path=tmp_path / "whole.png", full_page=True)
        widths = page.evaluate(
            "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        )
        assert widths == [390, 390]
        # The row of samples scrolls by itself.
        too_wide = page.evaluate("""() => [...document.querySelectorAll("body *")]
          .filter((e) => !e.closest("#samples"))
          .filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > 391)
          .map((e) => e.id || e.className)""")
        assert too_wide == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_desktop_screenshots(browser, demo_site, tmp_path, scheme):
    """Pictures for whoever looks at them; the dark theme is dark and the light one light."""
    with ready_page(browser, demo_site, color_scheme=scheme) as page:
        screenshot(page, f"idle-{scheme}", tmp_path)
        choose_sample(page, 1)
        page.wait_for_timeout(100)
        path = screenshot(page, f"sample-{scheme}", tmp_path)
        with Image.open(io.BytesIO(path.read_bytes())) as image:
            ground = np.asarray(image.convert("L"))[:, :4].mean()
        assert (ground < 100) == (scheme == "dark")
