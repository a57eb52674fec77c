"""The page in a browser: opening it, detections as in Python, thresholds, files, its looks."""

import hashlib
import io
import itertools
import json
import re
import shutil
import subprocess
import sys
import tomllib

import numpy as np
import pytest
from data.images import read_image
from dataset import load_split
from evaluation.detectors import OnnxDetector
from PIL import Image
from tools.build_demo import DEMO

from tests.examples.conftest import exif_of
from tests.examples.yolo11n.page.browsers import (
    FONTS,
    IN_BOTH,
    MISFITS,
    after,
    assert_exact,
    choose_sample,
    decode_data_url,
    detect_file,
    file_of,
    ready_page,
    report_of,
    screenshot,
    serve,
    set_letters,
    until,
    visit,
)
from tests.examples.yolo11n.page.detectors import (
    GREEN,
    ORANGE,
    assert_same,
    blob_picture,
    clear_scenes,
    colour_detector_onnx,
    encode,
    expected_detections,
    yolo_onnx,
)

pytestmark = pytest.mark.browser
PROJECT = tomllib.loads((DEMO.parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REPOSITORY = PROJECT["urls"]["Repository"]


@pytest.fixture(scope="module")
def scenes(models):
    """Draw pictures in which the random network finds something."""
    return clear_scenes(models.yolo, 3)


def assert_works(page, threads, size=64):
    until(page, "demo.info.note", "the look at WebGPU")
    info = page.evaluate("demo.info")
    assert (info["backend"], info["requested"]) == ("wasm", "auto")
    assert "WebGPU" in info["note"]  # why it isn't used
    assert info["names"] == ["person", "cell phone"]
    assert info["size"] == [size, size]
    assert info["threads"] == threads
    assert len(choose_sample(page, 2)["detections"]) > 0
    assert page.locator("#detections li").count() > 0
    assert page.evaluate("[demo.screen, demo.errors]") == [None, []]


def test_the_scripts_in_the_repository_are_what_the_sources_make(
    page_command, built_anew, monkeypatch, capsys
):
    monkeypatch.setattr(page_command, "own_scripts", lambda _: built_anew)
    assert page_command.main(["--check"]) == 0, capsys.readouterr().out


@IN_BOTH
def test_as_it_was_cloned(browser, tmp_path):
    """The scripts in the repository are the page's and its model's; together at most 8 MB."""
    scripts = [f"demo_assets/{name}.js" for name in ("page", "runtime", "model", "teach")]
    for file in ("yolo_detection_demo.html", "page/page.css", *scripts):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        shutil.copy(DEMO / file, tmp_path / file)
    assert sum(path.stat().st_size for path in tmp_path.rglob("*.*")) < 8e6
    url = f"{(tmp_path / 'yolo_detection_demo.html').as_uri()}?selftest"
    with ready_page(browser, url) as page:
        report, near = report_of(page), ("the boxes are Python", "the boxes are near")
        assert_exact(report, pixels=16, equal=6, outcome=near)
        # In some samples no number of the 8-bit integers is rounded the other way.
        assert_exact(report, pixels=0.0002, equal=2, outcome=near)
        assert_works(page, threads=1, size=320)
        assert "photographs" in page.inner_text("#model-origin")
        screenshot(page, "as cloned", tmp_path)


def test_the_single_file_works_alone_in_a_folder(browser, yolo_site, tmp_path):
    alone = shutil.copy(yolo_site.single_file, tmp_path / "alone.html")
    with ready_page(browser, alone.as_uri()) as page:
        assert_works(page, threads=1)
        assert [url for url in page.requests if url.startswith("file:")] == [alone.as_uri()]


@IN_BOTH
def test_served_it_has_threads(browser, yolo_site, tmp_path):
    with (
        serve(yolo_site.single_file) as (server, address),
        ready_page(browser, f"{address}?x") as page,
    ):
        assert page.evaluate("crossOriginIsolated") is True
        assert_works(page, min(4, page.evaluate("navigator.hardwareConcurrency")))
        until(page, "document.querySelector('#offline-note').textContent.startsWith('Kept')")
        newer = shutil.copy(yolo_site.single_file, tmp_path / "newer.html")
        text = newer.read_text(encoding="utf-8")
        newer.write_text(re.sub('data-version="', 'data-version="f', text, count=1), "utf-8")
        assert page.locator("#version-note").is_hidden()
        server.page = newer
        page.evaluate("void dispatchEvent(new Event('online'))")
        until(page, "document.querySelector('#version-note').checkVisibility()")
        assert "reload the page" in page.inner_text("#version-note")
        server.shutdown()
        server.server_close()
        page.reload()
        until(page, "window.demo && demo.ready && demo.last", "the page without its server")
        assert page.evaluate("crossOriginIsolated") is True


def test_before_the_build_the_page_says_what_to_do(browser, yolo_site, tmp_path):
    for file in ("yolo_detection_demo.html", "demo_assets/page.css"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        shutil.copy(yolo_site.page.parent / file, tmp_path / file)
    url = (tmp_path / "yolo_detection_demo.html").as_uri()
    with visit(browser, url, complaints=["ERR_FILE_NOT_FOUND"]) as page:
        page.locator("#unbuilt").wait_for()
        for command in page.locator("#unbuilt code").all_inner_texts():
            # Each as it stands there, but asked for its help only.
            command = command.replace("MODEL.onnx", "")
            command = command.replace("../../../.venv/bin/python", sys.executable)
            subprocess.run(f"{command} --help", shell=True, check=True, cwd=DEMO.parents[2])
        alive = "#image-file:enabled, #video-file:enabled, #model-file:enabled, button:enabled"
        assert page.locator(f"main :is({alive}):not(.small):visible").count() == 0
        screenshot(page, "unbuilt", tmp_path)
    with visit(browser, url, java_script_enabled=False) as page:
        assert page.locator("noscript h2").bounding_box()["y"] < 640


@IN_BOTH
def test_pictures_of_all_shapes_give_the_boxes_of_python(yolo, models, scenes):
    odd = [clear_scenes(models.yolo, 1, size=size)[0] for size in ((1280, 720), (64, 64))]
    for image in [*scenes, *odd]:
        last = detect_file(yolo, encode(image))
        assert (last["height"], last["width"]) == image.shape[:2]
        expected = expected_detections(models.yolo, image)
        assert_same(last, expected)
        assert yolo.locator("#detections li").count() == min(len(expected), 50)
        names = {found["classId"]: found["name"] for found in last["detections"]}
        assert names.items() <= {0: "person", 1: "cell phone"}.items()


def test_photographs_are_turned_and_transparent_parts_are_grey(colours, models, tmp_path):
    picture = blob_picture(600, 400, [(GREEN, 140, 90, 80), (ORANGE, 420, 300, 60)])
    how = {"quality": 95, "subsampling": 0, "exif": exif_of(6)}
    Image.fromarray(picture).save(tmp_path / "turned.jpg", **how)
    alpha = np.full((400, 600, 1), 255, np.uint8)
    alpha[:, 300:] = 0
    Image.fromarray(np.concatenate([picture, alpha], axis=2)).save(tmp_path / "hole.png")
    for name, found in (("turned.jpg", 2), ("hole.png", 1)):
        seen = read_image(tmp_path / name)
        expected = expected_detections(models.colour, seen)
        assert len(expected) == found
        last = detect_file(colours, tmp_path / name, name)
        assert (last["height"], last["width"]) == seen.shape[:2]
        # Two decoders of JPEG may differ by a level.
        assert_same(last, expected, pixels=1.0, score=0.02)


def test_thresholds_and_classes(yolo, models, scenes):
    image = next(i for i in scenes if {0, 1} == {*expected_detections(models.yolo, i)[:, 5]})
    detect_file(yolo, encode(image))
    for slider, value in (("confidence", 0.4), ("confidence", 0.25), ("iou", 0.2), ("iou", 0.45)):
        last = after(yolo, lambda s=slider, v=value: yolo.locator(f"#{s}").fill(f"{v:g}"))
        assert float(yolo.inner_text(f"#{slider}-value")) == value
        used = [float(yolo.input_value(f"#{name}")) for name in ("confidence", "iou")]
        assert_same(last, expected_detections(models.yolo, image, *used))
    expected = expected_detections(models.yolo, image)
    for off in (0, 1):
        box = f"#class-filter [data-class='{off}']"
        last = after(yolo, lambda box=box: yolo.uncheck(box))
        assert_same(last, expected[expected[:, 5] != off])
        after(yolo, lambda box=box: yolo.check(box))
    assert after(yolo, lambda: yolo.click("#classes-none"))["detections"] == []
    assert_same(after(yolo, lambda: yolo.click("#classes-all")), expected)


@IN_BOTH
def test_a_model_file_brings_its_names_size_and_thresholds(browser, colour_site, tmp_path):
    names = ("l'été", 'a "quoted" \\ one')
    own = json.dumps({names[0]: 0.3})
    colour_detector_onnx(tmp_path / "other.onnx", 64, names, conf="0.5", iou="0.4", thresholds=own)
    bare = dict.fromkeys(("conf", "iou", "imgsz", "task"))
    colour_detector_onnx(tmp_path / "bare.onnx", 64, names=None, **bare)
    picture = blob_picture(300, 200, [(GREEN, 80, 90, 50), (ORANGE, 200, 120, 50)])
    wanted = {
        "other.onnx": (names, [0.3, 0.5], 0.4),
        "bare.onnx": (("class 0", "class 1"), [0.25, 0.25], 0.45),
    }
    with ready_page(browser, colour_site.url) as page:
        for file, (classes, confidence, iou) in wanted.items():
            page.set_input_files("#model-file", tmp_path / file)
            until(page, f"demo.info.modelName === '{file}' && demo.ready")
            assert page.evaluate("demo.info.size") == [64, 64]
            assert file in page.inner_text("#model-name")
            shown = page.locator("#class-filter label").all_inner_texts()
            differ = confidence[0] != confidence[1]
            numbers = [f"\n{value:.2f}" if differ else "" for value in confidence]
            labels = [name + number for name, number in zip(classes, numbers, strict=True)]
            assert [text.strip() for text in shown] == labels
            assert float(page.input_value("#confidence")) == min(confidence)
            assert float(page.input_value("#iou")) == iou
            last = detect_file(page, encode(picture))
            expected = expected_detections(tmp_path / file, picture, confidence, iou)
            assert_same(last, expected)
            assert {found["name"] for found in last["detections"]} <= {*classes}
        page.click("#model-builtin")
        until(page, "demo.info.modelName === 'built-in model' && demo.ready")
        assert len(detect_file(page, encode(picture))["detections"]) == 2


def test_far_things_are_found_at_a_larger_size(browser, colour_site, models):
    """With one set of weights: the link and what is told of the model follow."""
    picture = blob_picture(600, 400, [(GREEN, 200, 100, 30), (ORANGE, 500, 300, 20)])
    with ready_page(browser, colour_site.url) as page:
        for distance, path in (("near", models.colour), ("far", models.colour_far)):
            page.select_option("#range", distance)
            side = OnnxDetector(path).image_size
            until(page, f"demo.ready && demo.info.size[0] === {side}")
            assert f"{side} × {side} pixels" in page.inner_text("#model-facts")
            expected = expected_detections(path, picture)
            assert len(expected) == 2
            assert_same(detect_file(page, encode(picture)), expected)
        page.click("#link-card summary")
        page.click("#link-copy")
        until(page, "!document.querySelector('#link-text').hidden")
        assert "&far=1" in page.input_value("#link-text")
        page.fill("#confidence", "0.4")
        page.evaluate("location.hash = 'far=0'")
        until(page, "demo.ready && demo.info.size[0] === 128")
        assert page.input_value("#range") == "near"
        assert page.input_value("#confidence") == "0.4"  # it's the same model
        page.set_input_files("#model-file", file_of(models.colour, "own.onnx"))
        until(page, "demo.info.modelName === 'own.onnx' && demo.ready")
        assert page.locator("#range").is_hidden()


def test_a_page_of_one_size_offers_no_distance(yolo):
    assert yolo.locator("#range").is_hidden()
    yolo.evaluate("location.hash = 'far=1'")
    until(yolo, "document.querySelector('#link-note').textContent.includes('far=1 (the page has')")
    yolo.evaluate("location.hash = ''")
    until(yolo, "document.querySelector('#link-note').hidden")


# As in browsers that have none, in workers too.
WITHOUT_FLOAT16 = """
const Plain = Blob;
window.Blob = class extends Plain {
  constructor(parts, options) {
    const script = "delete globalThis.Float16Array;";
    super(options?.type === "text/javascript" ? [script, ...parts] : parts, options);
  }
};
"""


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    """Return a detector of float16 inputs and outputs, and a picture with something in it."""
    path = yolo_onnx(tmp_path_factory.mktemp("half") / "half.onnx", half=True)
    return path, clear_scenes(path, 1)[0]


@IN_BOTH
@pytest.mark.parametrize(
    "script",
    ["", pytest.param(WITHOUT_FLOAT16, marks=pytest.mark.long)],
    ids=["", "no_float16array"],
)
def test_a_model_whose_input_and_output_are_float16(browser, colour_site, half, script):
    path, picture = half
    with ready_page(browser, colour_site.url, script=script) as page:
        page.set_input_files("#model-file", path)
        until(page, "demo.info.modelName === 'half.onnx' && demo.ready")
        # A unit in the last place of a side of 64, and of a score.
        last = detect_file(page, encode(picture))
        scale = max(picture.shape[:2]) / 64
        assert_same(last, expected_detections(path, picture), pixels=scale / 16, score=1e-3)
        assert page.evaluate("demo.errors") == []


def test_the_detections_of_several_pictures_are_a_data_set(colours, tmp_path):
    """In COCO's form, as training reads it."""
    spots = {"one": [(GREEN, 80, 90, 50), (ORANGE, 200, 120, 50)], "two": [(GREEN, 150, 60, 40)]}
    (tmp_path / "images").mkdir()
    for name, blobs in spots.items():
        (tmp_path / f"images/{name}.png").write_bytes(encode(blob_picture(300, 200, blobs)))
    files = sorted((tmp_path / "images").iterdir())
    colours.evaluate("document.getElementById('album-clear').click()")  # other tests' pictures
    after(colours, lambda: colours.set_input_files("#image-file", files))
    with colours.expect_download() as download:
        colours.click("#save-all-coco")
    annotations = tmp_path / "annotations"
    annotations.mkdir()
    for split in ("train", "val"):
        shutil.copy(download.value.path(), annotations / f"instances_{split}.json")
        (tmp_path / "images" / split).mkdir()
        for file in files:
            shutil.copy(file, tmp_path / "images" / split)
    data = load_split(tmp_path, "train")
    assert (data.classes, data.skipped) == (["green thing", "orange thing"], [])
    rows = data.ground_truth()["annotations"]
    centres = sorted((x + w / 2, y + h / 2) for x, y, w, h in (row["bbox"] for row in rows))
    wanted = [blob[1:3] for blobs in spots.values() for blob in blobs]
    np.testing.assert_allclose(centres, sorted(wanted), atol=12)
    colours.click("#album-clear")


def test_a_link_leads_to_the_repository(colours):
    """Which nothing asks for: `visit` sees every request."""
    (link,) = colours.locator("a:visible").all()
    assert link.get_attribute("href") == REPOSITORY
    assert link.get_attribute("rel") == "noopener noreferrer"


def test_snapshot_and_json(yolo, models, scenes):
    last = detect_file(yolo, encode(scenes[0]), "street.png")
    with yolo.expect_download() as download:
        yolo.click("#snapshot")
    assert download.value.suggested_filename.endswith(".png")
    with Image.open(download.value.path()) as image:
        saved = np.asarray(image.convert("RGB"))
    url = yolo.evaluate("document.querySelector('#stage').toDataURL('image/png')")
    np.testing.assert_array_equal(saved, decode_data_url(url))
    with yolo.expect_download() as download:
        yolo.click("#save-json")
    saved = json.loads(download.value.path().read_text())
    height, width = scenes[0].shape[:2]
    assert saved["picture"] == {"title": "street.png", "width": width, "height": height}
    assert saved["detections"] == last["detections"]
    thresholds = {"confidence": {"person": 0.25, "cell phone": 0.25}, "iou": 0.45}
    assert saved["thresholds"] == thresholds
    assert saved["model"]["names"] == ["person", "cell phone"]
    assert saved["model"]["sha256"] == hashlib.sha256(models.yolo.read_bytes()).hexdigest()


def test_keys(colours):
    """Arrows move a slider, S saves, ? explains, Tab reaches every control."""
    choose_sample(colours, 1)
    colours.focus("#confidence")
    after(colours, lambda: colours.keyboard.press("ArrowRight"))
    assert float(colours.input_value("#confidence")) == pytest.approx(0.26)
    colours.evaluate("() => document.activeElement.blur()")
    with colours.expect_download():
        colours.keyboard.press("s")
    colours.keyboard.press("?")
    assert colours.locator("#help").is_visible()
    colours.keyboard.press("Escape")
    assert colours.locator("#help").is_hidden()
    reached = set()
    for _ in range(60):
        colours.keyboard.press("Tab")
        reached.add(colours.evaluate("document.activeElement.id"))
    wanted = {"start", "image-file", "video-file", "snapshot", "save-json", "confidence", "iou"}
    wanted |= {"detections-box", "teach-take"}
    assert wanted | {"camera-select", "model-file", "backend", "theme", "help-open"} <= reached


def resize(page, width, height):
    """Make the window another size; show its top."""
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate("scrollTo(0, 0)")
    # until the page has seen that its parts have other sizes
    page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))")


PHONE = {
    "viewport": {"width": 390, "height": 844}, "device_scale_factor": 2,
    "has_touch": True, "is_mobile": True,
}  # fmt: skip
# The last one is 1280 x 720 at 200 %, or a phone that is held sideways.
WINDOWS = {"desktop": (1280, 900), "narrow": (320, 640), "low": (640, 360)}


@pytest.mark.parametrize("device", ["desktop", "phone"])
def test_desktop_and_phone(browser, colour_site, tmp_path, device):
    """The dark theme is dark and the light one light; all fits, in large letters, too."""
    picture = blob_picture(640, 480, [(GREEN, 200, 250, 80), (ORANGE, 500, 100, 80)])
    options = PHONE if device == "phone" else {}
    with ready_page(browser, colour_site.url, color_scheme="light", **options) as page:
        detect_file(page, encode(picture))
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            windows = {"phone": (390, 844)} if device == "phone" else WINDOWS
            for name, (width, height) in windows.items():
                resize(page, width, height)
                assert_looks(page, f"{name}-{scheme}", tmp_path, scheme, width)
                if name == "low":
                    for part in ("#stage", "#start", "#confidence"):
                        box = page.locator(part).bounding_box()
                        assert 0 <= box["y"] < box["y"] + box["height"] <= height, part
        assert page.locator("#pixels-note").is_hidden()
        page.click("#theme")
        assert page.evaluate("document.documentElement.dataset.theme") == "light"


def assert_looks(page, name, folder, scheme, width):
    """Assert that the ground is as dark as it should be, and that nothing is cut off."""
    path = screenshot(page, name, folder)
    with Image.open(io.BytesIO(path.read_bytes())) as image:
        ground = np.asarray(image.convert("L"))[:, :4].mean()
    assert (ground < 100) == (scheme == "dark")
    for letters, font in itertools.product((20, 24, 16), FONTS):
        set_letters(page, letters, font)
        assert page.evaluate("document.documentElement.scrollWidth") == width, (letters, font)
        assert page.evaluate(MISFITS) == [], (letters, font)
        if font == FONTS[0]:
            screenshot(page, f"{name}-{letters}", folder)
    set_letters(page, 16, "")
