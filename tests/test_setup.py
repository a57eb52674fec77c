"""setup.sh with fakes of uv, pip, npm and nvidia-smi; and what the lock file holds."""

import re
import shlex
import shutil
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

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
    mkdir -p .venv/bin && echo "VIRTUAL_ENV='$PWD/.venv'" >.venv/bin/activate
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
echo "python3 $*|"$(cat "${@: -1}") >>"{log}"
mkdir -p .venv.uv/bin && cp "{uv}" .venv.uv/bin/uv
"""


INSTALL = "pip install --python .venv --constraint requirements/lock.txt -r pyproject.toml"


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
        for name in ("setup.sh", "requirements/lock.txt", f"{PAGE}/package-lock.json"):
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
        f"{INSTALL} --extra test",
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
        ("14.1", ("--gpu",), "cuda13"),
        ("13.0", ("--cpu",), "cpu"),
        ("11.8", (), "cpu"),
        ("N/A", (), "cpu"),
    ],
)
def test_build_of_jax_fits_the_driver(checkout, cuda, options, build):
    checkout.driver(cuda)
    _, (_, install, *calls) = checkout.setup(*options)
    wanted = "" if build == "cpu" else f" --extra jax-{build}"
    assert install == f"{INSTALL} --extra test{wanted}"
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
    arguments, asked = pip.split("|")
    assert "--target .venv.uv --require-hashes -r " in arguments
    assert re.fullmatch(r"uv==[\d.]+ ;[^=]*.*( \\ --hash=sha256:[0-9a-f]{64})+", asked)
    assert venv.startswith("venv ")
    assert checkout.setup()[1][0].startswith(INSTALL)  # it is there now


@pytest.mark.parametrize("reachable", [True, False])
def test_uv_comes_from_its_site_where_there_is_no_pip(checkout, reachable):
    new = (checkout.bin / "uv").rename(checkout.bin.parent / "new-uv")
    checkout.add("python3", "#!/bin/bash\nexit 1")
    installer = f'mkdir -p "$UV_UNMANAGED_INSTALL" && cp {new} "$UV_UNMANAGED_INSTALL/uv"'
    release = re.search(r"^uv==([\d.]+)", LOCK, re.M)[1]
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
    assert "deleting .venv, which was moved or has no Python 3.12 to 3.14" in checkout.setup()[0]
    for name in ("activate", "python"):
        (checkout.root / ".venv/bin" / name).unlink()
        assert "deleting" in checkout.setup()[0]
    (checkout.root / ".venv/bin/python").write_text("#!/bin/bash\nexit 1")  # an older one's answer
    assert "deleting" in checkout.setup()[0]


def test_environment_of_pip_stays(checkout):
    own = checkout.root / ".venv/bin"
    own.mkdir(parents=True)
    (own / "activate").write_text(f"VIRTUAL_ENV={shlex.quote(str(own.parent))}")
    (own / "python").symlink_to(checkout.add("python3.12", "#!/bin/bash"))
    assert "deleting" not in checkout.setup()[0]


@pytest.mark.parametrize("version", [None, "16.20.0", "24.1.0"])
def test_node_comes_from_pypi_where_there_is_no_recent_one(checkout, version):
    checkout.add("node", f"#!/bin/bash\necho v{version}" if version else "#!/bin/bash\nexit 127")
    assert ("--extra node" in checkout.setup()[1][1]) == (version in (None, "16.20.0"))


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


LOCK = (ROOT / "requirements/lock.txt").read_text()
ENTRIES = re.findall(r"^(\S+)==\S+ ;.*\n    --hash=sha256:[0-9a-f]{64}", LOCK, re.M)


def test_the_lock_has_hashes():
    assert re.findall(r"^([^\s=]+)==", LOCK, re.M) == ENTRIES


def needs_of(name, extras, seen):
    """Collect the names of what a package needs here, and what those need."""
    for need in map(Requirement, metadata.requires(name) or ()):
        asked = any(need.marker.evaluate({"extra": e}) for e in extras) if need.marker else True
        key = (need.name.lower(), *sorted(need.extras))
        if asked and key not in seen:
            seen.add(key)
            needs_of(need.name, need.extras or {""}, seen)
    return {re.sub(r"[-_.]+", "-", name) for name, *_ in seen}


def test_the_lock_is_that_of_the_project():
    """Otherwise: .ci/lock. setup.sh would install what is missing without a hash."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needs = needs_of(project["name"], {"", "test"}, set()) - {project["name"]}
    assert len(needs) > 50
    for extra in ("jax-cuda12", "jax-cuda13", "node", "docs"):
        needs |= {re.match(r"[\w.-]+", n)[0] for n in project["optional-dependencies"][extra]}
    assert needs <= set(ENTRIES)
