"""PyInstaller makes a program of README's digits that runs where no Python is."""

import os
import re
import subprocess
import sys
import zipfile
from importlib import metadata

import pytest

from tests.environments import ROOT, build_wheel, run

UV = ROOT / ".venv.uv" / "bin" / "uv"


@pytest.mark.long
@pytest.mark.skipif(not UV.exists(), reason="needs setup.sh's uv")
def test_the_digits(tmp_path):
    """PyInstaller comes from the index that uv is set to; all else is this environment's."""
    environment = tmp_path / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", environment)
    python = environment / "bin" / "python"
    install = [UV, "pip", "install", "--quiet", "--python", python, "pyinstaller", "setuptools"]
    subprocess.run(install, check=True)
    (site,) = environment.glob("lib/python*/site-packages")
    with zipfile.ZipFile(build_wheel(tmp_path)) as wheel:
        wheel.extractall(site)
    packages = metadata.distribution("pytensor").locate_file("")
    (site / "zz_packages.pth").write_text(str(packages))

    program = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    (tmp_path / "digits.py").write_text(program)
    options = ("--noconfirm", "--log-level", "ERROR", "--exclude-module", "torch")
    run(python, "-m", "PyInstaller", *options, "digits.py", cwd=tmp_path)
    frozen = tmp_path / "dist" / "digits"
    environment.rename(tmp_path / "elsewhere")
    found = run(frozen / "digits", cwd=tmp_path, PATH=os.defpath)
    assert float(found.split()[-1]) > 0.9
