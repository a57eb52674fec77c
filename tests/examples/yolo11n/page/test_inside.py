"""What runs inside of the page: the demo's scenarios in JavaScript, ``page/test/browser``."""

import pytest
from tools.build_demo import DEMO, NODE_MODULES, bundle

from tests.examples.yolo11n.page.browsers import ready_page

FILES = sorted(DEMO.glob("page/test/browser/*.js"))
RUN = "title => scenarios[title]().then(() => '', (error) => String(error.stack))"


@pytest.mark.browser
@pytest.mark.parametrize("file", [f for f in FILES if f.stem != "helpers"], ids=lambda f: f.stem)
def test_scenarios(browser, colour_site, file):
    with ready_page(browser, colour_site.url) as page:
        if "axe-core" in file.read_text() and not (NODE_MODULES / "axe-core").exists():
            pytest.skip("axe-core is missing: bash setup.sh --dev")
        page.evaluate(bundle(f"../test/browser/{file.name}"))
        titles = page.evaluate("Object.keys(scenarios)")
        assert titles
        for title in titles:
            assert page.evaluate(RUN, title) == "", title
        assert page.evaluate("demo.errors") == []
