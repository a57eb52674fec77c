"""The distribution as pip installs it, in environments made for the purpose.

An environment holds a copy of upstream's PyTensor, file by file as its RECORD lists them, and links
to the running environment's other packages. Nothing is downloaded, and nothing outside the
temporary directory is written.
"""

import base64
import hashlib
import importlib.metadata as metadata
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
import zipfile
from pathlib import Path

import pytest
from _pytensor_graft import REQUIRED
from packaging.specifiers import SpecifierSet

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
GRAFT = ROOT / "pytensor" / "_graft.py"

if not (ROOT / "pyproject.toml").exists():
    pytest.skip("needs the project's sources", allow_module_level=True)


def run(*command, cwd=None, **environment):
    """Run a command in a clean environment and return what it prints."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "PYTENSOR", "PIP_"))
    }
    result = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=kept | {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


class Environment:
    """A virtual environment with upstream's PyTensor and without ours."""

    def __init__(self, directory):
        run(sys.executable, "-m", "venv", "--without-pip", directory)
        self.directory = directory
        self.interpreter = directory / "bin" / "python"
        self.site = Path(
            run(
                self.interpreter, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"
            ).strip()
        )
        upstream = metadata.distribution("pytensor")
        ours = metadata.distribution("pytensor-vision")
        tops = {file.parts[0] for file in [*upstream.files, *ours.files]}
        running_site = Path(upstream.locate_file(""))
        for entry in running_site.iterdir():
            if entry.name not in tops | {"__pycache__"} and entry.suffix != ".pth":
                (self.site / entry.name).symlink_to(entry)
        self.upstream_files = {}
        for file in upstream.files:
            source = Path(upstream.locate_file(file))
            if file.parts[0] == ".." or not source.exists() or source.suffix == ".pyc":
                continue
            target = self.site / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
            if file.hash is not None:
                self.upstream_files[str(file)] = file.hash.value

    def pip(self, *arguments):
        return run(sys.executable, "-m", "pip", "--python", self.interpreter, *arguments)

    def python(self, code, *options, cwd=None, **environment):
        """Run `code` away from the repository, and return what it prints."""
        cwd = self.directory if cwd is None else cwd
        code = textwrap.dedent(code)
        return run(self.interpreter, *options, "-c", code, cwd=cwd, **environment)

    def changed_upstream_files(self):
        changed = []
        for file, expected in self.upstream_files.items():
            path = self.site / file
            digest = hashlib.sha256(path.read_bytes()).digest() if path.exists() else b""
            if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != expected:
                changed.append(file)
        return changed

    def uninstall(self):
        self.pip("uninstall", "--yes", "pytensor-vision")


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode:
        pytest.skip("the running environment has no pip")
    return Environment(tmp_path_factory.mktemp("graft") / "venv")


@pytest.fixture(scope="module")
def wheel(environment, tmp_path_factory):
    directory = tmp_path_factory.mktemp("wheel")
    run(
        *(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"),
        *("--wheel-dir", directory, ROOT),
    )
    (path,) = directory.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def with_wheel(environment, wheel, tmp_path_factory):
    environment = Environment(tmp_path_factory.mktemp("wheel") / "venv")
    environment.pip("install", "--no-deps", wheel)
    return environment


@pytest.fixture
def with_editable(environment):
    environment.pip("install", "--no-deps", "--no-build-isolation", "--editable", ROOT)
    yield environment
    environment.uninstall()


LOOK_AROUND = """
import sys
before = set(sys.modules)
import pytensor
loaded = {"jax", "onnx", "onnxruntime"} & set(sys.modules)
import json
import pytensor.optimizers
import pytensor.tensor as pt
import pytensor.tensor.__extend__ as extension
import _pytensor_graft
print(json.dumps({
    "graft": _pytensor_graft.__file__,
    "loaded": sorted(loaded),
    "optimizers": pytensor.optimizers.__file__,
    "pytensor": pytensor.__file__,
    "version": pytensor.__version__,
    "missing": [n for n in extension.__all__ if getattr(pt, n) is not getattr(extension, n)],
    "early": sorted({"importlib.metadata", "pkgutil", "importlib.abc", "re"} & before),
}))
"""


def look_around(environment, **variables):
    return json.loads(environment.python(LOOK_AROUND, **variables))


def check_graft(environment, found, home):
    """Check that upstream's package has our modules from the directory `home` in it."""
    assert found["pytensor"] == str(environment.site / "pytensor" / "__init__.py")
    assert found["version"] == metadata.version("pytensor")
    assert found["optimizers"] == str(home / "pytensor" / "optimizers" / "__init__.py")
    assert found["loaded"] == []
    assert found["missing"] == []


def test_wheel(with_wheel):
    found = look_around(with_wheel)
    check_graft(with_wheel, found, with_wheel.site)
    assert found["early"] == []
    assert (with_wheel.site / "_pytensor_graft.py").read_bytes() == GRAFT.read_bytes()
    assert with_wheel.changed_upstream_files() == []


def test_editable(with_editable):
    check_graft(with_editable, look_around(with_editable), ROOT)
    assert (with_editable.site / "_pytensor_graft.py").read_bytes() == GRAFT.read_bytes()
    assert not (with_editable.site / "pytensor" / "optimizers").exists()
    assert with_editable.changed_upstream_files() == []


def test_running_installation_has_the_present_graft():
    # An editable installation copies the file too: after a change, run setup.sh again.
    import _pytensor_graft

    assert Path(_pytensor_graft.__file__).read_bytes() == GRAFT.read_bytes()


def test_uninstall_leaves_upstream_whole(environment, wheel):
    def files():
        return {
            path.relative_to(environment.site)
            for path in environment.site.rglob("*")
            if "__pycache__" not in path.parts and not path.is_symlink()
        }

    before = files()
    environment.pip("install", "--no-deps", wheel)
    assert files() > before
    environment.uninstall()
    assert files() == before
    assert environment.changed_upstream_files() == []
    assert environment.upstream_files
    output = environment.python(
        """
        import sys, pytensor, pytensor.tensor as pt
        print("_pytensor_graft" in sys.modules, hasattr(pt, "conv2d"), hasattr(pt, "dot"))
        """
    )
    assert output.split() == ["False", "False", "True"]


def test_contents_of_the_wheel(environment, wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        text = archive.read(next(n for n in names if n.endswith("METADATA"))).decode()
        assert archive.read("_pytensor_graft.py") == GRAFT.read_bytes()
    assert not names & set(environment.upstream_files)
    assert re.search(r"^Name: (.*)$", text, re.MULTILINE)[1] == "pytensor-vision"
    tops = {name.split("/")[0] for name in names if ".dist-info" not in name}
    assert tops == {"pytensor", "_pytensor_graft.py", "_pytensor_graft.pth"}
    others = {n for n in names if "dist-info" not in n and not n.endswith((".py", ".pyi", ".pth"))}
    assert others == {"pytensor/link/jax/tuned/cpu_kernels.cc"}
    # Where upstream has an __init__.py, one of ours would replace it, and uninstalling remove it.
    modules = {p.relative_to(ROOT).as_posix() for p in (ROOT / "pytensor").rglob("*.py")}
    assert modules - {"pytensor/_graft.py"} <= names


def test_sdist_builds_the_same_wheel(wheel, tmp_path):
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", tmp_path, cwd=ROOT)
    (sdist,) = tmp_path.glob("*.tar.gz")
    run(
        *(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"),
        *("--wheel-dir", tmp_path, sdist),
    )
    (rebuilt,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(rebuilt) as ours, zipfile.ZipFile(wheel) as expected:
        assert set(ours.namelist()) == set(expected.namelist())


def test_jax_dispatch_is_extended_when_it_is_loaded(with_wheel):
    output = with_wheel.python(
        """
        import sys, pytensor
        name = "pytensor.link.jax.dispatch"
        print(name + ".__extend__" in sys.modules)
        import pytensor.link.jax.dispatch
        print(name + ".__extend__" in sys.modules)
        """
    )
    assert output.split() == ["False", "True"]


UPSTREAM_WORKS = """
import pytensor, pytensor.tensor as pt
x = pt.vector("x", dtype="float64")
assert pytensor.function([x], pt.exp(x).sum(), mode="FAST_COMPILE")([0, 0]) == 2
"""
# A module of ours that doesn't load, what then asks for it, and what the answer begins with.
ASKED_IN_VAIN = [
    ("tensor/batchnorm.py", "pt.conv2d", "ImportError: pytensor.tensor.conv2d: "),
    ("tensor/batchnorm.py", "from pytensor.tensor import silu", "ImportError: pytensor.tensor.sil"),
    ("tensor/rewriting/batchnorm.py", "pt.conv2d", "ImportError: pytensor.tensor.conv2d: "),
    ("tensor/batchnorm.py", "pt.nnet", "AttributeError: module 'pytensor.tensor' has no attribute"),
    ("tensor/batchnorm.py", "import pytensor.tensor.batchnorm", "ImportError: no inner graphs"),
    (
        "link/jax/dispatch/conv.py",
        "pytensor.function([x], pt.exp(x), mode='JAX')([0]); "
        "image = pt.tensor4(); pytensor.function([image], pt.conv2d(image, image), mode='JAX')",
        "NotImplementedError: No JAX conversion for the given `Op`: Conv",
    ),
    (
        "link/onnx/linker.py",
        "pytensor.function([x], pt.exp(x), mode='ONNX')",
        "ImportError: what pytensor-vision adds to pytensor.compile",
    ),
    (
        "link/onnx/linker.py",
        "pytensor.compile.Mode('onnx').linker.accept",
        "ImportError: what pytensor-vision adds to pytensor.compile",
    ),
    (
        "link/onnx/front/convert.py",
        "pytensor.function([x], pt.exp(x), mode='ONNX')",
        "ImportError: mode='ONNX': what pytensor-vision adds",
    ),
    (
        "link/onnx/front/convert.py",
        "from pytensor.link.onnx import export_onnx",
        "ImportError: pytensor.link.onnx.export_onnx: what pytensor-vision adds",
    ),
]


@pytest.mark.parametrize(
    ("file", "question", "answer"), ASKED_IN_VAIN, ids=[case[1][:50] for case in ASKED_IN_VAIN]
)
def test_what_cannot_be_loaded_says_so_when_it_is_asked_for(with_wheel, file, question, answer):
    path = with_wheel.site / "pytensor" / file
    whole = path.read_text()
    path.write_text("raise ImportError('no inner graphs')")
    try:
        output = with_wheel.python(
            f"""
{UPSTREAM_WORKS}
try:
    {question}
except Exception as error:
    print(f"{{type(error).__name__}}: {{error}}")
import _pytensor_graft
print(*_pytensor_graft.failures.values())
"""
        )
    finally:
        path.write_text(whole)
    first, *_ = output.splitlines()
    assert first.startswith(answer)
    version = metadata.version("pytensor")
    needed = f"It needs {REQUIRED}, and pytensor {version} is installed: pip install '{REQUIRED}'"
    assert needed in output or question.startswith("import")
    assert "ImportError: no inner graphs" in output


def test_a_flag_that_asks_for_what_cannot_be_loaded(with_wheel):
    path = with_wheel.site / "pytensor" / "_configvars.py"
    whole = path.read_text()
    path.write_text("raise ImportError('no inner graphs')")
    try:
        output = with_wheel.python(
            """
            import traceback
            try:
                import pytensor
                pytensor.compile.mode.get_mode()
            except Exception as error:
                traceback.print_exception(error, file=__import__("sys").stdout)
            """,
            PYTENSOR_FLAGS="mode=ONNX",
        )
    finally:
        path.write_text(whole)
    assert "what pytensor-vision adds to pytensor.configdefaults can't be loaded" in output


def test_everything_is_loaded():
    pytest.importorskip("jax")
    code = """
        import pytensor.link.jax.dispatch, pytensor.link.numba.dispatch, _pytensor_graft
        print(_pytensor_graft.failures)
    """
    assert run(sys.executable, "-c", textwrap.dedent(code)).split() == ["{}"]


def test_the_range_of_pytensor_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert REQUIRED in project["dependencies"]
    (tested,) = {
        version
        for file in (ROOT / "requirements").glob("*.txt")
        for version in re.findall(r"^pytensor==([\d.]+)", file.read_text(), re.MULTILINE)
    }
    specifiers = SpecifierSet(REQUIRED.removeprefix("pytensor"))
    assert tested in specifiers
    for file in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / file).read_text()
        lowest, newest = re.search(r"PyTensor ([\d.]+\d) to ([\d.]+\d)", text).groups()
        assert f">={lowest}," in REQUIRED
        assert newest == tested


def test_by_hand_on_pythonpath(environment, wheel, tmp_path):
    environment.pip("install", "--no-deps", "--target", tmp_path, wheel)
    found = json.loads(
        environment.python("import _pytensor_graft\n" + LOOK_AROUND, PYTHONPATH=str(tmp_path))
    )
    check_graft(environment, found, tmp_path)
    assert found["graft"] == str(tmp_path / "_pytensor_graft.py")


def write(directory, files):
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return directory


UPSTREAM = {
    "pytensor/__init__.py": "",
    "pytensor/tensor/__init__.py": "here = 1",
    "pytensor/link/__init__.py": "__all__ = ['jit']\njit = 1",
}
OURS = {
    "pytensor/tensor/__extend__.py": "__all__ = ['conv2d']\nconv2d = 2",
    "pytensor/tensor/conv/__init__.py": "",
    "pytensor/link/__extend__.py": "__all__ = ['export']\nexport = 3",
}


def with_graft(code, *path, cwd):
    """Run `code` with the graft at work, no site directories, and `path` before the library's."""
    code = f"""
import sys
sys.path[:0] = {[str(entry) for entry in path]!r}
import importlib.util
spec = importlib.util.spec_from_file_location("_pytensor_graft", {str(GRAFT)!r})
graft = importlib.util.module_from_spec(spec)
spec.loader.exec_module(graft)
{textwrap.dedent(code)}
"""
    return run(sys.executable, "-S", "-E", "-s", "-c", code, cwd=cwd).split()


def test_names_are_added(tmp_path):
    upstream, ours = write(tmp_path / "upstream", UPSTREAM), write(tmp_path / "ours", OURS)
    output = with_graft(
        """
        import pytensor, pytensor.tensor, pytensor.tensor.conv, pytensor.link
        print(pytensor.tensor.here, pytensor.tensor.conv2d, hasattr(pytensor.tensor, "__all__"))
        print(*pytensor.link.__all__)
        from pytensor.link import *
        print(jit, export)
        """,
        *(upstream, ours),
        cwd=tmp_path,
    )
    assert output == ["1", "2", "False", "jit", "export", "1", "3"]


def test_reload_and_second_installation_add_nothing_twice(tmp_path):
    upstream, ours = write(tmp_path / "upstream", UPSTREAM), write(tmp_path / "ours", OURS)
    output = with_graft(
        """
        graft.install()
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
        import importlib, pytensor.link
        importlib.reload(pytensor.link)
        print(*pytensor.link.__all__)
        print(len(pytensor.__path__), sum(f.__name__ == "PyTensorGraft" for f in sys.meta_path[:2]))
        """,
        *(upstream, ours),
        cwd=tmp_path,
    )
    assert output == ["jit", "export", "2", "1"]


@pytest.mark.parametrize("checkout_first", [True, False])
def test_a_source_checkout_is_a_package_of_its_own(tmp_path, checkout_first):
    # The wheel: our files lie beside upstream's, in a directory that has an __init__.py.
    installed = write(tmp_path / "installed", UPSTREAM | OURS)
    checkout = write(tmp_path / "checkout", UPSTREAM | {"pytensor/only_there.py": ""})
    order = (checkout, installed) if checkout_first else (installed, checkout)
    output = with_graft(
        """
        import pytensor.tensor
        from importlib.util import find_spec
        print(len(pytensor.__path__), hasattr(pytensor.tensor, "conv2d"))
        print(find_spec("pytensor.only_there") is not None)
        """,
        *order,
        cwd=tmp_path,
    )
    assert output == ["1", str(not checkout_first), str(checkout_first)]


def test_a_directory_that_happens_to_be_called_pytensor_is_left_alone(tmp_path):
    upstream = write(tmp_path / "upstream", UPSTREAM)
    clone = write(tmp_path / "src", {"pytensor/pytensor/__init__.py": "", "pytensor/notes.py": ""})
    output = with_graft(
        "import pytensor; print(len(pytensor.__path__))", upstream, clone, cwd=clone
    )
    assert output == ["1"]


def test_without_upstream_the_error_names_it(tmp_path):
    ours = write(tmp_path / "ours", OURS)
    output = with_graft(
        """
        try:
            import pytensor.tensor.conv
            print("imported")
        except ModuleNotFoundError as error:
            print(error.name, str(error).split(":")[0].replace(" ", "_"))
        """,
        ours,
        cwd=tmp_path,
    )
    assert output == ["pytensor", "PyTensor_itself_is_not_installed"]
