"""The programs that users run, by group and name, for `.ci/ablate.py`.

A program is a function without parameters: what it compiles and calls is watched. A group is a
function that returns its programs by their names; imports are in there, for a group is loaded by
the process that runs it.
"""

import os
import re
import runpy
import subprocess
import sys
from functools import partial
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_loader
from pathlib import Path
from unittest.mock import patch

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
CELL = re.compile(r"```\{code-cell\} ipython3\n(?!:tags: \[skip-execution\])(.*?)```", re.DOTALL)
COMMAND = re.compile("^[!%]", re.MULTILINE)
SUITES = ("tests/link/numba", "tests/link/jax")
STEPS = 400  # of loops
CALLS = 4  # of each function, with the same values


def call(inputs, outputs, calls, mode=None, gradients=False):
    """Compile a function, and call it `CALLS` times with each tuple of values."""
    import pytensor
    from pytensor.link.jax import jax_mode

    if gradients:
        cost = sum((out.astype("float64") ** 2).sum() for out in outputs)
        floats = [v for v in inputs if v.type.dtype == "float64"]
        wrt = pytensor.grad(cost, floats, disconnected_inputs="ignore") if floats else []
        outputs = [*outputs, *wrt]
    mode = jax_mode() if mode is None else mode
    f = pytensor.function(inputs, outputs, mode=mode, on_unused_input="ignore")
    for values in calls:
        for _ in range(CALLS):
            f(*values)


def backend_mode(name):
    """Return the mode of a backend that has corrections of ours."""
    if name == "pytorch":
        from pytensor.link.pytorch.corrected import pytorch_mode

        return pytorch_mode()
    if name == "mlx":
        from pytensor.link.mlx.corrected import mlx_mode

        return mlx_mode()
    return None if name == "jax" else name


def catalogue(backend):
    """Return every operator with its gradients, all lengths open."""
    from tests.catalogue.operators import OPERATORS

    def program(example):
        inputs, outputs, values = example.graph(order=1)
        call(inputs, outputs, [values], backend_mode(backend))

    return {name: partial(program, example) for name, example in OPERATORS.items()}


def densities(linker):
    """Return the log-densities of PyMC's zoo with gradients, at the initial point and near it."""
    from tests.catalogue.pymc_models import build, names_of
    from tests.link.pymc.compare import function_of, points_of

    def program(name):
        model = build(name, "large")
        f = function_of(model, [model.logp(), model.dlogp()], linker)
        for point in points_of(model, 2):
            for _ in range(CALLS):
                f(**point)

    return {name: partial(program, name) for name in names_of("large")}


def draws():
    """Return draws of all variables of PyMC's zoo."""
    import pymc

    from pytensor.link.jax import jax_mode
    from tests.catalogue.pymc_models import build, names_of

    def program(name):
        variables = build(name, "small").basic_RVs
        f = pymc.compile([], variables, mode=jax_mode(), random_seed=1)
        for _ in range(CALLS):
            f()

    return {name: partial(program, name) for name in names_of("small")}


def masks():
    """Return results of masks that run time decides, with gradients."""
    from tests.link.jax.rewriting import test_masks as m

    inputs = [*m.VALUES, m.F, m.F2]
    # Two masks, of some elements and of all: a program of its own for each is seen.
    masks = [2.0 * mask for mask in m.MASKS[:2]]
    calls = [[*m.VALUES.values(), mask, np.outer(mask, m.SOME)] for mask in masks]
    return {
        name: partial(call, inputs, [result], calls, gradients=True)
        for name, result in m.RESULTS.items()
    }


def windows():
    """Return slices that run time moves, with gradients, and writing to them."""
    from pytensor.graph.traversal import ancestors
    from tests.link.jax.rewriting import test_windows as w

    def program(window, places):
        number = next(v for v in (w.N, w.SMALL, w.BOUNDS) if v in {*ancestors([window])})
        calls = [(w.TEN, np.array(place, number.type.dtype)) for place in places]
        call([w.X, number], [window, window.shape[0]], calls, gradients=True)

    found = {name: partial(program, *given) for name, given in w.WINDOWS.items()}
    return found | {
        f"written: {name}": partial(call, [w.Y, w.N], [out], [(w.TABLE, 1)], gradients=True)
        for name, out in w.WRITTEN.items()
    }


def sizes():
    """Return lengths that inputs decide, in small graphs and in models, with gradients."""
    from tests.link.jax.mode import test_programs_by_size, test_sizes_graphs

    def program(make):
        # The gradient of such a loop needs the number of its steps.
        call(*make(), gradients=make is not test_sizes_graphs.until_it_is_small)

    made = test_programs_by_size.GRAPHS | {make.__name__: make for make in test_sizes_graphs.MODELS}
    return {name: partial(program, make) for name, make in made.items()}


def scans():
    """Return loops of 400 steps, and their gradients."""
    import pytensor
    import pytensor.tensor as pt

    x, m, t = pt.dvector("x"), pt.vector("m", dtype="bool"), pt.arange(STEPS)
    values = np.sin(np.arange(3 * STEPS)), np.arange(3 * STEPS) % 3 > 0
    bodies = {
        "windows": lambda t, total, x, m: total + (x[3 * t : 3 * (t + 1)] ** 2).sum(),
        "lookups": lambda t, total, x, m: total * 0.9 + x[t] * x[t + 1],
        "masks": lambda t, total, x, m: total * 0.9 + x[m].mean() / (t + 1),
        "prefixes": lambda t, total, x, m: total + x[: t % 3].sum(),
    }

    def program(body, gradients):
        out = pytensor.scan(
            body, sequences=[t], outputs_info=[pt.zeros(())], non_sequences=[x, m],
            return_updates=False, strict=True,
        )  # fmt: skip
        call([x, m], [out[-1]], [values], gradients=gradients)

    return {
        f"{name}{', gradient' * gradients}": partial(program, body, gradients)
        for name, body in bodies.items()
        for gradients in (False, True)
    }


def run_code(code):
    """Run code as a script."""
    exec(compile(code, "<block>", "exec"), {"__name__": "__main__"})


def readme():
    """Return README's network."""
    blocks = BLOCK.findall((ROOT / "README.md").read_text())
    return {f"block {k}": partial(run_code, code) for k, code in enumerate(blocks)}


def examples():
    """Return the small examples."""
    folder = ROOT / "examples" / "onnx"
    paths = [path for path in folder.glob("*.py") if "argparse" not in path.read_text()]
    return {path.stem: partial(runpy.run_path, str(path), run_name="__main__") for path in paths}


def tutorials():
    """Return the cells of each tutorial as one program, unless some are commands for a shell."""
    pages = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
    cells = {page.stem: "\n".join(CELL.findall(page.read_text())) for page in pages}
    scripts = {name: code for name, code in cells.items() if code and not COMMAND.search(code)}
    return {name: partial(run_code, code) for name, code in scripts.items()}


def detector():
    """Return the demo's training, a few steps at 64 pixels."""
    from docs.tools.step_files import count

    return {"training": count}


def suites(checkout):
    """Return PyTensor's tests of Numba and JAX, in `jax_mode`: one fails if results differ."""
    loader = SourceFileLoader("upstream_suites", str(ROOT / ".ci" / "upstream_suites"))
    runner = module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(runner)
    tree = Path.cwd()
    runner.lay_tests(checkout, f"rel-{runner.tested_version()}", tree)
    results, done = tree / "results.jsonl", tree / "done.json"
    done.write_text("[]")
    os.environ |= {
        "UPSTREAM_MODE": "jax_mode", "UPSTREAM_RESULTS": str(results), "UPSTREAM_DONE": str(done),
    }  # fmt: skip
    settings = ["-c", os.devnull, "--rootdir", str(tree), "-p", "no:cacheprovider", "-q"]
    command = [sys.executable, "-m", "pytest", "--collect-only", *settings]
    listed = subprocess.run(
        [*command, *SUITES], cwd=tree, check=True, stdout=subprocess.PIPE, text=True
    )

    def program(test):
        import pytest

        from pytensor.compile import maker

        results.unlink(missing_ok=True)
        make = maker.FunctionMaker
        # The plugin replaces both, each time.
        with (
            patch.object(maker, "get_mode", maker.get_mode),
            patch.object(make, "__init__", make.__init__),
        ):
            pytest.main([*settings, "--tb=no", "-p", "no:xdist", "-p", "upstream_comparison", test])
        (facts,) = runner.read(results).values()
        if (kind := runner.kind_of(facts)) != "equal":
            raise AssertionError(kind)

    return {test: partial(program, test) for test in listed.stdout.splitlines() if "::" in test}


GROUPS = {
    "catalogue": partial(catalogue, "jax"),
    "catalogue-onnx": partial(catalogue, "ONNX"),
    **{
        f"catalogue-{name}": partial(catalogue, name)
        for name, package in (("pytorch", "torch"), ("mlx", "mlx"))
        if find_spec(package)
    },
    "densities": partial(densities, "jax_mode"),
    "densities-onnx": partial(densities, "ONNX"),
    "draws": draws,
    "masks": masks,
    "windows": windows,
    "sizes": sizes,
    "scans": scans,
    "readme": readme,
    "examples": examples,
    "tutorials": tutorials,
    "detector": detector,
}
