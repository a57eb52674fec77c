"""The distribution as pip installs it, in environments made for the purpose, and its finder."""

import importlib.metadata as metadata
import json
import re
import shutil
import sys
import tarfile
import textwrap
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from pytensor_vision import REQUIRED
from tests.environments import ROOT, Environment, build_wheel, run

pytestmark = pytest.mark.slow

GRAFT = ROOT / "pytensor_vision"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    return Environment(tmp_path_factory.mktemp("graft") / "venv")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build_wheel(tmp_path_factory.mktemp("wheel"))


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
OURS = {"pytensor_vision", "pytensor_vision.extending"}
import pytensor
loaded = {"jax", "onnx", "onnxruntime"} & set(sys.modules)
import json
import pytensor.optimizers
import pytensor.tensor as pt
import pytensor.tensor.__extend__ as extension
import pytensor_vision
print(json.dumps({
    "graft": pytensor_vision.__file__,
    "loaded": sorted(loaded),
    "optimizers": pytensor.optimizers.__file__,
    "pytensor": pytensor.__file__,
    "version": pytensor.__version__,
    "missing": [n for n in extension.__all__ if getattr(pt, n) is not getattr(extension, n)],
    "early": sorted({"importlib.metadata", "pkgutil", "importlib.abc", "re", *OURS} & before),
    "finders": [f.__name__ for f in sys.meta_path if "PyTensor" in getattr(f, "__name__", "")],
}))
"""


def look_around(environment, **variables):
    return json.loads(environment.python(LOOK_AROUND, **variables))


def check_graft(environment, found, home):
    """Check that upstream's package has our modules from the directory `home` in it."""
    assert found["pytensor"] == str(environment.site / "pytensor" / "__init__.py")
    assert found["version"] == metadata.version("pytensor")
    assert found["optimizers"] == str(home / "pytensor" / "optimizers" / "__init__.py")
    assert found["finders"] == ["PyTensorGraft"]
    assert found["loaded"] == []
    assert found["missing"] == []


def test_wheel(with_wheel):
    found = look_around(with_wheel)
    check_graft(with_wheel, found, with_wheel.site / "pytensor_vision")
    assert found["early"] == []
    assert with_wheel.changed_upstream_files() == []


def test_editable(with_editable):
    found = look_around(with_editable)
    check_graft(with_editable, found, ROOT)
    assert found["graft"] == str(GRAFT / "__init__.py")
    assert with_editable.changed_upstream_files() == []


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
        import sys
        print(*(f.__name__ for f in sys.meta_path if "PyTensor" in getattr(f, "__name__", "")))
        import pytensor, pytensor.tensor as pt
        print("pytensor_vision" in sys.modules, hasattr(pt, "conv2d"), hasattr(pt, "dot"))
        """
    )
    assert output.split() == ["False", "False", "True"]


def test_contents_of_the_wheel(environment, wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        text = archive.read(next(n for n in names if n.endswith("METADATA"))).decode()
    assert re.search(r"^Name: (.*)$", text, re.MULTILINE)[1] == "pytensor-vision"
    # No path is another distribution's: not PyTensor's, whatever modules a later one has.
    assert environment.upstream_files
    tops = {name.split("/")[0] for name in names if ".dist-info" not in name}
    ours = {"pytensor_vision", "pytensor_vision.pth", "pytensor_vision.start", "pytensor-stubs"}
    assert tops == ours
    sources = {
        f"pytensor_vision/{path.relative_to(ROOT).as_posix()}"
        for path in (ROOT / "pytensor").rglob("*")
        if path.suffix in (".py", ".pyi", ".cc", ".h")
    }
    assert sources == {name for name in names if name.startswith("pytensor_vision/pytensor/")}


def test_every_module_has_a_stub(wheel):
    with zipfile.ZipFile(wheel) as archive:
        stubs = {n: archive.read(n).decode() for n in archive.namelist() if "-stubs/" in n}
    assert stubs.pop("pytensor-stubs/py.typed") == "partial\n"
    modules = {path.relative_to(ROOT / "pytensor") for path in (ROOT / "pytensor").rglob("*.py")}
    ours = {path.with_suffix(".pyi").as_posix() for path in modules if path.stem != "__extend__"}
    made = {name.removeprefix("pytensor-stubs/") for name in stubs}
    assert ours | {"link/jax/__init__.pyi", "tensor/__init__.pyi"} == made
    # Of a package of PyTensor's, the stub doesn't hide what a newer one adds.
    assert "def __getattr__(" in stubs["pytensor-stubs/tensor/__init__.pyi"]
    assert "def __getattr__(" not in stubs["pytensor-stubs/link/onnx/__init__.pyi"]
    assert "\n    export_onnx as export_onnx,\n" in stubs["pytensor-stubs/link/onnx/__init__.pyi"]
    topk = stubs["pytensor-stubs/tensor/topk.pyi"]
    assert topk.startswith("from pytensor_vision.pytensor.tensor.topk import (")
    assert "\n    topk as topk,\n" in topk


def test_sdist_builds_the_same_wheel(wheel, tmp_path):
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", tmp_path, cwd=ROOT)
    (sdist,) = tmp_path.glob("*.tar.gz")
    # The built page and the weights stay in the clone.
    with tarfile.open(sdist) as archive:
        assert [member.name for member in archive if member.size > 1_100_000] == []
    run(
        *(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"),
        *("--wheel-dir", tmp_path, sdist),
    )
    (rebuilt,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(rebuilt) as ours, zipfile.ZipFile(wheel) as expected:
        assert set(ours.namelist()) == set(expected.namelist())


UPSTREAM_WORKS = """
import pytensor, pytensor.tensor as pt
x = pt.vector("x", dtype="float64")
assert pytensor.function([x], pt.exp(x).sum(), mode="FAST_COMPILE")([0, 0]) == 2
"""
# A module of ours that doesn't load, what then asks for it, and what the answer begins with.
ASKED_IN_VAIN = [
    ("tensor/batchnorm.py", "pt.conv2d", "ImportError: pytensor.tensor.conv2d: "),
    ("tensor/batchnorm.py", "from pytensor.tensor import silu", "ImportError: pytensor.tensor.sil"),
    ("tensor/topk.py", "pt.nnet", "AttributeError: module 'pytensor.tensor' has no attribute"),
    ("tensor/batchnorm.py", "import pytensor.tensor.batchnorm", "ImportError: no inner graphs"),
    (
        "link/jax/dispatch/conv.py",
        "pytensor.function([x], pt.exp(x), mode='JAX')([0]); "
        "image = pt.tensor4(); pytensor.function([image], pt.conv2d(image, image), mode='JAX')",
        "ImportError: no inner graphs",
    ),
    (
        "link/jax/dispatch/table.py",
        "pytensor.function([x], pt.exp(x), mode='JAX')([0]); "
        "pytensor.function([x], pt.topk(x, 1), mode='JAX')",
        "NotImplementedError: No JAX conversion for the given `Op`: TopK",
    ),
    (
        "link/onnx/linker.py",
        "pytensor.function([x], pt.exp(x), mode='ONNX')",
        "ImportError: what pytensor-vision adds to pytensor.compile",
    ),
    (
        "link/onnx/lowering/lowering.py",
        "pytensor.function([x], pt.exp(x), mode='ONNX')",
        "ImportError: mode='ONNX': what pytensor-vision adds",
    ),
    (
        "link/onnx/lowering/lowering.py",
        "from pytensor.link.onnx import export_onnx",
        "ImportError: pytensor.link.onnx.export_onnx: what pytensor-vision adds",
    ),
]


@pytest.mark.parametrize(
    ("file", "question", "answer"), ASKED_IN_VAIN, ids=[case[1][:50] for case in ASKED_IN_VAIN]
)
def test_what_cannot_be_loaded_says_so_when_it_is_asked_for(with_wheel, file, question, answer):
    path = with_wheel.site / "pytensor_vision" / "pytensor" / file
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
    print(*getattr(error, "__notes__", ()))
import pytensor_vision
print(*pytensor_vision.failures.values())
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
    path = with_wheel.site / "pytensor_vision" / "modes.py"
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
        import pytensor.link.jax.dispatch, pytensor.link.numba.dispatch, pytensor_vision
        print(pytensor_vision.failures)
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


@pytest.mark.parametrize("zipped", [False, True])
def test_by_hand(environment, wheel, tmp_path, zipped):
    """Where no `.pth` file is read: a folder on the path and without `site`, and a zip file."""
    if zipped:
        place = shutil.copy(wheel, tmp_path / "ours.zip")
    else:
        place = tmp_path / "ours"
        environment.pip("install", "--no-deps", "--target", place, wheel)
    begin = f"import sys; sys.path[:0] = [{str(place)!r}, {str(environment.site)!r}]\n"
    begin += "assert not any('pytensor' in name for name in sys.modules)\nimport pytensor_vision\n"
    found = json.loads(environment.python(begin + LOOK_AROUND, "-S", "-E"))
    check_graft(environment, found, Path(place, "pytensor_vision"))
    assert found["graft"] == str(Path(place, "pytensor_vision", "__init__.py"))
    if zipped:  # kernels are named by their source
        code = "import pytensor.link.numba.dispatch\nprint(pytensor_vision.failures)"
        assert environment.python(begin + code, "-S", "-E").strip() == "{}"


# What Python 3.15 does at its start, as PEP 829 has it: import lines of a `.pth` with a `.start` of
# the same stem beside it are passed over, and each line of the latter is called.
SITE_OF_3_15 = """
import pkgutil, sys
from pathlib import Path
site = Path(sys.argv[1])
sys.path.append(str(site))
starts = sorted(site.glob("*.start"))
for file in sorted(site.glob("*.pth")):
    for line in file.read_text("utf-8-sig").splitlines():
        if line.startswith(("import ", "import\\t")) and file.with_suffix(".start") not in starts:
            raise SystemExit(f"{file.name} has an import line and no .start beside it")
        if (site / line).is_dir():
            sys.path.append(str(site / line))
called = []
for file in starts:
    for line in map(str.strip, file.read_text("utf-8-sig").splitlines()):
        if line and not line.startswith("#"):
            assert line.count(":") == 1, line
            pkgutil.resolve_name(line)()
            called.append(line)
assert called == ["pytensor_vision:install"], called
"""


@pytest.mark.parametrize("how", ["wheel", "editable"])
def test_start_file_of_python_3_15(how, request):
    environment = request.getfixturevalue(f"with_{how}")
    code = SITE_OF_3_15 + LOOK_AROUND
    found = json.loads(
        run(
            *(environment.interpreter, "-S", "-E", "-c", code, environment.site),
            cwd=environment.directory,
        )
    )
    home = environment.site / "pytensor_vision" if how == "wheel" else ROOT
    check_graft(environment, found, home)


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
OURS = {f"pytensor_vision/{path.name}": path.read_text() for path in sorted(GRAFT.glob("*.py"))} | {
    "pytensor_vision/pytensor/tensor/__extend__.py": """
        from pytensor.tensor.conv import conv1d, conv2d
        from pytensor.tensor.pool import max_pool

        __all__ = ["conv1d", "conv2d", "max_pool"]
        """,
    "pytensor_vision/pytensor/tensor/conv/__init__.py": """
        from pytensor.tensor.conv.basic import conv1d, conv2d
        """,
    "pytensor_vision/pytensor/tensor/conv/basic.py": """
        def conv1d():
            return "ours"

        def conv2d():
            return "ours"
        """,
    "pytensor_vision/pytensor/tensor/pool.py": """
        def max_pool():
            return "ours"
        """,
    "pytensor_vision/pytensor/link/__extend__.py": "__all__ = ['export']\nexport = 3",
}


def with_graft(code, *path, cwd):
    """Run `code` with the graft at work, no site directories, and `path` before the library's."""
    code = f"""
import sys
sys.path[:0] = {[str(entry) for entry in path]!r}
import pytensor_vision as graft
{textwrap.dedent(code)}
"""
    return run(sys.executable, "-S", "-E", "-s", "-c", code, cwd=cwd).split()


def test_reload_and_second_installation_add_nothing_twice(tmp_path):
    upstream, ours = write(tmp_path / "upstream", UPSTREAM), write(tmp_path / "ours", OURS)
    output = with_graft(
        """
        import warnings
        warnings.simplefilter("error")
        graft.install()
        import importlib, importlib.util, pytensor.link, pytensor.tensor
        spec = importlib.util.spec_from_file_location("again", graft.__file__)
        spec.submodule_search_locations = []
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
        for package in (pytensor.link, pytensor.tensor):
            importlib.reload(package)
        from pytensor_vision import extending
        print(*pytensor.link.__all__, *extending.hidden_names)
        print(len(pytensor.__path__), sum(f.__name__ == "PyTensorGraft" for f in sys.meta_path[:2]))
        """,
        *(upstream, ours),
        cwd=tmp_path,
    )
    assert output == ["jit", "export", "2", "1"]


# A later PyTensor has convolutions itself, at the path of ours, or as a name only: its files, how
# ours is imported then, and its name.
ITS_OWN = {
    "module": (
        {
            "pytensor/tensor/__init__.py": "from pytensor.tensor.conv import conv2d",
            "pytensor/tensor/conv/__init__.py": "def conv2d():\n    return 'theirs'",
        },
        "import pytensor_vision.pytensor.tensor.conv",
        "pytensor_vision.pytensor.tensor.conv.conv2d",
    ),
    "same files": (
        {
            "pytensor/tensor/__init__.py": "from pytensor.tensor.conv.basic import conv2d",
            "pytensor/tensor/conv/__init__.py": "",
            "pytensor/tensor/conv/basic.py": "def conv2d():\n    return 'theirs'",
        },
        "import pytensor_vision.pytensor.tensor.conv.basic",
        "pytensor_vision.pytensor.tensor.conv.basic.conv2d",
    ),
    "name": (
        {"pytensor/tensor/__init__.py": "def conv2d():\n    return 'theirs'"},
        "from pytensor.tensor.conv.basic import conv2d",
        "conv2d",
    ),
}
LAZY = {
    "pytensor_vision/pytensor/tensor/__extend__.py": """
        from importlib import import_module
        LAZY = {"conv2d": "conv", "max_pool": "pool", "broken": "broken"}
        __all__ = ["conv2d", "max_pool", "broken"]

        def __getattr__(name):
            if name not in LAZY:
                raise AttributeError(name)
            return getattr(import_module(f"pytensor.tensor.{LAZY[name]}"), name)
        """,
    "pytensor_vision/pytensor/tensor/broken.py": "raise AttributeError('no inner graphs')",
}


def test_lazy_names_are_loaded_when_they_are_asked_for(tmp_path):
    upstream = write(tmp_path / "upstream", UPSTREAM | ITS_OWN["name"][0])
    ours = write(tmp_path / "ours", OURS | LAZY)
    output = with_graft(
        """
        import warnings
        import pytensor.tensor as pt
        print("pytensor.tensor.pool" in sys.modules, "max_pool" in dir(pt), "max_pool" in vars(pt))
        print(pt.conv2d(), pt.max_pool(), "pytensor.tensor.pool" in sys.modules)
        from pytensor_vision.extending import hidden_names
        print(*hidden_names, graft.failures)
        for name in ("broken", "missing"):
            try:
                getattr(pt, name)
            except Exception as error:
                print(f"{type(error).__name__}:{error}"[:60].replace(" ", "_"))
        print(*graft.failures)
        """,
        *(upstream, ours),
        cwd=tmp_path,
    )
    assert output == [
        "False", "True", "False", "theirs", "ours", "True", "pytensor.tensor.conv2d", "{}",
        "ImportError:pytensor.tensor.broken:_what_pytensor-vision_add",
        "AttributeError:module_'pytensor.tensor'_has_no_attribute_'mi",
        "pytensor.tensor",
    ]  # fmt: skip


@pytest.mark.parametrize(("files", "way", "name"), ITS_OWN.values(), ids=ITS_OWN)
def test_what_upstream_has_itself_is_upstreams(tmp_path, files, way, name):
    version = {"pytensor/__init__.py": "__version__ = '3.9'\nimport pytensor.tensor, pytensor.link"}
    upstream = write(tmp_path / "upstream", UPSTREAM | version | files)
    ours = write(tmp_path / "ours", OURS)
    output = with_graft(
        f"""
        import warnings
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            import pytensor
            import pytensor.tensor as pt, pytensor.tensor.conv
        print(pt.conv2d(), pt.conv1d(), pt.max_pool(), pytensor.link.export)
        (warning,) = caught
        text = str(warning.message)
        print(warning.filename, "PyTensor_3.9_has" in text.replace(" ", "_"))
        print({way!r} in text or text)
        {way}
        print({name}(), graft.failures)
        from pytensor.tensor.conv import conv1d
        print(conv1d(), hasattr(pytensor.tensor.conv, "conv4d"))
        """,
        *(upstream, ours),
        cwd=tmp_path,
    )
    expected = ["theirs", "ours", "ours", "3", "<string>", "True", "True"]
    assert output == [*expected, "ours", "{}", "ours", "False"]


@pytest.mark.parametrize("checkout_first", [True, False])
def test_a_source_checkout_is_extended_as_an_installed_one(tmp_path, checkout_first):
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
    assert output == ["2", "True", str(checkout_first)]


def test_a_directory_that_happens_to_be_called_pytensor_is_left_alone(tmp_path):
    upstream, ours = write(tmp_path / "upstream", UPSTREAM), write(tmp_path / "ours", OURS)
    clone = write(tmp_path / "src", {"pytensor/pytensor/__init__.py": "", "pytensor/notes.py": ""})
    output = with_graft("import pytensor; print(*pytensor.__path__)", "", upstream, ours, cwd=clone)
    assert output == [str(upstream / "pytensor"), str(ours / "pytensor_vision" / "pytensor")]


def test_too_late(tmp_path):
    """After PyTensor, the graft can't be applied, and says so."""
    upstream, ours = write(tmp_path / "upstream", UPSTREAM), write(tmp_path / "ours", OURS)
    code = f"""
import sys
sys.path[:0] = [{str(upstream)!r}, {str(ours)!r}]
import pytensor
try:
    import pytensor_vision
except ImportError as error:
    print(error)
"""
    output = run(sys.executable, "-S", "-E", "-s", "-c", code, cwd=tmp_path)
    assert "or import pytensor_vision first" in output


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
