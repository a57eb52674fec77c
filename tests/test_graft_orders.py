"""PyTensor and ours, installed, replaced and uninstalled in every order: each side stays whole.

What an installer leaves depends on what was there before it, so each step that is possible is taken
once from each state. By default PyTensor is a feigned one of three files, whose newer version has
paths that our repository has too; the long tests have real ones.
"""

import base64
import hashlib
import itertools
import random
import re
import subprocess
import sys
import zipfile

import pytest

from pytensor_vision import REQUIRED
from tests.environments import ROOT, Environment, build_wheel, run

pytestmark = pytest.mark.slow

UV = ROOT / ".venv.uv" / "bin" / "uv"
FEIGNED = {
    "1": {"pytensor/__init__.py": "import pytensor.tensor", "pytensor/tensor/__init__.py": ""},
    "2": {
        "pytensor/__init__.py": "import pytensor.tensor, pytensor.link.onnx",
        "pytensor/tensor/__init__.py": "def conv2d(): return 'theirs'",
        "pytensor/tensor/conv/__init__.py": "",
        "pytensor/tensor/topk.py": "",
        "pytensor/link/__init__.py": "",
        "pytensor/link/onnx/__init__.py": "",
    },
}


def feign(folder, version):
    """Write a wheel of a PyTensor that has next to nothing."""
    info = f"pytensor-{version}.dist-info"
    files = FEIGNED[version] | {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: pytensor\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},sha256={digest(t.encode())},\n" for name, t in files.items())
    path = folder / f"pytensor-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in (files | {f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}).items():
            archive.writestr(name, text)
    return path


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


class Site:
    """An environment, one installer, and the wheels that it installs."""

    def __init__(self, environment, tool, theirs, ours):
        self.environment, self.tool = environment, tool
        self.wheels = {"pytensor": theirs, "pytensor-vision": [ours]}

    def run(self, verb, *arguments):
        """Run pip or uv, which may ask no index."""
        if self.tool == "pip":
            yes = ("--yes",) if verb == "uninstall" else ("--no-deps",)
            self.environment.pip(verb, *yes, *arguments)
        else:
            no = ("--no-deps", "--offline") if verb == "install" else ()
            interpreter = ("--python", self.environment.interpreter)
            run(UV, "pip", verb, *interpreter, *no, *arguments)

    def step(self, name, wheel):
        """Install a wheel of a distribution, whatever is there, or uninstall it."""
        if wheel is None:
            self.run("uninstall", name)
        else:
            again = "--force-reinstall" if self.tool == "pip" else "--reinstall"
            self.run("install", again, wheel)

    def check(self, state):
        """Check that what is installed has its files as built, and that nothing else is there."""
        expected = {}
        for wheel in filter(None, state.values()):
            with zipfile.ZipFile(wheel) as archive:
                for name in archive.namelist():
                    inside = ".dist-info/" not in name and ".data/" not in name
                    if inside and not name.endswith("/"):
                        assert name not in expected
                        expected[name] = digest(archive.read(name))
        site = self.environment.site
        found = {
            path.relative_to(site).as_posix(): digest(path.read_bytes())
            for pattern in ("pytensor*", "pytensor*/**/*")
            for path in site.glob(pattern)
            if path.relative_to(site).parts[0] != "pytensor_ml"  # another project's
            if path.is_file() and ".dist-info" not in str(path) and path.suffix != ".pyc"
        }
        assert found == expected


def every_step(wheels):
    """Yield steps, a distribution's name and its wheel or None: each from each state."""
    choices = {name: [None, *files] for name, files in wheels.items()}
    names, rng = [*choices], random.Random(12)  # takes no step twice

    def steps_from(state):
        there = dict(zip(names, state, strict=True))
        return [(n, w) for n in names for w in choices[n] if w is not None or there[n]]

    states = itertools.product(*choices.values())
    left = {(state, step) for state in states for step in steps_from(state)}
    state = (None,) * len(names)
    while left:
        steps = steps_from(state)
        new = [step for step in steps if (state, step) in left]
        name, wheel = step = rng.choice(new or steps)
        left.discard((state, step))
        state = tuple(wheel if n == name else w for n, w in zip(names, state, strict=True))
        yield step


def take_every_step(site, works):
    """Take them, and check all files after each; each state of both is tried by `works` once."""
    state, tried, steps = dict.fromkeys(site.wheels), set(), 0
    site.step("pytensor", None)
    site.check(state)
    for name, wheel in every_step(site.wheels):
        site.step(name, wheel)
        state[name], steps = wheel, steps + 1
        site.check(state)
        if all(state.values()) and state["pytensor"] not in tried:
            tried.add(state["pytensor"])
            works(site.environment, state["pytensor"])
    assert len(tried) == len(site.wheels["pytensor"])
    assert steps >= 18  # of 6 states, with 2 to 4 steps from each


def works_feigned(environment, theirs):
    """Check that the newer one's names win, and ours can't be loaded: they have nothing."""
    code = "import pytensor_vision, warnings; warnings.simplefilter('ignore'); import pytensor\n"
    newer = "-2-" in theirs.name
    code += "print(pytensor.tensor.conv2d())" if newer else "print(*pytensor_vision.failures)"
    assert environment.python(code).strip() == ("theirs" if newer else "pytensor.tensor")


def works(environment, theirs):
    code = """
        import pytensor, pytensor.tensor as pt, pytensor_vision, pytensor.optimizers
        print(pytensor.__version__, pt.conv2d.__name__, pytensor_vision.failures)
        """
    version = theirs.name.split("-")[1]
    assert environment.python(code).split() == [version, "conv2d", "{}"]


TOOLS = [
    pytest.param("uv", marks=pytest.mark.skipif(not UV.exists(), reason="needs setup.sh's uv")),
    pytest.param("pip", marks=pytest.mark.long),  # a second for each step
]


@pytest.fixture
def environment(tmp_path):
    return Environment(tmp_path / "venv")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.mark.parametrize("tool", TOOLS)
def test_every_order(environment, wheel, tmp_path, tool):
    theirs = [feign(tmp_path, version) for version in FEIGNED]
    take_every_step(Site(environment, tool, theirs, wheel), works_feigned)


@pytest.fixture(scope="module")
def pytensors(tmp_path_factory):
    """Return wheels of the lowest and of the tested PyTensor, from the index set for pip."""
    folder = tmp_path_factory.mktemp("pytensors")
    lowest = re.search(r">=([\d.]+)", REQUIRED)[1]
    lock = (ROOT / "requirements/lock.txt").read_text()
    locked = re.search(r"^pytensor==([\d.]+)", lock, re.M)[1]
    for version in (lowest, locked):
        command = ("-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:")
        subprocess.run(
            [sys.executable, *command, "--dest", folder, f"pytensor=={version}"], check=True
        )
    return sorted(folder.glob("*.whl"))


@pytest.mark.long
@pytest.mark.parametrize("tool", TOOLS)
def test_every_order_of_real_ones(environment, wheel, pytensors, tool):
    assert len(pytensors) == 2
    take_every_step(Site(environment, tool, pytensors, wheel), works)
