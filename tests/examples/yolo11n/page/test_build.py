"""build_demo.py, .ci/page.py and serve_demo.py: what they write, send and refuse."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from types import SimpleNamespace
from urllib.error import HTTPError
from urllib.request import urlopen

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from tools import build_demo, compare_runtimes, serve_demo
from tools.build_demo import (
    DEMO,
    FLOATS,
    PAGE,
    SINGLE_FILE,
    WEBGPU,
    BuildError,
    assets_of,
    build,
    main,
    runtime_problem,
    single_file,
    source_hash,
)
from tools.serve_demo import HEADERS, Server
from training import finishing
from training.run_folder import TrainingError

from tests.examples.yolo11n.page.browsers import require_chromium, serve
from tests.examples.yolo11n.page.detectors import colour_detector_onnx

SCRIPTS = [f"demo_assets/{name}.js" for name in ("page", "runtime", "model", "teach")]
STYLE = "demo_assets/page.css"


@pytest.fixture(scope="module")
def installed():
    """Require what npm fetches."""
    if problem := runtime_problem():
        pytest.skip(problem)


@pytest.fixture
def quick(installed, tmp_path, monkeypatch):
    """Write a model, and build without the runtime's ten megabytes and the drawn samples."""
    script = build_demo.asset_script({"wasm": b"small"})
    monkeypatch.setattr(build_demo, "runtime_script", lambda _: script)
    monkeypatch.setattr(build_demo, "chosen_assets", lambda *_: {"samples": b"[]"})
    colour_detector_onnx(tmp_path / "small.onnx", 64)
    return tmp_path / "small.onnx"


class Parts(HTMLParser):
    """Scripts, styles, policy and addresses of a page, as a browser sees them."""

    def __init__(self, text):
        super().__init__()
        self.script, self.style, self.policy, self.loaded = [], [], {}, []
        self.inside = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.loaded += [v for k, v in attributes if k in ("src", "href", "srcset", "poster")]
        assert not any(k.startswith("on") or k == "style" for k in given)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = {d.split()[0]: d.split()[1:] for d in given["content"].split(";")}
        self.inside = getattr(self, tag) if tag in ("script", "style") else None
        if self.inside is not None:
            self.inside.append("")

    def handle_data(self, data):
        if self.inside is not None:
            self.inside[-1] += data

    def handle_endtag(self, tag):
        self.inside = None


# ------------------------------------------------------------------------------ what is written


@pytest.mark.slow
def test_the_page_and_the_single_file(installed, tmp_path):
    """Of the size that is promised; all in one, under a policy that allows nothing else."""
    model = tmp_path / "small.onnx"
    colour_detector_onnx(model, 64, conf="0.3", trained_on="drawn pictures")
    first, _ = (build(model, output=tmp_path / name) for name in ("one", "two"))
    assert [*first["files"]] == [*SCRIPTS, WEBGPU, STYLE, PAGE, SINGLE_FILE]
    for name, size in first["files"].items():
        data = (tmp_path / "one" / name).read_bytes()
        assert len(data) == size
        assert data == (tmp_path / "two" / name).read_bytes()
    # With a YOLO11n in 8-bit integers, of 3.6 MB more, less than 9 MB.
    assert len(first["single_file"].read_bytes()) < 5_300_000

    text = first["single_file"].read_text(encoding="utf-8")
    parts = Parts(text)
    assert all(address.startswith("data:") for address in parts.loaded)
    for kind in ("script", "style"):
        hashes = [source_hash(part) for part in getattr(parts, kind)]
        others = {"'wasm-unsafe-eval'", "blob:"} if kind == "script" else set()
        assert {*parts.policy.pop(f"{kind}-src")} == {*hashes, *others}
    assert parts.policy.pop("worker-src") == ["'self'", "blob:"]  # "self": the service worker
    allowed = {"'none'", "data:", "blob:", "mediastream:"}
    assert {source for sources in parts.policy.values() for source in sources} <= allowed
    assert parts.policy["default-src"] == ["'none'"]
    for name, script in zip(SCRIPTS, parts.script, strict=True):
        assert script == (tmp_path / "one" / name).read_text(encoding="utf-8")
    assert "Permission is hereby granted" in parts.script[1]

    assets = assets_of(parts.script[2])
    assert assets["model"] == model.read_bytes()
    assert json.loads(assets["model-info"]) == {
        "file": "small.onnx",
        "export": hashlib.sha256(model.read_bytes()).hexdigest(),
        "sha256": hashlib.sha256(model.read_bytes()).hexdigest(),
        "bytes": model.stat().st_size,
        "weights": "float32",
        "facts": {
            "names": ["green thing", "orange thing"],
            "confidence": 0.3,
            "thresholds": {},
            "iou": 0.45,
            "size": 64,
            "trainedOn": "drawn pictures",
            "licence": "",
            "scores": None,
        },
    }


def test_the_sources_name_no_other_place():
    files = [build_demo.DEMO / PAGE, *build_demo.DEMO.glob("page/src/*/*")]
    assert len(files) > 10
    for file in files:
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|wss?://|[\"'(=]\s*//[\w.]", text), file


def test_the_single_file_names_its_version():
    """By all that is in it, for a page that is open to be compared with the server's."""
    html = '<html data-version=""><script src="a.js"></script>'
    versions = [single_file(html, {"a.js": text}) for text in ("1", "1", "2")]
    found = [re.search('data-version="([0-9a-f]{16})"', version)[1] for version in versions]
    assert found[0] == found[1] != found[2]
    assert (DEMO / PAGE).read_text(encoding="utf-8").count('data-version=""') == 1


def test_the_picture_of_the_page_has_all_messages_between_its_threads():
    files = [*DEMO.glob("page/src/*/*.js"), DEMO / "page/sw.js"]
    sources = "".join(file.read_text(encoding="utf-8") for file in files)
    picture = (DEMO.parents[2] / "docs/images/page.svg").read_text(encoding="utf-8")
    shown = ", ".join(re.findall('class="message"[^>]*>(.*?)<', picture))
    assert {*re.findall(r"[\w-]+", shown)} == {*re.findall('type: "([a-z-]+)"', sources)}


SCORES = {"on": "x", "per_class": {"green thing": {"map50": 0.5, "map50_95": None}}}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("much", "no JSON"),
        ("[1]", "no JSON of an object"),
        ('{"licence": "MIT"}', "a wrong licence"),
        ('{"average_precision": {"on": "x"}}', "a wrong average"),
    ],
)
def test_a_card_of_another_form_is_refused(tmp_path, text, named):
    (tmp_path / "card.json").write_text(text)
    with pytest.raises(BuildError, match=rf"the card .*card\.json (is|has) {named}"):
        build_demo.read_card(tmp_path / "card.json")


@pytest.mark.slow
def test_the_repositorys_page_keeps_what_its_card_says(quick, page_command, tmp_path, monkeypatch):
    """``.ci/page.py``, in a copy: what is built again says the same, until the card changes."""
    for file in (PAGE, build_demo.STYLE, page_command.README):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        shutil.copy(DEMO / file, tmp_path / file)
    monkeypatch.setattr(page_command, "DEMO", tmp_path)
    colour_detector_onnx(quick, 64, license="CC0-1.0")
    facts = {"trained_on": "ten photographs", "average_precision": SCORES}
    (tmp_path / "CARD.json").write_text(json.dumps(facts))
    assert page_command.main([str(quick), "--facts", str(tmp_path / "CARD.json")]) == 0
    assert json.loads((tmp_path / "demo_assets/card.json").read_text()) == facts
    assets = assets_of((tmp_path / "demo_assets/model.js").read_text())
    said = json.loads(assets["model-info"])["facts"]
    assert (said["trainedOn"], said["licence"]) == ("ten photographs", "CC0-1.0")
    assert said["scores"] == {"on": "x", "perClass": SCORES["per_class"]}
    assert page_command.main(["--check"]) == 0
    (tmp_path / "demo_assets/card.json").write_text("{}")
    assert page_command.main(["--check"]) == 1


def test_a_threshold_that_is_none_is_refused(tmp_path):
    """As the page refuses the same file."""
    colour_detector_onnx(tmp_path / "a.onnx", 64, conf="nan")
    with pytest.raises(BuildError, match="conf is given as 'nan', not as a number from 0 to 1"):
        build_demo.load_detector(tmp_path / "a.onnx")


def test_the_scores_of_another_model_are_refused(tmp_path):
    colour_detector_onnx(tmp_path / "a.onnx", 64, names=("red thing", "orange thing"))
    card = {"average_precision": json.dumps(SCORES)}
    with pytest.raises(BuildError, match="is of another model: it has no green thing"):
        build_demo.load_detector(tmp_path / "a.onnx", card)


@pytest.mark.parametrize("text", ["'</Script'", "a <!--b"])
def test_what_would_end_a_script_early_is_refused(text):
    with pytest.raises(BuildError, match=r"a\.js holds what would end its element"):
        single_file('<script src="a.js"></script>', {"a.js": text})


def test_a_larger_export_shares_the_weights(quick, tmp_path, capsys):
    far = tmp_path / "far.onnx"
    colour_detector_onnx(far, 96)
    given = [str(quick), "--int8", str(quick), "--output", str(tmp_path), "--far"]
    assert main([*given, str(far)]) == 0
    assets = assets_of((tmp_path / "demo_assets/model.js").read_text())
    patch = onnx.GraphProto.FromString(assets["model-far"])
    assert patch.input[0].type.tensor_type.shape.dim[2].dim_value == 96
    floats = assets_of((tmp_path / FLOATS).read_text())["model-webgpu"]
    for part in (assets["model"], assets["model-graph"], floats):
        names = {array.name for array in onnx.load_from_string(part).graph.initializer}
        assert names >= {array.name for array in patch.initializer}
    assert main([*given, str(quick)]) == 1
    assert "takes 64 pixels; for far things, export more than the 64 of" in capsys.readouterr().err
    proto = onnx.load(far)
    weight = next(array for array in proto.graph.initializer if not array.dims)
    weight.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weight) * 2, weight.name))
    onnx.save(proto, far)
    assert main([*given, str(far)]) == 1
    assert f"far.onnx is no larger export of {quick}: the weights" in capsys.readouterr().err


def test_an_8_bit_model_leaves_floats_to_webgpu(quick, tmp_path):
    int8 = tmp_path / "int8.onnx"
    colour_detector_onnx(int8, 64, conf="0.3")
    report = build(quick, output=tmp_path, int8=int8, webgpu=True)
    assets = assets_of((tmp_path / "demo_assets/model.js").read_text())
    info = json.loads(assets["model-info"])
    assert (info["weights"], info["facts"]["confidence"]) == ("int8", 0.3)
    assert assets["model"] == int8.read_bytes()
    floats = assets_of((tmp_path / FLOATS).read_text())
    second = json.loads(floats["model-webgpu-info"])
    assert second["weights"] == "float16"
    assert second["export"] == info["export"] == build_demo.hash_of(quick)
    assert second["bytes"] == len(floats["model-webgpu"]) < 0.7 * quick.stat().st_size
    for script in (WEBGPU, FLOATS):
        assert (tmp_path / script).read_text() in report["single_file"].read_text()


@pytest.mark.slow
@pytest.mark.parametrize("webgpu", [False, True])
def test_a_later_build_leaves_nothing_of_an_earlier_model(quick, tmp_path, webgpu):
    """Eight bits of one model, then another model as it is: it alone is in the files."""
    other, int8 = tmp_path / "other.onnx", tmp_path / "int8.onnx"
    colour_detector_onnx(other, 64, ("a", "b"))
    colour_detector_onnx(int8, 64, ("a", "b"), conf="0.3")
    sizes = [build(other, tmp_path / "page", int8)["files"] for _ in range(2)]
    assert sizes[0] == sizes[1]
    report = build(quick, tmp_path / "page", webgpu=webgpu)
    single = report["single_file"].read_text()
    files = [single, *(p.read_text() for p in (tmp_path / "page").rglob("*.js"))]
    infos = [v for f in files for k, v in assets_of(f).items() if k.endswith("-info")]
    models = [json.loads(info) for info in infos if b'"export"' in info]
    assert {model["export"] for model in models} == {build_demo.hash_of(quick)}
    built = {str(p.relative_to(tmp_path / "page")) for p in (tmp_path / "page").rglob("*.*")}
    assert built == {*report["files"]}
    assert single.count('demoAssets.add("wasm"') == 1 + webgpu


def test_forms_of_another_model_are_refused(quick, tmp_path):
    other = tmp_path / "other.onnx"
    for size, names in ((128, ("green thing", "orange thing")), (64, ("a", "b"))):
        colour_detector_onnx(other, size, names)
        with pytest.raises(BuildError, match=r"other\.onnx is no form of .*small\.onnx"):
            build(quick, tmp_path / "page", int8=other)


# ------------------------------------------------------------------------------ what is left alone


def git(*arguments):
    """Ask git about this clone: (its exit code, what it says)."""
    command = ["git", "-C", str(DEMO), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout


def clone():
    """Return the state of this clone: of its files, and of changes of committed ones."""
    return git("status", "--porcelain"), git("diff", "HEAD", "--stat"), git("diff", "HEAD")


def test_a_build_and_the_end_of_a_training_change_no_committed_file(quick, tmp_path, capsys):
    """Whatever was built before; pages of models in the clone's `runs` are no news to git."""
    if git("rev-parse", "HEAD")[0]:
        pytest.skip("this is no clone that git knows: nothing is committed here")
    before = clone()
    report = build(quick)
    finishing.build_page(quick, tmp_path / "run" / "page")
    assert f"page: {tmp_path / 'run' / 'page' / PAGE}" in capsys.readouterr().out
    assert clone() == before
    for name in report["files"]:
        path = str(DEMO.parents[2] / "runs/yolo11n/page" / name)
        assert git("check-ignore", path)[0] == 0, path
    for folder in (DEMO, DEMO / "page"):
        with pytest.raises(BuildError, match=r"holds files of the repository: .*--output"):
            build(quick, folder)
    with pytest.raises(BuildError, match=r"absent\.onnx does not exist"):
        build(DEMO / "absent.onnx")


def test_command_line(quick, tmp_path, capsys):
    output = tmp_path / "by command"
    assert main([str(quick), "--output", str(output)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines[:8]] == [
        f"wrote {name}" for name in (*SCRIPTS, WEBGPU, STYLE, PAGE, SINGLE_FILE)
    ]
    assert lines[8] == f"page: {output / PAGE}"
    assert lines[9] == f"in a single file: {output / SINGLE_FILE}"
    assert "serve_demo --page FILE" in lines[10]
    assert main([str(quick)]) == 0
    assert f"page: {tmp_path / 'page' / PAGE}" in capsys.readouterr().out


# ------------------------------------------------------------------------------ refusals


def two_at_a_time(model):
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 2


def not_finite(model):
    for constant in model.graph.initializer:
        values = numpy_helper.to_array(constant)
        if values.dtype == np.float32:
            constant.CopyFrom(numpy_helper.from_array(values * np.float32("nan"), constant.name))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (two_at_a_time, "doesn't take one picture"),
        (not_finite, "numbers that aren't finite"),
    ],
)
def test_models_that_are_no_detector(quick, tmp_path, change, message):
    model = onnx.load(quick)
    change(model)
    onnx.save(model, quick)
    with pytest.raises(BuildError, match=re.escape(message)):
        build(quick, output=tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_a_file_that_is_no_model(quick):
    quick.write_bytes(b"not a model")
    with pytest.raises(BuildError, match=r"small\.onnx: not an ONNX model"):
        build(quick)


def test_weights_in_another_file(quick):
    model = onnx.load(quick)
    onnx.save(model, quick, save_as_external_data=True, location="w", size_threshold=1024)
    with pytest.raises(BuildError, match="keeps weights in another file; export it as one file"):
        build(quick)


def test_what_npm_has_not_installed(quick, tmp_path, monkeypatch):
    monkeypatch.setattr(build_demo, "NODE_MODULES", tmp_path)
    fix = f"run 'bash setup.sh', or 'npm ci --omit=dev' in {build_demo.DEMO}"
    assert runtime_problem().endswith(f"is missing from {tmp_path}: {fix}")
    for name in ("esbuild", "onnxruntime-web", "zstddec"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "package.json").write_text('{"version": "0.1.0"}')
    assert "is version 0.1.0, and " in runtime_problem()
    with pytest.raises(BuildError, match="is version"):
        build(quick)


def test_a_full_disk_leaves_the_old_files(quick, tmp_path, monkeypatch):
    build(quick, output=tmp_path / "site")
    before = {p: p.read_bytes() for p in (tmp_path / "site").rglob("*") if p.is_file()}

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space"):
        build(quick, output=tmp_path / "site", webgpu=True)
    assert {p: p.read_bytes() for p in (tmp_path / "site").rglob("*") if p.is_file()} == before


# ------------------------------------------------------------------------------ the server


@pytest.mark.slow
def test_the_server_sends_the_page_alone_with_its_headers(tmp_path):
    (tmp_path / "page.html").write_text("<!doctype html>")
    (tmp_path / "secret.txt").write_text("secret")
    with serve(tmp_path / "page.html") as (_, address):
        with urlopen(f"{address}?threads=2") as answer:
            assert answer.read() == b"<!doctype html>"
            assert HEADERS.items() <= dict(answer.headers).items()
        with urlopen(f"{address}sw.js") as answer:
            assert answer.headers["Content-Type"].startswith("text/javascript")
        for target in ("secret.txt", "page.html", "..", "%2e%2e/secret.txt"):
            with pytest.raises(HTTPError, match="404") as error:
                urlopen(address + target)
            error.value.close()


def test_the_server_names_what_is_missing(tmp_path, capsys):
    with pytest.raises(SystemExit):
        serve_demo.main(["--page", str(tmp_path / "absent.html")])
    assert "python -m tools.build_demo MODEL.onnx makes it" in capsys.readouterr().err
    (tmp_path / "page.html").write_text("")
    server = Server(tmp_path / "page.html")
    port = str(server.server_address[1])
    assert serve_demo.main(["--page", str(tmp_path / "page.html"), "--port", port]) == 1
    assert f"port {port}: Address already in use; give another --port" in capsys.readouterr().err
    server.server_close()


# ------------------------------------------------------------------------------ the comparison


def test_differences_are_those_of_the_nearest_pairs():
    first = np.float32([[0, 0, 10, 20, 0.9, 0], [50, 50, 90, 90, 0.5, 1], [0, 0, 10, 20, 0.3, 0]])
    second = np.float32([[50, 50.25, 90, 89, 0.5, 1], [0, 0, 10, 20, 0.3, 0]])
    box, score, lonely = compare_runtimes.differences(first, second[::-1])
    assert (box, score) == (1, pytest.approx(0.6, abs=1e-6))
    assert [row[4] for row in lonely] == [pytest.approx(0.3)]
    assert compare_runtimes.differences(first, first[[2, 0, 1]]) == (0, 0, [])
    other = first[:1] + np.float32([0, 0, 0, 0, 0, 1])
    assert len(compare_runtimes.differences(first[:1], other)[2]) == 2


@pytest.mark.browser
def test_the_command_finds_that_page_and_python_agree(installed, models, capsys):
    require_chromium()
    assert compare_runtimes.main([str(models.colour), "--confidence", "0.05"]) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[-1] == "the page and Python agree"
    assert said.count(" detections") == 6 + len(compare_runtimes.SHAPES)


def test_a_chromium_is_named_by_the_variable(monkeypatch):
    monkeypatch.setattr(compare_runtimes.web, "find_spec", lambda name: True)
    monkeypatch.setenv("CHROMIUM", sys.executable)
    assert compare_runtimes.find_chromium() == sys.executable
    monkeypatch.setenv("CHROMIUM", "no-such-program")
    with pytest.raises(compare_runtimes.BrowserError, match="apt-get install chromium"):
        compare_runtimes.find_chromium()


# ------------------------------------------------------------------------------ after a training


def test_a_training_says_first_that_it_will_build_no_page(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(finishing, "runtime_problem", lambda: "esbuild is missing")
    options = SimpleNamespace(
        weights=None, no_export=False, export_onnx=tmp_path / "m.onnx", build_page=True, log=[]
    )
    finishing.check_first(options)
    said = capsys.readouterr().out
    assert "no browser page will be built at the end: esbuild is missing; later, " in said
    assert f"tools.build_demo {options.export_onnx} " in said
    assert not finishing.builds_page(options)


def test_a_page_that_fails_late_fails_the_training_and_names_the_model(quick, tmp_path):
    quick.write_bytes(b"")
    with pytest.raises(TrainingError, match=r"could not be built: .*; the model is .*\.onnx"):
        finishing.build_page(quick, tmp_path)
