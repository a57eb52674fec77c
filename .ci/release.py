"""Builds the wheel and the sources' archive into dist/, checks both, and tries the wheel.

    python .ci/release.py [--tag v0.2.0]

The wheel is tried in bare environments, of Python 3.12, 3.13 and 3.14, each with the lowest and the
newest PyTensor that pyproject.toml admits: README's first program runs, and uninstalling leaves
PyTensor as it was. A Python that this machine lacks and uv can't download is named at the end and
left out. With --tag, as when a release is published, none may be left out, the tag is the version,
and the addresses of pyproject.toml name their owner.
"""

import argparse
import os
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
LARGEST = {".whl": 1_000_000, ".gz": 4_000_000}  # bytes

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
ours = [*site.glob("_pytensor_graft*"), *site.glob("pytensor_vision*"), *site.glob("pytensor/opt*")]
print(*[file for file in files if changed(file)], *ours)
"""


def run(*command, **options):
    """Run a command, and return what it prints; its own error text ends the program."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **options)
    if done.returncode:
        raise SystemExit(f"release: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def find_uv():
    """The uv of PATH, or the one that setup.sh has put into .venv.uv; it finds pyenv's Pythons."""
    pythons = Path.home().glob(".pyenv/versions/3.1[234]*/bin")
    os.environ["PATH"] += "".join(f"{os.pathsep}{folder}" for folder in pythons)
    if found := shutil.which("uv") or shutil.which("uv", path=ROOT / ".venv.uv" / "bin"):
        return found
    raise SystemExit("release: there is no uv: run bash setup.sh")


def check_tag(tag):
    """Refuse what must not be published."""
    if tag != f"v{PROJECT['version']}":
        raise SystemExit(f"release: the tag is {tag}, and the version {PROJECT['version']}")
    if any("/OWNER/" in url for url in PROJECT["urls"].values()):
        raise SystemExit("release: the addresses in pyproject.toml name no owner: CONTRIBUTING.md")


def check_files(uv, folder):
    """Build both files, and let twine and check-wheel-contents look at them; the wheel's path."""
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    run(uv, "build", "--build-constraints", LOCKS / "cpu.txt", "--require-hashes", "-o", dist, ROOT)
    tools = folder / "tools"
    run(uv, "venv", "--python", sys.executable, tools)
    needed = LOCKS / "release.txt"
    run(uv, "pip", "install", "--python", tools, "--require-hashes", "-r", needed)
    files = [path for path in sorted(dist.iterdir()) if path.suffix in LARGEST]
    run(tools / "bin" / "twine", "check", "--strict", *files)
    (wheel,) = dist.glob("*.whl")
    run(tools / "bin" / "check-wheel-contents", wheel)
    for path in files:
        size, largest = path.stat().st_size, LARGEST[path.suffix]
        print(f"{path.name}: {size:,} bytes", flush=True)
        if size > largest:
            raise SystemExit(f"release: {path.name} has more than {largest:,} bytes")
    return wheel


def find_python(uv, version):
    """A Python of a version, which uv downloads if need be; None if it can't."""
    for arguments in (("find", "--system"), ("install",)):
        done = subprocess.run([uv, "python", *arguments, version], capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.strip() or version
    return None


def first_program():
    """README's first block of Python."""
    return re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]


def try_wheel(uv, wheel, python, pytensor, folder):
    """Install, run and uninstall the wheel in an environment of its own, and print what it did."""
    place = folder / "environment"
    run(uv, "venv", "--clear", "--python", python, place)
    needs = [f"pytensor-vision[jax,onnx] @ {wheel.as_uri()}", pytensor, "scikit-learn"]
    run(uv, "pip", "install", "--python", place, *needs)
    interpreter = place / "bin" / "python"
    right = float(run(interpreter, "-c", first_program(), cwd=folder).split()[-1])
    if right < 0.9:
        raise SystemExit(f"release: README's program is right on {right} of its pictures")
    ask = "import platform, pytensor; print(platform.python_version(), pytensor.__version__)"
    versions = run(interpreter, "-c", ask, cwd=folder).split()
    run(uv, "pip", "uninstall", "--python", place, "pytensor-vision")
    if left := run(interpreter, "-c", LOOK, cwd=folder):
        raise SystemExit(f"release: uninstalling has changed or left: {left}")
    print(
        f"Python {versions[0]}, PyTensor {versions[1]}: README's program is right on {right:.1%};",
        "uninstalled without a trace",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tag", help="the release's tag: be strict")
    tag = parser.parse_args().tag
    if tag is not None:
        check_tag(tag)
    uv = find_uv()
    lowest = re.search(r"pytensor>=([\d.]+)", " ".join(PROJECT["dependencies"]))[1]
    left_out = []
    with tempfile.TemporaryDirectory() as folder:
        wheel = check_files(uv, Path(folder))
        for version in PYTHONS:
            python = find_python(uv, version)
            if python is None:
                left_out.append(version)
                continue
            for pytensor in (f"pytensor=={lowest}", "pytensor"):
                try_wheel(uv, wheel, python, pytensor, Path(folder))
    if left_out:
        print(f"left out, for uv could not download it: Python {', '.join(left_out)}")
    return int(bool(left_out and tag))


if __name__ == "__main__":
    sys.exit(main())
