"""The page with sliders for a deployed PyMC model shows what onnxruntime computes in Python."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import numpy as np
import onnxruntime
import pytest
from tools.build_demo import DEMO, NODE_MODULES, runtime_problem

from tests.examples.yolo11n.page.browsers import open_browser, screenshot, until, visit

pytestmark = pytest.mark.browser
COORDS = {"groups": ["red", "green", "blue"], "feature": ["age", "dose"], "grade": ["low", "high"]}
LEAST, MOST, POINTS = -1.5, 2.5, 61  # of the features; of the curve


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A server of the page and of ``model.onnx`` beside it: ``url``, ``path``, ``session``."""
    pm = pytest.importorskip("pymc", reason="the page is for PyMC's models")
    arviz = pytest.importorskip("arviz", reason="PyMC needs it")
    if problem := runtime_problem():
        pytest.skip(problem)
    if not (NODE_MODULES / "chart.js").exists():
        pytest.skip("chart.js is missing: bash setup.sh")
    root, source = tmp_path_factory.mktemp("site"), DEMO.parent / "pymc_deploy"
    (root / "onnx-yolo-demo").symlink_to(DEMO)
    (root / "pymc_deploy").mkdir()
    (root / "pymc_deploy/page.html").symlink_to(source / "page.html")
    path, rng = root / "pymc_deploy/model.onnx", np.random.default_rng(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(source))
        from deploy import export_posterior_predictive
    with pm.Model(coords=COORDS) as model:
        group = pm.Data("group", np.array([0, 1, 2]), dims="row")
        features = [[LEAST, 0.0], [1.0, 0.5], [0.0, MOST]]
        x = pm.Data("x", np.array(features), dims=("row", "feature"))
        pm.Data("visits", np.array([3, 9, 5]), dims="row")
        start = pm.Normal("start", pm.Normal("centre"), 1.0, dims="groups")
        eta = start[group] + x @ pm.Normal("slope", dims="feature") * (1 + model["visits"])
        below = pm.math.invlogit(eta)
        pm.Deterministic("p", pm.math.stack([below, 1 - below], axis=1), dims=("row", "grade"))
        pm.Normal("y", eta, 1.0, observed=np.zeros(3), dims="row")
    draws = {"centre": rng.normal(size=(1, 99)), "start": rng.normal(size=(1, 99, 3))}
    draws["slope"] = rng.normal(size=(1, 99, 2))
    posterior = arviz.from_dict({"posterior": draws}, dims={"start": ["groups"]})
    export_posterior_predictive(
        model, posterior, path, ["group", "x", "visits"], ["y", "p"],
        unknown=["groups"], indexes={"group": "groups"},
    )  # fmt: skip
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=root)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/pymc_deploy/page.html"
        yield SimpleNamespace(url=url, path=path, session=onnxruntime.InferenceSession(path))
        server.shutdown()


@pytest.fixture(scope="module")
def browser():
    with open_browser() as browser:
        yield browser


def expected(site, grade, **new):
    """Mean and quantiles of ``p``, for rows of which some inputs may be single numbers."""
    rows = len(new["x"])
    for name in ("group", "visits"):
        new[name] = np.broadcast_to(new[name], rows).astype("int32")
    mean, quantiles = site.session.run(["p_mean", "p_quantiles"], new)
    return np.concatenate([mean[None], quantiles])[:, :, grade]


def shown(page):
    """What is plotted: the curve's points, mean and quantiles there, and those of the sliders."""
    data = page.evaluate("Chart.getChart('plot').data.datasets.map(({data}) => data)")
    *lines, here = [[[point["x"], point["y"]] for point in points] for points in data]
    text = page.locator("#here").inner_text()
    values = [float(part.split()[-1]) for part in text.split(",")]
    np.testing.assert_allclose(values, [y for _, y in here], rtol=6e-4)
    lines = np.array(lines)
    return lines[0, :, 0], lines[:, :, 1], np.array(here)[:, 1]


def settled(page):
    """Wait until what is shown is what the controls say."""
    until(page, "document.querySelector('#shown:not([hidden])[aria-busy=false]')")


def choice(page, name):
    return page.get_by_role("combobox", name=name, exact=True)


def check_curve(page, site, axis, at, group=0, grade=0, visits=6):
    """The numbers of the curve over one feature, and those where the sliders stand, ``at``."""
    x = np.tile(np.array(at), (POINTS + 1, 1))
    x[1:, axis] = np.linspace(LEAST, MOST, POINTS)
    wanted = expected(site, grade, x=x, group=group, visits=visits)
    points, lines, here = shown(page)
    np.testing.assert_allclose(points, x[1:, axis], rtol=1e-12)
    np.testing.assert_allclose(here, wanted[:, 0], rtol=1e-12)
    np.testing.assert_allclose(lines, wanted[:, 1:], rtol=1e-12)


def test_numbers_are_those_of_onnxruntime(browser, site):
    with visit(browser, f"{site.url}?model=model.onnx") as page:
        settled(page)
        predict, over, group = (choice(page, name) for name in ("Predict", "Over", "group"))
        assert predict.inner_text().split("\n") == ["y", "p, low", "p, high"]
        assert over.inner_text().split("\n") == ["group", "x, age", "x, dose", "visits"]
        assert group.inner_text().split("\n") == [*COORDS["groups"], "unknown"]
        predict.select_option("p, high")
        assert page.locator("h2").inner_text() == "p, high over x, age"
        check_curve(page, site, axis=0, at=[0.5, 0.5], grade=1)

        group.select_option("blue")
        over.select_option("x, dose")
        age = page.get_by_role("slider", name="x, age", exact=True)
        age.press("ArrowRight")
        age.press("ArrowRight")
        page.get_by_role("slider", name="visits", exact=True).press("Home")
        step = (MOST - LEAST) / 200
        settled(page)
        assert page.locator("h2").inner_text() == "p, high over x, dose"
        check_curve(page, site, axis=1, at=[0.5 + 2 * step, 0.5], group=2, grade=1, visits=3)

        over.select_option("group")
        settled(page)
        ticks = page.evaluate("Chart.getChart('plot').scales.x.ticks.map(({label}) => label)")
        assert ticks == [*COORDS["groups"], "unknown"]
        x = np.tile([0.5 + 2 * step, 0.5], (4, 1))
        wanted = expected(site, 1, x=x, group=np.arange(4), visits=3)
        np.testing.assert_allclose(shown(page)[1][:, :3], wanted[:, :3], rtol=1e-12)
        predict.select_option("y")
        settled(page)
        assert page.locator("h2").inner_text() == "y over group"
        assert np.isfinite(shown(page)[1]).all()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_looks(browser, site, scheme, width, tmp_path):
    axe = NODE_MODULES / "axe-core/axe.min.js"
    if not axe.exists():
        pytest.skip("axe-core is missing: bash setup.sh --dev")
    viewport = {"width": width, "height": 900}
    with visit(browser, site.url, viewport=viewport, color_scheme=scheme) as page:
        page.set_input_files("#file", site.path)
        settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        page.add_script_tag(path=axe)
        violations = page.evaluate("axe.run().then(({violations}) => violations)")
        assert [(v["id"], [n["html"] for n in v["nodes"]]) for v in violations] == []
        assert 300 <= page.evaluate("plot.getBoundingClientRect().width") <= width
        painted = page.evaluate(
            "new Set(new Uint32Array(plot.getContext('2d').getImageData(0, 0, plot.width,"
            " plot.height).data.buffer)).size"
        )
        assert painted > 10
        screenshot(page, f"pymc-page-{width}-{scheme}", tmp_path)


def test_says_what_is_wrong(browser, site):
    with visit(browser, f"{site.url}?model=lost.onnx", complaints=["404"]) as page:
        status = page.locator("#status[role=status]")
        until(page, "document.getElementById('status').textContent.startsWith('Error')")
        assert status.inner_text() == "Error: lost.onnx: 404 File not found"
        other = site.path.with_name("other.onnx")
        other.write_bytes(b"")
        page.set_input_files("#file", other)
        until(page, "document.getElementById('status').textContent.includes('deploy.py')")
        page.set_input_files("#file", site.path)
        settled(page)
        assert status.inner_text() == ""
