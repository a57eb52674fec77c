"""Built pages, and a browser, for the tests of the page."""

import re
from types import SimpleNamespace

import pytest
from tools.build_demo import build, runtime_problem

from tests.examples.yolo11n.page.browsers import open_browser, ready_page, require_chromium
from tests.examples.yolo11n.page.detectors import colour_detector_onnx, yolo_onnx

LATER = "cloned|counting|lessons|recording|served|sources|teach_panel"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark as long what takes long in Firefox, or hangs there at times (films, threads)."""
    for item in items:
        if re.search(f"({LATER}).*firefox", item.name):
            item.add_marker(pytest.mark.long)


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Write two detectors: ``colour``, and ``yolo``, the real network with random weights."""
    folder = tmp_path_factory.mktemp("models")
    colour_detector_onnx(folder / "colours.onnx")
    yolo_onnx(folder / "yolo.onnx")
    return SimpleNamespace(colour=folder / "colours.onnx", yolo=folder / "yolo.onnx")


def build_site(model, folder):
    """Return what `build` does, ``url`` and ``single_url``; skip the test without the runtime."""
    require_chromium()
    if problem := runtime_problem():
        pytest.skip(problem)
    report = build(model, output=folder)
    return SimpleNamespace(
        **report, url=report["page"].as_uri(), single_url=report["single_file"].as_uri()
    )


@pytest.fixture(scope="session")
def yolo_site(models, tmp_path_factory):
    """Build the page with the real network in it."""
    return build_site(models.yolo, tmp_path_factory.mktemp("yolo_site"))


@pytest.fixture(scope="session")
def colour_site(models, tmp_path_factory):
    """Build the page with the detector of colours in it."""
    return build_site(models.colour, tmp_path_factory.mktemp("colour_site"))


@pytest.fixture(scope="module")
def browser(request):
    """Open a Chromium without a camera and WebGPU, or what the test is `IN_BOTH` with."""
    with getattr(request, "param", open_browser)() as browser:
        yield browser


@pytest.fixture(scope="module")
def colours(browser, colour_site):
    """Open one page with the detector of colours, for all tests of a file."""
    with ready_page(browser, colour_site.url) as page:
        yield page
        assert page.evaluate("demo.errors") == []


@pytest.fixture(scope="module")
def yolo(browser, yolo_site):
    """Open one page with the real network, for all tests of a file."""
    with ready_page(browser, yolo_site.single_url) as page:
        yield page
        assert page.evaluate("demo.errors") == []
