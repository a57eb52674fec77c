"""Builds the wheels and the sources' archive into dist/, checks them, and tries a wheel.

    python .ci/release.py [--tag v0.2.0]
    python .ci/release.py --recipe v0.2.0.tar.gz

The wheel for any system has the C++ kernels as a source; those for Linux on x86-64 and on aarch64
have them compiled too, by Zig's Clang, against the lowest jaxlib that pyproject.toml admits: later
ones take what was made for it, and not the other way round.

This machine's wheel, on Linux, is tried in bare environments, of Python 3.12, 3.13 and 3.14, each
with the lowest and the newest PyTensor and JAX that pyproject.toml admits: README's first program
runs, the kernels compute what XLA does where there is no compiler, and uninstalling leaves PyTensor
as it was. Then the digits' notebook, in one that has what Jupyter brings: its first cell installs
the rest. A Python that this machine lacks and uv can't download is named at the end and left out.
With --tag, as when a release is published, none may be left out, the tag is the version, and the
addresses of pyproject.toml name their owner. With --recipe, nothing is built: conda-forge's recipe
is printed, with the sum of that archive.
"""

import argparse
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCKS = ROOT / "requirements"
PYTHONS = ("3.12", "3.13", "3.14")
LARGEST = {".whl": 2_000_000, ".gz": 4_000_000}  # bytes; what slips in by mistake is larger
SOURCE = ROOT / "pytensor" / "link" / "jax" / "kernels" / "cpu_kernels.cc"
GLIBC = "2.28"  # what manylinux_2_28 promises, and jaxlib's own wheels ask for
# Levels of `pytensor.link.jax.kernels.cpu_kernels.LEVELS`, and Zig's names of them, by machine.
LEVELS = {
    "x86_64": {"x86_64_v4": "x86_64_v4", "x86_64_v3": "x86_64_v3"},
    "aarch64": {"aarch64": "generic"},
}

# Run in an environment: the files of PyTensor that aren't as its RECORD says, and what of ours is
# left.
LOOK = """
import base64, hashlib, importlib.metadata as metadata
from pathlib import Path
upstream = metadata.distribution("pytensor")
def changed(file):
    path = Path(file.locate())
    digest = hashlib.new(file.hash.mode, path.read_bytes()).digest() if path.exists() else b""
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != file.hash.value
files = [file for file in upstream.files if file.hash]
assert len(files) > 300, files
site = Path(upstream.locate_file(""))
ours = [*site.glob("pytensor_vision*"), *site.glob("pytensor-stubs*")]
print(*[file for file in files if changed(file)], *ours)
"""

# Run in an environment: a training step whose gradients the wheel's kernels compute, without a
# compiler, in addition to XLA's.
KERNELS = """
import numpy as np, pytensor, pytensor.tensor as pt
from pytensor.link.jax import jax_mode
from pytensor.link.jax.kernels.cpu_kernels import load_kernels, shipped
rng = np.random.default_rng(0)
image = rng.normal(size=(2, 3, 32, 32)).astype("float32")
start = [rng.normal(0, 0.2, s).astype("float32") for s in ((16, 3, 3, 3), (8, 16, 3, 3))]
def train(**options):
    filters = [pytensor.shared(v, shape=v.shape) for v in start]
    x = pt.tensor("x", dtype="float32", shape=image.shape)
    h = pt.silu(pt.conv2d(x, filters[0], border_mode="half"))
    loss = pt.sqr(pt.conv2d(h, filters[1], border_mode="half", subsample=(2, 2))).mean()
    updates = [(w, w - np.float32(0.1) * pytensor.grad(loss, w)) for w in filters]
    step = pytensor.function([x], loss, updates=updates, mode=jax_mode(**options))
    losses = [float(step(image)) for _ in range(3)]
    return losses, [w.get_value() for w in filters], step.vm.jit_fn.lower(image, *start).as_text()
assert pytensor.config.cxx == "" and load_kernels() == shipped().stem.rpartition("_")[2]
ours, theirs = train(cpu_kernels=True), train()
assert load_kernels() in ours[2] and load_kernels() not in theirs[2]
for a, b in zip([ours[0], *ours[1]], [theirs[0], *theirs[1]], strict=True):
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
print(shipped().name)
"""

# Run with a notebook's source, and what is cloned instead of "REPOSITORY". Jupyter goes on
# after a command of "!" that fails; this doesn't.
NOTEBOOK = """
import sys, jupytext, nbclient, nbformat
path, repository = sys.argv[1:]
source = open(path).read().replace("clone REPOSITORY", f"clone {repository}")
notebook = jupytext.reads(source, "md:myst")
checked = '''
def system(command, run=get_ipython().system):
    run(command)
    if code := get_ipython().user_ns["_exit_code"]:
        raise RuntimeError(f"{command}: exit code {code}")
get_ipython().system = system
'''
notebook.cells.insert(0, nbformat.v4.new_code_cell(checked))
nbclient.NotebookClient(notebook, timeout=3600, skip_cells_with_tag="").execute()
for cell in notebook.cells:
    text = "".join(output.get("text", "") for output in cell.get("outputs", []))
    for line in text.splitlines()[-6:]:
        print(line)
"""


def run(*command, **options):
    """Run a command, and return what it prints; its own error text ends the program."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **options)
    if done.returncode:
        raise SystemExit(f"release: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def find_uv():
    """Find the uv of PATH, or that which setup.sh puts into .venv.uv; it finds pyenv's Pythons."""
    pythons = Path.home().glob(".pyenv/versions/3.1[234]*/bin")
    os.environ["PATH"] += "".join(f"{os.pathsep}{folder}" for folder in pythons)
    if found := shutil.which("uv") or shutil.which("uv", path=ROOT / ".venv.uv" / "bin"):
        return found
    raise SystemExit("release: there is no uv: run bash setup.sh")


def check_tag(tag):
    """Refuse what must not be published."""
    if tag != f"v{PROJECT['version']}":
        raise SystemExit(f"release: the tag is {tag}, and the version {PROJECT['version']}")
    check_owner()


def check_owner():
    """Refuse addresses that lead nowhere."""
    if any("OWNER" in url for url in PROJECT["urls"].values()):
        raise SystemExit("release: the addresses in pyproject.toml name no owner: CONTRIBUTING.md")


def compile_kernels(uv, folder):
    """Compile the kernels; by machine, their files, whose names end with their content's sum."""
    tools = folder / "compilers"
    run(uv, "venv", "--python", sys.executable, tools)
    needed = LOCKS / "kernels.txt"
    run(uv, "pip", "install", "--python", tools, "--no-deps", "--require-hashes", "-r", needed)
    python = tools / "bin" / "python"
    headers = run(python, "-c", "import jaxlib; print(*jaxlib.__path__)") + "/include"
    exports = folder / "exports"
    exports.write_text("{ global: pytensor_*; local: *; };")  # none of the C++ library, say
    made = {machine: [] for machine in LEVELS}
    for machine, levels in LEVELS.items():
        for level, name in levels.items():
            path = folder / "kernels.so"
            run(
                *(python, "-m", "ziglang", "c++", "-target", f"{machine}-linux-gnu.{GLIBC}"),
                *(f"-mcpu={name}", "-std=gnu++17", "-O3", "-shared", "-fPIC", "-s"),
                *("-Wall", "-Wextra", "-Werror"),
                *("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"),
                *(f"-Wl,--version-script={exports}", "-isystem", headers, SOURCE, "-o", path),
            )
            digest = hashlib.sha256(path.read_bytes()).hexdigest()[:32]
            made[machine].append(path.rename(folder / f"cpu_kernels_{level}_{digest}.so"))
    return made


def with_kernels(wheel, machine, libraries, tools, folder):
    """Write the wheel of a machine, which has libraries next to the source; its path."""
    run(tools / "bin" / "wheel", "unpack", "--dest", folder / machine, wheel)
    (content,) = (folder / machine).iterdir()
    for library in libraries:
        shutil.copy(library, content / "pytensor_vision" / SOURCE.parent.relative_to(ROOT))
    (facts,) = content.glob("*.dist-info/WHEEL")
    text = facts.read_text().replace("Root-Is-Purelib: true", "Root-Is-Purelib: false")
    tag = f"manylinux_{GLIBC.replace('.', '_')}_{machine}"
    facts.write_text(text.replace("Tag: py3-none-any", f"Tag: py3-none-{tag}"))
    run(tools / "bin" / "wheel", "pack", "--dest-dir", wheel.parent, content)
    (made,) = wheel.parent.glob(f"*-{tag}.whl")
    told = run(tools / "bin" / "auditwheel", "show", made)
    found = re.search(rf'"manylinux_(\d+)_(\d+)_{machine}"', told)
    if found is None or (int(found[1]), int(found[2])) > tuple(map(int, GLIBC.split("."))):
        raise SystemExit(f"release: {made.name} isn't for all that its name says:\n{told}")
    return made


def recipe(archive):
    """Return conda-forge's recipe, for the archive of the tag."""
    check_owner()
    repository = PROJECT["urls"]["Repository"]
    values = {
        "REPOSITORY": repository,
        "SHA256": hashlib.sha256(archive.read_bytes()).hexdigest(),
        "MAINTAINER": repository.split("/")[-2],
    }
    body = (ROOT / "recipe" / "meta.yaml").read_text().partition("{%")
    return re.sub("|".join(values), lambda word: values[word[0]], "".join(body[1:]))


def check_files(uv, folder):
    """Build all files, let twine and check-wheel-contents look at them; this machine's wheel."""
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    lock = LOCKS / "lock.txt"
    run(uv, "build", "--build-constraints", lock, "--require-hashes", "-o", dist, ROOT)
    tools = folder / "tools"
    run(uv, "venv", "--python", sys.executable, tools)
    group = ("--group", f"{ROOT / 'pyproject.toml'}:release")
    run(uv, "pip", "install", "--python", tools, "--constraint", lock, *group)
    (pure,) = dist.glob("*.whl")
    wheels = {
        machine: with_kernels(pure, machine, libraries, tools, folder)
        for machine, libraries in compile_kernels(uv, folder).items()
    }
    files = [path for path in sorted(dist.iterdir()) if path.suffix in LARGEST]
    run(tools / "bin" / "twine", "check", "--strict", *files)
    for path in files:
        if path.suffix == ".whl":
            run(tools / "bin" / "check-wheel-contents", "--config", ROOT / "pyproject.toml", path)
        size, largest = path.stat().st_size, LARGEST[path.suffix]
        print(f"{path.name}: {size:,} bytes", flush=True)
        if size > largest:
            raise SystemExit(f"release: {path.name} has more than {largest:,} bytes")
    return wheels[platform.machine()]


def find_python(uv, version):
    """Find a Python of a version, which uv downloads if need be; None if it can't."""
    for arguments in (("find", "--system"), ("install",)):
        done = subprocess.run([uv, "python", *arguments, version], capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.strip() or version
    return None


def first_program():
    """Return README's first block of Python."""
    return re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]


def try_wheel(uv, wheel, python, versions, folder):
    """Install, run and uninstall the wheel in a separate environment, and print what it did."""
    place = folder / "environment"
    run(uv, "venv", "--clear", "--python", python, place)
    needs = [f"pytensor-vision[jax,onnx,layers] @ {wheel.as_uri()}", *versions, "scikit-learn"]
    run(uv, "pip", "install", "--python", place, *needs)
    interpreter = place / "bin" / "python"
    right = float(run(interpreter, "-c", first_program(), cwd=folder).split()[-1])
    if right < 0.9:
        raise SystemExit(f"release: README's program is right on {right} of its pictures")
    bare = os.environ | {"PATH": str(place / "bin"), "PYTENSOR_FLAGS": "", "JAX_PLATFORMS": "cpu"}
    kernels = run(interpreter, "-c", KERNELS, cwd=folder, env=bare)
    ask = (
        "import platform, pytensor, jax;"
        "print(platform.python_version(), pytensor.__version__, jax.__version__)"
    )
    found = run(interpreter, "-c", ask, cwd=folder).split()
    run(uv, "pip", "uninstall", "--python", place, "pytensor-vision")
    if left := run(interpreter, "-c", LOOK, cwd=folder):
        raise SystemExit(f"release: uninstalling has changed or left: {left}")
    print(
        "Python {}, PyTensor {}, JAX {}:".format(*found),
        f"README's program is right on {right:.1%}; without a compiler, {kernels} computes what",
        "XLA does; uninstalled without a trace",
        flush=True,
    )


def run_notebook(uv, python, page, folder, **variables):
    """Run a notebook in an environment that has only what Jupyter brings; what it says at last."""
    place = folder / "jupyter"
    run(uv, "venv", "--clear", "--seed", "--python", python, place)
    run(uv, "pip", "install", "--python", place, "ipykernel", "jupytext", "nbclient")
    command = (place / "bin" / "python", "-c", NOTEBOOK, page, ROOT)
    return run(*command, cwd=folder, env=os.environ | variables)


def try_notebook(uv, wheel, python, version, folder):
    """Run the digits' notebook where only Jupyter is, and print what it says."""
    page = ROOT / "docs" / "tutorials" / "digits.md"
    said = run_notebook(uv, python, page, folder, PIP_FIND_LINKS=str(wheel.parent))
    right = [line for line in said.splitlines() if "right on" in line]
    if not right:
        raise SystemExit("release: the digits' notebook doesn't say how often it is right")
    print(f"Python {version}, the digits' notebook: {' '.join(right)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tag", help="the release's tag: be strict")
    parser.add_argument("--recipe", type=Path, metavar="ARCHIVE", help="print conda-forge's recipe")
    arguments = parser.parse_args()
    if arguments.recipe:
        print(recipe(arguments.recipe), end="")
        return 0
    if (tag := arguments.tag) is not None:
        check_tag(tag)
    uv = find_uv()
    lowest = re.search(r"pytensor>=([\d.]+)", " ".join(PROJECT["dependencies"]))[1]
    oldest = re.search(r"jax>=([\d.]+)", PROJECT["optional-dependencies"]["jax"][0])[1]
    left_out = []
    with tempfile.TemporaryDirectory() as folder:
        wheel = check_files(uv, Path(folder))
        for version in PYTHONS:
            python = find_python(uv, version)
            if python is None:
                left_out.append(version)
                continue
            low = f"pytensor=={lowest}", f"jax=={oldest}", f"jaxlib=={oldest}"
            for versions in (low, ("pytensor", "jax")):
                try_wheel(uv, wheel, python, versions, Path(folder))
            try_notebook(uv, wheel, python, version, Path(folder))
    if left_out:
        print(f"left out, for uv could not download it: Python {', '.join(left_out)}")
    return int(bool(left_out and tag))


if __name__ == "__main__":
    sys.exit(main())
