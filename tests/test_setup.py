"""setup.sh with fakes of uv, pip, npm and nvidia-smi; and what the lock file holds."""

import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOLS = [
    *("bash", "cat", "chmod", "cmp", "cp", "dirname", "grep", "head", "mkdir", "rm", "sed", "sort"),
]
PAGE = "examples/onnx/onnx-yolo-demo"
# Makes what setup.sh looks at of an installation, and finds no Python.
UV = """#!/bin/bash
echo "$*" >>"{log}"
case "$*" in
--version) echo "uv {version}" ;;
"python find"*) cat "{log}.python" 2>/dev/null || exit 2 ;;
venv*) mkdir .venv ;;
*--editable*)
    ! cat "{log}.fails" 2>/dev/null || exit 2
    mkdir -p .venv/bin && echo "#!$PWD/.venv/bin/python" >.venv/bin/pytest
    printf '#!/bin/bash\\necho Python 3.13.5' >.venv/bin/python && chmod +x .venv/bin/python ;;
esac
"""
NPM = """#!/bin/bash
echo "npm $*" >>"{log}"
rm -rf node_modules
! cat "{log}.npm.fails" 2>/dev/null || exit 1
mkdir -p node_modules/onnxruntime-web
"""
PIP = """#!/bin/bash
echo "python3 $*" >>"{log}"
mkdir -p .venv.uv/bin && cp "{uv}" .venv.uv/bin/uv
"""


class Checkout:
    """A copy of what setup.sh reads, and a PATH of tools and fakes."""

    def __init__(self, directory):
        self.root = directory / "a checkout"
        self.bin = directory / "bin"
        self.log = directory / "calls"
        self.bin.mkdir()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        (self.root / PAGE).mkdir(parents=True)
        (self.root / "requirements").mkdir()
        for name in ("setup.sh", "requirements/uv.txt", f"{PAGE}/package-lock.json"):
            shutil.copy(ROOT / name, self.root / name)
        self.add("uv", UV.replace("{version}", "0.9.1 (of some day)"))
        self.add("node", "#!/bin/bash\necho v18.1.0")
        self.add("npm", NPM)
        self.add("g++", "#!/bin/bash")

    def add(self, name, text):
        path = self.bin / name
        path.write_text(text.replace("{log}", str(self.log)))
        path.chmod(0o755)
        return path

    def setup(self, *options, returncode=0, **environment):
        """Return what setup.sh prints and the calls of uv, pip and npm that change something."""
        self.log.unlink(missing_ok=True)
        result = subprocess.run(
            [self.bin / "bash", self.root / "setup.sh", *options],
            cwd="/",
            env={"PATH": str(self.bin), "HOME": str(self.root.parent)} | environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == returncode, result.stdout + result.stderr
        calls = self.log.read_text().splitlines() if self.log.exists() else []
        asking = ("--version", "python find")
        return result.stdout + result.stderr, [c for c in calls if not c.startswith(asking)]

    def driver(self, cuda):
        report = f"| NVIDIA-SMI 580.00    Driver Version: 580.00    CUDA Version: {cuda}  |"
        self.add("nvidia-smi", f"#!/bin/bash\necho '{report}'")


@pytest.fixture
def checkout(tmp_path):
    if not all(map(shutil.which, TOOLS)):
        pytest.skip("needs bash and the usual tools")
    return Checkout(tmp_path)


def test_installs(checkout):
    output, calls = checkout.setup()
    assert calls == [
        "venv --quiet --python 3.13 .venv",
        "pip install --python .venv --require-hashes -r requirements/cpu.txt",
        "pip install --python .venv --no-deps --no-build-isolation --editable .",
        "pip uninstall --quiet --python .venv jax-cuda12-plugin jax-cuda12-pjrt",
        "pip uninstall --quiet --python .venv jax-cuda13-plugin jax-cuda13-pjrt",
        "npm ci --omit=dev --fetch-retries=1",
    ]
    done = "setup: done: Python 3.13.5, JAX for cpu\nsetup: now: source .venv/bin/activate\n"
    assert output.endswith(done)


@pytest.mark.parametrize(
    ("cuda", "options", "build"),
    [
        ("12.4", (), "cuda12"),
        ("13.0", (), "cuda13"),
        ("14.1", ("--gpu",), "cuda13"),
        ("13.0", ("--cpu",), "cpu"),
        ("11.8", (), "cpu"),
        ("N/A", (), "cpu"),
    ],
)
def test_build_of_jax_fits_the_driver(checkout, cuda, options, build):
    checkout.driver(cuda)
    _, (_, install, *calls) = checkout.setup(*options)
    assert install.endswith(f" -r requirements/{build}.txt")
    removed = {call.split()[-1] for call in calls if call.startswith("pip uninstall")}
    assert removed == {"jax-cuda12-pjrt", "jax-cuda13-pjrt"} - {f"jax-{build}-pjrt"}


@pytest.mark.parametrize(("cuda", "found"), [(None, "no driver"), ("11.8", "a driver for CUDA 11")])
def test_gpu_without_a_driver_for_it(checkout, cuda, found):
    if cuda:
        checkout.driver(cuda)
    output, calls = checkout.setup("--gpu", returncode=1)
    assert output.startswith(f"setup: error: --gpu: nvidia-smi finds {found}; JAX needs")
    assert not calls


def test_arguments(checkout):
    assert "usage: bash setup.sh" in checkout.setup("--help")[0]
    assert "unknown argument '--fast'" in checkout.setup("--fast", returncode=1)[0]
    assert "exclude each other" in checkout.setup("--cpu", "--gpu", returncode=1)[0]


def test_python(checkout):
    Path(f"{checkout.log}.python").write_text("/usr/bin/python3.14")
    assert "--python /usr/bin/python3.14 " in checkout.setup()[1][0]
    shutil.rmtree(checkout.root / ".venv")
    assert "--python 3.12 " in checkout.setup(UV_PYTHON="3.12")[1][0]


@pytest.mark.parametrize("there", [None, "0.8.4"])
def test_uv_comes_from_pypi(checkout, there):
    new = checkout.bin.parent / "new uv"
    (checkout.bin / "uv").rename(new)
    if there:
        checkout.add("uv", UV.replace("{version}", there))
    checkout.add("python3", PIP.replace("{uv}", str(new)))
    _, (pip, venv, *_) = checkout.setup()
    assert pip.endswith("--target .venv.uv --require-hashes -r requirements/uv.txt")
    assert venv.startswith("venv ")
    assert "--require-hashes" in checkout.setup()[1][0]  # it is there now


@pytest.mark.parametrize("reachable", [True, False])
def test_uv_comes_from_its_site_where_there_is_no_pip(checkout, reachable):
    new = (checkout.bin / "uv").rename(checkout.bin.parent / "new-uv")
    checkout.add("python3", "#!/bin/bash\nexit 1")
    installer = f'mkdir -p "$UV_UNMANAGED_INSTALL" && cp {new} "$UV_UNMANAGED_INSTALL/uv"'
    release = re.match(r"uv==([\d.]+)", LOCKS["uv"])[1]
    asked = f'[ "$2" = https://astral.sh/uv/{release}/install.sh ] && echo {shlex.quote(installer)}'
    checkout.add("curl", f"#!/bin/bash\n{asked if reachable else 'exit 6'}")
    (checkout.bin / "sh").symlink_to(checkout.bin / "bash")
    output, calls = checkout.setup(returncode=0 if reachable else 1)
    assert ("venv" in calls[0]) if reachable else ("uv could not be installed" in output)


def test_failing_uv(checkout):
    fails = Path(f"{checkout.log}.fails")
    fails.write_text("error: No space left on device")
    output, _ = checkout.setup(returncode=1)
    assert "No space left" in output
    assert "setup: error: uv could not install the project" in output
    assert not (checkout.root / PAGE / "node_modules").exists()


@pytest.mark.slow
def test_environment_that_cannot_be_mended(checkout):
    checkout.setup()
    assert "deleting" not in checkout.setup()[0]
    checkout.root = checkout.root.rename(checkout.root.with_name("elsewhere"))
    assert "deleting .venv, which is half-made or was moved" in checkout.setup()[0]
    (checkout.root / ".venv/bin/pytest").unlink()
    assert "deleting" in checkout.setup()[0]


@pytest.mark.parametrize("version", [None, "16.20.0", "18.0.0", "24.1.0"])
def test_node_comes_from_pypi_where_there_is_no_recent_one(checkout, version):
    checkout.add("node", f"#!/bin/bash\necho v{version}" if version else "#!/bin/bash\nexit 127")
    assert ("-r requirements/node.txt" in checkout.setup()[1][1]) == (version in (None, "16.20.0"))


def npm_calls(checkout, *options):
    return [c.split()[2] for c in checkout.setup(*options)[1] if c.startswith("npm")]


@pytest.mark.slow
def test_packages_of_the_page_are_fetched_when_they_changed(checkout):
    assert npm_calls(checkout) == ["--omit=dev"]
    assert npm_calls(checkout) == []
    assert npm_calls(checkout, "--dev") == ["--include=dev"]
    assert npm_calls(checkout) == npm_calls(checkout, "--dev") == []
    with (checkout.root / PAGE / "package-lock.json").open("a") as file:
        file.write("\n")
    assert npm_calls(checkout) == ["--omit=dev"]
    shutil.rmtree(checkout.root / PAGE / "node_modules")
    assert npm_calls(checkout) == ["--omit=dev"]


def test_without_npm_all_but_the_page_works(checkout):
    fails = Path(f"{checkout.log}.npm.fails")
    fails.write_text("npm error network ENOTFOUND")
    output, _ = checkout.setup()
    assert "ENOTFOUND" in output
    assert "warning: npm failed, so the detector's page can't be built" in output
    assert "done" in output
    fails.unlink()
    assert npm_calls(checkout) == ["--omit=dev"]


def test_no_compiler(checkout):
    (checkout.bin / "g++").unlink()
    output, _ = checkout.setup()
    assert "warning: there is no C++ compiler (g++)" in output


LOCKS = {path.stem: path.read_text() for path in (ROOT / "requirements").glob("*.txt")}


def names(text):
    return set(re.findall(r"^([\w.-]+)(?:\[.*\])?==", text, re.MULTILINE))


@pytest.mark.parametrize(
    ("file", "extra"),
    [
        ("cpu", "test"), ("cpu", "pymc"), ("cpu", "yolo"), ("cuda12", "test"), ("cuda13", "yolo"),
        ("node", "node"),
    ],
)
def test_the_lock_is_that_of_the_project(file, extra):
    """Otherwise: .ci/lock"""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = project["dependencies"] + project["optional-dependencies"][extra]
    wanted = {re.match(r"[\w.-]+", need)[0] for need in wanted} - {project["name"]}
    assert wanted <= names(LOCKS[file])


@pytest.mark.parametrize("file", LOCKS)
def test_the_lock_has_hashes_and_the_versions_of_the_others(file):
    entries = re.findall(r"^(\S+)==(\S+).*\n    --hash=sha256:[0-9a-f]{64}", LOCKS[file], re.M)
    assert {name for name, _ in entries} == names(LOCKS[file])
    versions = dict(re.findall(r"^(\S+)==(\S+)", LOCKS["cpu"], re.M))
    if file == "kernels":  # for the lowest jaxlib: later ones take what was made for it
        del versions["jaxlib"]
    assert all(versions.get(name, version) == version for name, version in entries)


@pytest.mark.parametrize("build", ["cuda12", "cuda13"])
def test_the_lock_of_a_gpu_has_its_build_of_jax(build):
    other = {"cuda12": "cuda13", "cuda13": "cuda12"}[build]
    assert {f"jax-{build}-plugin", f"jax-{build}-pjrt", "jaxlib"} <= names(LOCKS[build])
    assert f"jax-{other}-plugin" not in names(LOCKS[build])
