"""The test cases of the ONNX standard's operators, ``onnx.backend.test``."""

import os
import pickle
import warnings
from functools import cache
from pathlib import Path

from filelock import FileLock
from onnx.backend.test.case.node import collect_testcases


@cache
def node_cases():
    """Return all cases by name, operators' expansions into functions included.

    Making them takes seconds: in a run of tests one process does, for all.
    """
    run = os.environ.get("DIRECTORY_OF_THIS_RUN")  # from tests/conftest.py
    if run is None:
        return made()
    kept = Path(run, "node_cases.pickle")
    with FileLock(kept.with_suffix(".lock")):
        if not kept.exists():
            kept.write_bytes(pickle.dumps(made()))
    return pickle.loads(kept.read_bytes())


def made():
    # Cases provoke warnings of NumPy while they are made
    with warnings.catch_warnings(action="ignore"):
        return {case.name.removeprefix("test_"): case for case in collect_testcases(None)}
