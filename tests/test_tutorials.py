"""The page that the tutorial of the digits writes recognizes a digit drawn on it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RUNTIME = ROOT / "examples/onnx/onnx-yolo-demo/node_modules/onnxruntime-web"
CELL = re.compile(r"```\{code-cell\} ipython3\n(?!:tags: \[skip-execution\])(.*?)```", re.DOTALL)
# A one: strokes from point to point, in pixels of the page's 8 x 8.
ONE = [(3.0, 2.0), (4.5, 0.6), (4.5, 7.4)]


@pytest.mark.long
@pytest.mark.browser
def test_page_of_the_digits(tmp_path):
    from tests.examples.yolo11n.page.browsers import open_browser

    if not RUNTIME.exists():
        pytest.skip("npm has not fetched onnxruntime-web: bash setup.sh")
    cells = CELL.findall((ROOT / "docs/tutorials/digits.md").read_text())
    subprocess.run([sys.executable, "-c", "\n".join(cells)], cwd=tmp_path, check=True)

    def from_disk(route):
        package, _, path = route.request.url.partition("/dist/")
        version = re.search(r'"version": "(.*?)"', (RUNTIME / "package.json").read_text())[1]
        assert package.endswith(f"onnxruntime-web@{version}")
        route.fulfill(path=RUNTIME / "dist" / path, headers={"Access-Control-Allow-Origin": "*"})

    with open_browser() as browser:
        page = browser.new_page()
        page.route(re.compile("^https:"), from_disk)
        page.goto((tmp_path / "digits.html").as_uri())
        page.wait_for_function("!!document.querySelector('canvas').onpointermove")
        box = page.locator("canvas").bounding_box()
        scale = box["width"] / 8
        points = [(box["x"] + x * scale, box["y"] + y * scale) for x, y in ONE]
        page.mouse.move(*points[0])
        page.mouse.down()
        for point in points[1:]:
            page.mouse.move(*point, steps=12)
        page.mouse.up()
        page.wait_for_function("document.querySelector('output').value")
        page.wait_for_timeout(500)
        assert page.locator("output").inner_text().startswith("1 ")
