"""Takes the pictures of the page for the READMEs, from the page in the repository.

    python .ci/screenshots.py [--output DIR]

It needs a Chromium and playwright. Shown are the page's own samples, which are drawn; look at the
pictures before you commit them. Milliseconds on them are your machine's.
"""

import argparse
import io
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1] / "examples" / "onnx" / "onnx-yolo-demo"))
sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.build_demo import DEMO, PAGE, assets_of

from tests.examples.yolo11n.page.browsers import (
    choose_sample,
    file_of,
    open_browser,
    ready_page,
    until,
    wait_screen,
)
from tests.examples.yolo11n.page.detectors import write_y4m

SAMPLE, ON_A_PHONE = 1, 3  # numbers of the samples that are shown
WARM = 5  # times that a sample is shown first, until the browser has compiled all
FRAMES = 30  # of the camera's film
URL = (DEMO / PAGE).as_uri()
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def sample_pixels(number):
    """Return the page's sample of a number from 1 on, RGB, uint8 (480, 640, 3)."""
    assets = assets_of((DEMO / "demo_assets/model.js").read_text(encoding="utf-8"))
    names = sorted(name for name in assets if name.startswith("sample"))
    with Image.open(io.BytesIO(assets[names[number - 1]])) as picture:
        return np.asarray(picture.convert("RGB").resize((640, 480)))


def write_film(path, pixels):
    """Write a camera's film of one picture, which trembles by a pixel."""
    write_y4m(path, [np.roll(pixels, k % 2, axis=1) for k in range(FRAMES)])


def write_other_model(path):
    """Write a model whose output is of no detector's shape."""
    shapes = {"images": [1, 3, 64, 64], "output0": [1, 3, 1, 1]}
    ends = [[helper.make_tensor_value_info(n, TensorProto.FLOAT, s)] for n, s in shapes.items()]
    node = helper.make_node("GlobalAveragePool", ["images"], ["output0"])
    graph = helper.make_graph([node], "other", *ends)
    opsets = [helper.make_opsetid("", 18)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), path)


def show(page, number):
    """Have a sample on the stage, and the milliseconds of a page that is warm."""
    for _ in range(WARM):
        choose_sample(page, number)


def take(page, name, folder, height=None):
    """Save what is visible of a page, down to a height in pixels, as a JPEG file."""
    page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
    page.mouse.move(1, 1)
    clip = height and {"x": 0, "y": 0, "width": page.viewport_size["width"], "height": height}
    with Image.open(io.BytesIO(page.screenshot(clip=clip))) as picture:
        picture.convert("RGB").save(folder / f"{name}.jpg", quality=85, optimize=True)
    found = page.evaluate("demo.last.detections.map((d) => [d.classId, d.score])")
    print(f"{name}.jpg: {json.dumps(found)}")


def take_all(folder):
    """Take the five pictures."""
    with tempfile.TemporaryDirectory() as temporary:
        film, model = Path(temporary, "camera.y4m"), Path(temporary, "other.onnx")
        write_film(film, sample_pixels(SAMPLE))
        write_other_model(model)
        with open_browser(camera=film) as browser:
            with ready_page(browser, URL) as page:
                show(page, SAMPLE)
                take(page, "page", folder)
                page.click("#start")
                wait_screen(page, "camera-refused")
                take(page, "page_refused", folder)
            with ready_page(browser, URL) as page:
                show(page, SAMPLE)
                page.set_input_files("#model-file", file_of(model, model.name))
                wait_screen(page, "model-shape")
                take(page, "page_model", folder)
            with ready_page(browser, URL, permissions=["camera"]) as page:
                page.click("#start")
                until(page, "demo.state === 'running' && demo.frames > 60")
                # The line of the status names the film, a file of this machine.
                take(page, "page_camera", folder, page.locator("#status").bounding_box()["y"])
            with ready_page(browser, URL, **PHONE) as page:
                show(page, ON_A_PHONE)
                take(page, "page_phone", folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default=DEMO / "images", help="folder for them")
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    take_all(output)


if __name__ == "__main__":
    main()
