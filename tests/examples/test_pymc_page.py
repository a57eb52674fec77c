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
LEAST, MOST, POINTS = -1.5, 2.5, 61  # of the features; places of a slider
MIDDLE, STEP = (LEAST + MOST) / 2, (MOST - LEAST) / (POINTS - 1)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Serve the page and ``model.onnx`` beside it: ``url``, ``path``, ``session``."""
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
        from pytensor.link.onnx.pymc import export_posterior_predictive
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


@pytest.fixture(scope="module")
def page(browser, site):
    """Open the page once, with the model, for the tests that find nothing wrong."""
    with visit(browser, site.url) as page:
        settled(page)
        yield page


def expected(site, grade, **new):
    """Return mean and quantiles of ``p``, for rows of which some inputs may be single numbers."""
    rows = len(new["x"])
    for name in ("group", "visits"):
        new[name] = np.broadcast_to(new[name], rows).astype("int32")
    mean, quantiles = site.session.run(["p_mean", "p_quantiles"], new)
    return np.concatenate([mean[None], quantiles])[:, :, grade]


def shown(page):
    """Return what is plotted, and the numbers that are said of the sliders' places."""
    labels, data, marked = page.evaluate(
        "(({labels, datasets}) => [labels, datasets.map(({data}) => data), labels.findIndex("
        "(_, dataIndex) => datasets[0].pointRadius({dataIndex}))])(Chart.getChart('plot').data)"
    )
    title, _, text = page.locator("#said").inner_text().partition(". Here: ")
    values = [float(part.split()[-1]) for part in text.split(",")]
    np.testing.assert_allclose(values, np.array(data)[:, marked], rtol=6e-4)
    return title, labels, np.array(data), marked


def settled(page):
    """Wait until what is shown is what the controls say."""
    until(page, "document.querySelector('#plot[aria-busy=false]')")


def choice(page, name):
    return page.get_by_role("combobox", name=name, exact=True)


def check_curve(page, site, title, axis, at, group=0, grade=0, visits=6):
    """Check the numbers of the curve over one feature, whose sliders stand ``at``."""
    x = np.tile(np.array(at), (POINTS, 1))
    x[:, axis] = np.linspace(LEAST, MOST, POINTS)
    said, labels, lines, marked = shown(page)
    assert said == title
    np.testing.assert_allclose([float(label) for label in labels], x[:, axis], rtol=6e-4, atol=1e-9)
    np.testing.assert_allclose(x[marked, axis], at[axis], rtol=1e-12)
    wanted = expected(site, grade, x=x, group=group, visits=visits)
    np.testing.assert_allclose(lines, wanted, rtol=1e-12)


def slider(page, name):
    return page.get_by_role("slider", name=name)


def test_numbers_are_those_of_onnxruntime(page, site):
    predict, over = choice(page, "Predict"), choice(page, "Over")
    assert predict.inner_text().split("\n") == ["y", "p, low", "p, high"]
    assert over.inner_text().split("\n") == ["group", "x, age", "x, dose", "visits"]
    predict.select_option("p, high")
    over.select_option("x, age")
    slider(page, "group").press("Home")
    settled(page)
    check_curve(page, site, "p, high over x, age", axis=0, at=[MIDDLE, MIDDLE], grade=1)

    slider(page, "group: red").press("ArrowRight")
    slider(page, "group: green").press("ArrowRight")
    over.select_option("x, dose")
    slider(page, "x, age").press("ArrowRight")
    slider(page, "x, age").press("ArrowRight")
    slider(page, "visits").press("Home")
    settled(page)
    at = [MIDDLE + 2 * STEP, MIDDLE]
    title = "p, high over x, dose"
    check_curve(page, site, title, axis=1, at=at, group=2, grade=1, visits=3)

    over.select_option("group")
    settled(page)
    title, labels, lines, _ = shown(page)
    assert (title, labels) == ("p, high over group", [*COORDS["groups"], "unknown"])
    x, wanted = np.tile(at, (4, 1)), {"group": np.arange(4), "visits": 3}
    wanted = expected(site, 1, x=x, **wanted)
    np.testing.assert_allclose(lines[:, :3], wanted[:, :3], rtol=1e-12)
    predict.select_option("y")
    settled(page)
    title, _, lines, _ = shown(page)
    assert title == "y over group"
    assert np.isfinite(lines).all()


@pytest.fixture(scope="module")
def checked_page(page):
    """Load axe-core into the page."""
    axe = NODE_MODULES / "axe-core/axe.min.js"
    if not axe.exists():
        pytest.skip("axe-core is missing: bash setup.sh --dev")
    page.add_script_tag(path=axe)
    return page


# Of a copy: a canvas that is read several times belongs to the processor.
COLOURS = """(() => {
  const context = new OffscreenCanvas(plot.width, plot.height).getContext("2d");
  context.drawImage(plot, 0, 0);
  const { data } = context.getImageData(0, 0, plot.width, plot.height);
  return new Set(new Uint32Array(data.buffer)).size;
})()"""


@pytest.mark.by_default("360-dark")
@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (360, "dark")])
def test_looks(checked_page, scheme, width, tmp_path):
    page = checked_page
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    until(page, f"document.documentElement.scrollWidth === {width}", timeout=20)
    assert 300 <= page.evaluate("plot.getBoundingClientRect().width") <= width
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") == (scheme == "dark")
    violations = page.evaluate("axe.run().then(({violations}) => violations)")
    assert [(v["id"], [n["html"] for n in v["nodes"]]) for v in violations] == []
    assert page.evaluate(COLOURS) > 10
    screenshot(page, f"pymc-page-{width}-{scheme}", tmp_path)


def test_says_what_is_wrong(browser, site):
    site.path.with_name("other.onnx").write_bytes(b"")
    for name, message in {"lost": "File not found; needed", "other": "OK; needed"}.items():
        with visit(browser, f"{site.url}?model={name}.onnx", complaints=["404", message]) as page:
            until(page, "document.getElementById('said').textContent.startsWith('Error')")
            said = page.locator("#said[role=status]").inner_text()
            assert f"{name}.onnx: {message}" in said
