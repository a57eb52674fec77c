"""Take the pictures of the browser page that the README shows.

    python picture_page.py dist/yolo_detection_demo.html images

Drives an installed Chromium.  The camera plays a film: a drawn scene that moves past.
"""

import argparse
import contextlib
import io
import sys
import tempfile
from pathlib import Path

import build_demo
import numpy as np
from chromium import BrowserError, open_page, page_url, wait_for, wait_ready
from PIL import Image
from synthetic import sample_scene

DESKTOP, PHONE = {"width": 1120, "height": 900}, {"width": 390, "height": 844}
FILM_SIZE = 640, 480
FILM_FRAMES, FILM_STEP = 40, 8  # pictures; pixels from one to the next
FILM_SCENE = [build_demo.SAMPLE_SEED, build_demo.SAMPLE_SPLIT, 6]
FAKE_CAMERA = ["--use-fake-device-for-media-stream"]


def write_film(path):
    """Write a drawn scene that moves past, as an uncompressed film (YUV4MPEG2, 4:2:0)."""
    width, height = FILM_SIZE
    scene, _ = sample_scene(np.random.default_rng(FILM_SCENE), (width + 160, height))
    shifts = [abs(FILM_FRAMES // 2 - k) * FILM_STEP for k in range(FILM_FRAMES)]
    with open(path, "wb") as file:
        file.write(f"YUV4MPEG2 W{width} H{height} F10:1 Ip A1:1 C420\n".encode())
        for shift in shifts:
            picture = Image.fromarray(scene[:, shift : shift + width]).convert("YCbCr")
            luma, blue, red = (np.asarray(plane, np.float32) for plane in picture.split())
            # From JPEG's full range to the film's limited one.
            planes = [16 + luma * (219 / 255)]
            for chroma in (blue, red):
                quarters = chroma.reshape(height // 2, 2, width // 2, 2).mean(axis=(1, 3))
                planes.append(128 + (quarters - 128) * (224 / 255))
            file.write(b"FRAME\n" + b"".join(p.round().astype(np.uint8).tobytes() for p in planes))


def take(page, path):
    """Save what the page's window shows as JPEG: a quarter of PNG's bytes."""
    page.mouse.move(0, 0)
    page.wait_for_timeout(300)  # transitions end
    with Image.open(io.BytesIO(page.screenshot())) as picture:
        picture.convert("RGB").save(path, quality=88, subsampling=0, optimize=True)
    print(f"wrote {path}")


def take_still(url, folder):
    """The page as it opens, in the dark, on a phone, and with a model of another shape."""
    with open_page(url) as (page, _):
        page.set_viewport_size(DESKTOP)
        page.emulate_media(color_scheme="light")
        wait_ready(page)
        take(page, folder / "page.jpg")
        page.emulate_media(color_scheme="dark")
        take(page, folder / "page_dark.jpg")
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(PHONE)
        take(page, folder / "page_phone.jpg")
        page.set_viewport_size(DESKTOP)
        with tempfile.TemporaryDirectory() as temporary:
            model = Path(temporary) / "classifier.onnx"
            write_classifier(model)
            page.set_input_files("#model-file", model)
            wait_for(page, "demo.screen === 'model-shape'", 30, "the message on the model")
        take(page, folder / "page_model.jpg")


def write_classifier(path):
    """A valid model that is no detector."""
    import onnx
    from onnx import TensorProto, helper

    node = helper.make_node("GlobalAveragePool", ["images"], ["scores"])
    shapes = [("images", [1, 3, 224, 224]), ("scores", [1, 3, 1, 1])]
    source, target = (helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in shapes)
    graph = helper.make_graph([node], "classifier", [source], [target])
    opset = [helper.make_opsetid("", 20)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=10), path)


def take_camera(url, folder):
    """The page while a camera runs."""
    folder = folder.resolve()
    # The page shows the film's name as the camera's, with its folder if there is one.
    with tempfile.TemporaryDirectory() as temporary, contextlib.chdir(temporary):
        write_film("film.y4m")
        args = [
            *FAKE_CAMERA,
            "--use-fake-ui-for-media-stream",
            "--use-file-for-fake-video-capture=film.y4m",
        ]
        with open_page(url, args=args) as (page, _):
            page.set_viewport_size(DESKTOP)
            page.emulate_media(color_scheme="dark")
            wait_ready(page)
            page.click("#start")
            wait_for(page, "demo.state === 'running' && demo.frames > 120", 120, "120 frames")
            take(page, folder / "page_camera.jpg")


def take_refused(url, folder):
    """The page after the user has refused the camera."""
    with open_page(url, args=[*FAKE_CAMERA, "--deny-permission-prompts"]) as (page, _):
        page.set_viewport_size(DESKTOP)
        page.emulate_media(color_scheme="light")
        wait_ready(page)
        page.click("#start")
        wait_for(page, "demo.screen === 'camera-refused'", 30, "the message on the camera")
        take(page, folder / "page_refused.jpg")


def main(arguments=None):
    """Take the pictures; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=Path, help="a built page, such as the single file")
    parser.add_argument("folder", type=Path, help="where the pictures go")
    options = parser.parse_args(arguments)
    try:
        url = page_url(options.page)
        options.folder.mkdir(parents=True, exist_ok=True)
        for picture in (take_still, take_camera, take_refused):
            picture(url, options.folder)
    except (BrowserError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
