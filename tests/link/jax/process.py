"""Code that runs in a Python of its own."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def in_a_process(code, *arguments, check=True, **variables):
    """Run code in another process, and return that when it has ended.

    Parameters
    ----------
    code : str
    *arguments : str
    check : bool
        Whether an error there is one here.
    **variables : str or None
        Of the environment; None stands for one that isn't set.
    """
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    environment = os.environ | {"PYTHONPATH": path} | variables
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True,
        env={name: value for name, value in environment.items() if value is not None},
    )  # fmt: skip
    assert done.returncode == 0 or not check, done.stderr
    return done
