"""Built pages, and a browser, for the tests of the page."""

import importlib.util
import os
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from filelock import FileLock
from tools import build_demo, samples
from tools.build_demo import DEMO, PAGE, SINGLE_FILE, asset_script, build, runtime_problem

from tests.examples.yolo11n.page.browsers import open_browser, ready_page, require_chromium
from tests.examples.yolo11n.page.detectors import colour_detector_onnx, yolo_onnx

LATER = "all_controls|all_shapes|are_float16|cloned|counting|lessons|recording|served|slow|sources"
LATER += "|teach_panel|augment|compare|link|models|pictures"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark as long what Firefox does after Chromium, but for a few of each kind.

    Some of it takes long there, or hangs at times (films, threads).
    """
    for item in items:
        if re.search(f"({LATER}).*firefox", item.name):
            item.add_marker(pytest.mark.long)


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """Make folders once for all workers of a run: a function of a name and of what fills it."""
    folders = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folders = folders.parent

    def make(name, fill):
        folder = folders / name
        with FileLock(f"{folder}.lock"):
            if not folder.exists():
                part = folders / f"{name}.part"
                shutil.rmtree(part, ignore_errors=True)
                part.mkdir()
                fill(part)
                part.rename(folder)
        return folder

    return make


class Models:
    """Paths of detectors: ``colour``, and ``yolo``, the real network with random weights.

    ``colour_far`` is the former at twice the size.
    """

    def __init__(self, once):
        self._once = once

    def _path(self, name, write):
        file = f"{name}.onnx"
        return self._once(name, lambda folder: write(folder / file)) / file

    @property
    def colour(self):
        return self._path("colours", colour_detector_onnx)

    @property
    def colour_far(self):
        return self._path("colours_far", lambda path: colour_detector_onnx(path, 256))

    @property
    def yolo(self):
        return self._path("yolo", yolo_onnx)


@pytest.fixture(scope="session")
def models(once):
    return Models(once)


def build_site(model, folder, int8=None, without=(), far=None):
    """Return the page of a model as `site_in`; skip the test without the runtime.

    What takes the most of the time is left out: no scenes are looked for in which the model is
    right, for each sample the first one is taken, and nothing is compressed well.  `without` names
    other functions of `build_demo` whose assets a test doesn't need.
    """
    require_chromium()
    if problem := runtime_problem():
        pytest.skip(problem)
    first = samples.Choice((0,) * len(samples.SAMPLES), ())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(samples, "choose_samples", lambda *_: first)
        patch.setattr(build_demo, "asset_script", lambda assets, *_: asset_script(assets, level=1))
        for name in without:
            patch.setattr(build_demo, name, lambda *_: {})
        build(model, output=folder, int8=int8, far=far)
    return site_in(folder)


def site_in(folder):
    """Paths ``page`` and ``single_file`` of a built page, and their ``url`` and ``single_url``."""
    page, single_file = folder / PAGE, folder / SINGLE_FILE
    return SimpleNamespace(
        page=page, single_file=single_file, url=page.as_uri(), single_url=single_file.as_uri()
    )


@pytest.fixture(scope="session")
def yolo_site(models, once):
    """Return the page with the real network in it."""
    return site_in(once("yolo_site", lambda folder: build_site(models.yolo, folder)))


@pytest.fixture(scope="session")
def untaught_site(models, once):
    """Return a page of the real network with the floats for WebGPU in a script of their own.

    It can't be taught anything.
    """
    how = {"int8": models.yolo, "without": ["teaching_assets"]}
    return site_in(once("untaught_site", lambda folder: build_site(models.yolo, folder, **how)))


@pytest.fixture(scope="session")
def colour_site(models, once):
    """Return the page with the detector of colours in it."""
    far = models.colour_far
    return site_in(once("colour_site", lambda folder: build_site(models.colour, folder, far=far)))


@pytest.fixture(scope="session")
def page_command():
    """Return ``.ci/page.py`` as a module."""
    spec = importlib.util.spec_from_file_location("page_command", DEMO.parents[2] / ".ci/page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def built_anew(page_command, once):
    """Return the scripts of the page in the repository as its sources make them today, by name."""

    def fill(folder):
        if problem := runtime_problem():
            pytest.skip(problem)
        scripts = page_command.own_scripts(page_command.present_scripts())
        for name, text in scripts.items():
            (folder / Path(name).name).write_text(text, encoding="utf-8", newline="\n")

    files = once("built_anew", fill).iterdir()
    return {f"demo_assets/{file.name}": file.read_text(encoding="utf-8") for file in files}


@pytest.fixture(scope="module", params=[open_browser], ids=["chromium"])
def browser(request):
    """Open a Chromium without a camera and WebGPU, or what the test is `IN_BOTH` with."""
    with request.param() as browser:
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
