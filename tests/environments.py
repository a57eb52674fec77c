"""Environments made for a test.

One holds a copy of upstream's PyTensor, and links to the running environment's other packages.
Nothing is downloaded, and nothing outside of its directory is written.
"""

import base64
import hashlib
import importlib.metadata as metadata
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[1]


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
            if entry.name in {file.parts[0] for file in upstream.files} - {".."}:
                shutil.copytree(entry, self.site / entry.name)  # with what Python has compiled
            elif entry.name not in tops | {"__pycache__"} and entry.suffix != ".pth":
                (self.site / entry.name).symlink_to(entry)
        self.upstream_files = {
            str(file): file.hash.value
            for file in upstream.files
            if file.hash is not None and (self.site / file).exists() and file.parts[0] != ".."
        }

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


def build_wheel(directory):
    """Build our wheel into a directory; its path."""
    run(
        *(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"),
        *("--wheel-dir", directory, ROOT),
    )
    (path,) = directory.glob("*.whl")
    return path
