"""What runs inside of the page: the demo's scenarios in JavaScript, ``page/test/browser``."""

import base64

import numpy as np
import pytest
from dataset import load_split
from tools.build_demo import DEMO, NODE_MODULES, bundle

from tests.examples.yolo11n.page.browsers import IN_BOTH, ready_page

FILES = [f for f in sorted(DEMO.glob("page/test/browser/*.js")) if f.stem != "helpers"]
# Whole lessons take long; test_teaching.py has their steps.
SCENARIOS = [pytest.param(f, marks=pytest.mark.long) if f.stem == "lessons" else f for f in FILES]
RUN = "title => scenarios[title]().then(() => '', (error) => `${error}\\n${error.stack}`)"


@pytest.mark.browser
@IN_BOTH
@pytest.mark.parametrize("file", SCENARIOS, ids=lambda f: f.stem)
def test_scenarios(browser, colour_site, yolo_site, file, tmp_path):
    site = yolo_site if file.stem == "lessons" else colour_site
    with ready_page(browser, site.url) as page:
        if "axe-core" in file.read_text() and not (NODE_MODULES / "axe-core").exists():
            pytest.skip("axe-core is missing: bash setup.sh --dev")
        page.evaluate(bundle(f"../test/browser/{file.name}"))
        titles = page.evaluate("Object.keys(scenarios)")
        assert titles
        for title in titles:
            assert page.evaluate(RUN, title) == "", title
        assert page.evaluate("demo.errors") == []
        if file.stem == "teach_panel":
            saved = page.evaluate("saved")
            path = tmp_path / "taught.zip"
            path.write_bytes(base64.b64decode(saved["zip"]))
            for split in ("train", "val"):
                data = load_split(path, split)
                assert (data.classes, data.skipped) == (saved["names"], [])
                boxes = [row["bbox"] for row in data.ground_truth()["annotations"]]
                np.testing.assert_allclose(boxes, saved["boxes"], atol=0.5)
