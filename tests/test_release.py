"""What is written twice for a release agrees, and workflows call what a person calls, pinned."""

import base64
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
import zstandard
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager

import pytensor_vision
from tests.utils import ci_program

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
REPOSITORY = PROJECT["urls"]["Repository"]
PAGE = "examples/onnx/onnx-yolo-demo"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))

if not WORKFLOWS:
    pytest.skip("needs the repository, not the sources' archive", allow_module_level=True)


def text(name):
    return (ROOT / name).read_text()


def without_spaces(requirements):
    return {re.sub(r"\s", "", requirement) for requirement in requirements}


def test_version_licence_and_authors_are_written_alike():
    changes = text("CHANGELOG.md")
    versions = re.findall(r"^## \[(.*?)\] - (?:unreleased|\d{4}-\d\d-\d\d)$", changes, re.M)
    assert versions[0] == pytensor_vision.__version__ == PROJECT["version"]
    assert sorted(versions, reverse=True) == versions
    citation = yaml.safe_load(text("CITATION.cff"))
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert citation["abstract"] == PROJECT["description"]
    assert citation["repository-code"] == REPOSITORY
    assert citation["authors"] == PROJECT["authors"]
    dated = re.search(r"^## \[.*?\] - (.*)$", changes, re.M)[1]
    assert dated in ("unreleased", str(citation["date-released"]))
    (author,) = PROJECT["authors"]
    assert re.search(r"^Copyright \(c\) \d{4}, (.*)$", text("LICENSE"), re.M)[1] == author["name"]


@pytest.fixture
def release():
    return ci_program("release.py")


OWNED = PROJECT | {"urls": {"Repository": "https://github.com/somebody/it"}}


@pytest.fixture
def recipe(release, monkeypatch, tmp_path):
    monkeypatch.setattr(release, "PROJECT", OWNED)
    archive = tmp_path / "v.tar.gz"
    archive.write_bytes(b"abc")
    source = release.recipe(archive)
    version = re.search(r'{% set version = "(.*?)" %}', source)[1]
    source = re.sub("{%.*%}", "", source).replace("{{ version }}", version)
    return yaml.safe_load(source.replace("{{ PYTHON }}", "python"))


def test_recipe_is_that_of_the_project(recipe):
    found, repository = recipe, OWNED["urls"]["Repository"]
    assert found["package"] == {"name": PROJECT["name"], "version": PROJECT["version"]}
    assert found["source"] == {
        "url": f"{repository}/archive/refs/tags/v{PROJECT['version']}.tar.gz",
        "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    }
    assert found["extra"] == {"recipe-maintainers": ["somebody"]}
    python = f"python{PROJECT['requires-python']}"
    needs = found["requirements"]
    dependencies = without_spaces([python, *PROJECT["dependencies"]])
    assert {",".join(sorted(n.split(","))) for n in without_spaces(needs["run"])} == {
        ",".join(sorted(n.split(","))) for n in dependencies
    }
    build = tomllib.loads(text("pyproject.toml"))["build-system"]["requires"]
    assert without_spaces(build) < without_spaces(needs["host"])
    extras = PROJECT["optional-dependencies"]
    optional = without_spaces(extras["jax"] + extras["onnx"])
    assert without_spaces(needs["run_constrained"]) == optional
    about = found["about"]
    assert (about["home"], about["summary"]) == (repository, PROJECT["description"])
    assert (about["license"], [about["license_file"]]) == (
        PROJECT["license"],
        PROJECT["license-files"],
    )


@pytest.mark.slow
def test_the_recipe_tries_what_there_is(recipe):
    tests = recipe["test"]
    for module in tests["imports"]:
        assert (ROOT / module.replace(".", "/")).is_dir(), module
    for command in tests["commands"]:
        if code := re.fullmatch('python -c "(.*)"', command):
            subprocess.run([sys.executable, "-c", code[1]], check=True)
        else:
            assert command == "pip check"


def test_the_repository_is_named_once():
    """Other files get its address from pyproject.toml; a citation is read without a program."""
    owner = REPOSITORY.split("/")[-2]
    files = subprocess.run(
        ["git", "grep", "-lwE", f"OWNER|github.com/{owner}"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert set(files) - {"CONTRIBUTING.md", "tests/test_release.py", ".ci/release.py"} == {
        "CITATION.cff",
        "pyproject.toml",
    }


@pytest.mark.parametrize("page", ["docs/pymc_deploy.md", "docs/tutorials/detector.md"])
def test_notebooks_clone_the_repository(page):
    assert "\n!git clone REPOSITORY pytensor-vision\n" in text(page)
    assert text(page).count("REPOSITORY") == 1


def test_every_notebook_is_run():
    """By the site's build, or, where its first lines say that it isn't, by .ci/notebooks."""
    notebooks = [
        page for page in ROOT.glob("docs/**/*.md") if "file_format: mystnb" in page.read_text()
    ]
    unrun = {
        str(page.relative_to(ROOT))
        for page in notebooks
        if 'execution_mode: "off"' in page.read_text()
    }
    assert set(re.findall(r'"(docs/.*?\.md)"', text(".ci/notebooks"))) == unrun
    assert ".ci/notebooks" in text(".github/workflows/weekly.yml")


def test_the_readme_of_an_index_names_files_by_address():
    metadata = ProjectMetadata(str(ROOT), PluginManager())
    page, link = metadata.core.readme, r"\[[^\]]*\]\((.*?)\)"
    assert metadata.core.readme_content_type == "text/markdown"
    places = {"": "blob", "!": "raw"}
    paths = re.findall(rf"(!?){link}", text("README.md"))
    assert {"![", "["} == {f"{picture}[" for picture, _ in paths}
    assert [target for _, target in re.findall(rf"(!?){link}", page)] == [
        path
        if path.startswith("https:")
        else f"{REPOSITORY}/{places[picture]}/v{PROJECT['version']}/{path}"
        for picture, path in paths
    ]
    assert re.sub(link, "", page) == re.sub(link, "", text("README.md"))


TARGETS = set(re.findall(r"^([a-z]+):", text("Makefile"), re.M))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflow(path):
    jobs = yaml.safe_load(path.read_text())["jobs"].values()
    steps = [step for job in jobs for step in job["steps"]]
    for uses in (step["uses"] for step in steps if "uses" in step):
        assert re.search(rf"uses: {uses} # v\d", path.read_text()), f"{uses}: which version?"
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", uses)
    for line in (step["run"] for step in steps if "run" in step):
        called = re.fullmatch(
            r"make (\w+)|(?:bash|\.venv/bin/python) (\S+)(?: --?[^|&;\n]*)?", line
        )
        assert called, f"{line!r} is for a script to do"
        assert called[1] in TARGETS if called[1] else (ROOT / called[2]).is_file(), line
    assert all("timeout-minutes" in job for job in jobs)


def test_what_is_published_is_what_the_script_builds():
    path = re.search(r"path: (build/\S+)", text(".github/workflows/docs.yml"))[1]
    assert f"{path}/index.html" in text(".ci/docs")


@pytest.mark.parametrize("name", ["Makefile", ".pre-commit-config.yaml"])
def test_scripts_of_make_and_of_pre_commit_exist(name):
    called = re.findall(r"(?<![\w/])(\.ci/[\w.]+)", text(name))
    assert called
    for module in re.findall(r"-m (benchmarks\.[\w.]+)", text(name)):
        called.append(f"{module.replace('.', '/')}.py")
    for script in called:
        assert (ROOT / script).is_file(), script


def test_every_package_of_the_page_has_a_sum():
    lock = json.loads(text(f"{PAGE}/package-lock.json"))
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert len(packages) > 10
    assert [
        n for n, entry in packages.items() if not entry["integrity"].startswith("sha512-")
    ] == []


def test_the_page_holds_the_licences_of_all_that_is_bundled(monkeypatch, tmp_path):
    from tools import build_demo

    if problem := build_demo.runtime_problem():
        pytest.skip(problem)
    inputs = set()
    for entry in ("worker/worker.js", "page/main.js", "teach/panel.js", "teach/teaching.js"):
        facts = tmp_path / "facts.json"
        arguments = [f"page/src/{entry}", "--bundle", f"--metafile={facts}", "--outfile=/dev/null"]
        arguments += ["--conditions=onnxruntime-web-use-extern-wasm", "--log-level=error"]
        subprocess.run([build_demo.find_esbuild(), *arguments], cwd=build_demo.DEMO, check=True)
        inputs |= set(json.loads(facts.read_text())["inputs"])
    bundled = {re.search("node_modules/([^/]*)/", name)[1] for name in inputs if "node_mod" in name}
    assert bundled == {"onnxruntime-web", "zstddec"}, "tools.build_demo.page_script names licences"
    monkeypatch.setattr(build_demo, "bundle", lambda _: "")
    name, packed = re.search(r'add\("(.*?)", "(.*?)"\)', build_demo.page_script()).groups()
    assert name == "licences"
    licences = zstandard.decompress(base64.b64decode(packed)).decode()
    for path in ("LICENSE", f"{PAGE}/page/LICENSE.onnxruntime-web"):
        assert text(path).strip() in licences
    assert all(part in licences for part in ("Don McCurdy", "protocolbuffers/protobuf", "Eigen"))


def test_what_must_not_be_published(release, monkeypatch):
    with pytest.raises(SystemExit, match=f"v0.0.1, and the version {PROJECT['version']}"):
        release.check_tag("v0.0.1")
    owned = {"urls": {"Repository": "https://github.com/somebody/it"}, "version": "1.2"}
    monkeypatch.setattr(release, "PROJECT", owned)
    release.check_tag("v1.2")
    owned["urls"]["Changelog"] = "https://github.com/OWNER/pytensor-vision/CHANGELOG.md"
    with pytest.raises(SystemExit, match="name no owner"):
        release.check_tag("v1.2")


def test_wheels_have_the_kernels_that_are_looked_for(release):
    from pytensor.link.jax.kernels import cpu_kernels

    made = [level for levels in release.LEVELS.values() for level in levels]
    assert sorted(made) == sorted(cpu_kernels.LEVELS)
    assert release.SOURCE == cpu_kernels.SOURCE


def test_kernels_are_compiled_for_the_lowest_jax():
    """Newer ones take them; what was made for a newer one, an older one refuses."""
    lowest = re.search(r"jax>=([\d.]+)", PROJECT["optional-dependencies"]["jax"][0])[1]
    (locked,) = re.findall(r"^jaxlib==([\d.]+)", text("requirements/kernels.txt"), re.M)
    assert locked.removesuffix(".0") == lowest.removesuffix(".0")


def test_what_uninstalling_leaves_is_seen(release):
    """This environment has the package: its files beside PyTensor's are named."""
    assert "pytensor_vision.pth" in release.run(sys.executable, "-c", release.LOOK)


def test_an_older_python_builds_a_wheel_so_that_pip_says_which_it_wants(monkeypatch, tmp_path):
    stubs = ci_program("stubs.py")
    monkeypatch.setattr(sys, "version_info", (3, 11, 2))
    build_data = {"force_include": {}}
    hook = stubs.StubsHook(str(tmp_path), {}, None, None, str(tmp_path), "wheel")
    hook.initialize("standard", build_data)
    assert build_data == {"force_include": {}}


def test_builds_at_the_same_time_do_not_share_stubs():
    stubs = ci_program("stubs.py")
    first, second = (stubs.StubsHook(str(ROOT), {}, None, None, "", "wheel") for _ in range(2))
    included = [{"force_include": {}} for _ in range(2)]
    for hook, build_data in zip((first, second), included, strict=True):
        hook.initialize("standard", build_data)
    first.finalize("standard", included[0], "")
    (left,) = included[1]["force_include"]
    assert (Path(left) / "py.typed").exists()
    second.finalize("standard", included[1], "")
    assert not Path(left).exists()


def test_an_older_python_ends_in_one_line(monkeypatch):
    pytest.importorskip("hatchling")
    hook = ci_program("readme.py").ReadmeHook(str(ROOT), {})
    metadata = tomllib.loads(text("pyproject.toml"))["project"]
    monkeypatch.setattr("platform.python_version", lambda: "3.11.7")
    with pytest.raises(SystemExit, match=r"needs Python >=3.12,<3.15; this is Python 3.11.7$"):
        hook.update(metadata)
