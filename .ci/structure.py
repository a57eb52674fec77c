"""Measure the project's structure by running it, and write the table of docs/architecture.md.

    python .ci/structure.py            # measure, and write
    python .ci/structure.py --check    # measure; fail where a bar is exceeded
    python .ci/structure.py --ablate   # leave out mechanisms instead: see ablate.py

Modules are those that a fresh interpreter has executed, and files those whose functions Python's
monitoring saw entered. Each measurement is a separate process.
"""

import argparse
import builtins
import importlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "examples" / "onnx" / "onnx-yolo-demo"
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- structure: python .ci/structure.py -->\n", "<!-- /structure -->\n"
OURS = [ROOT / name for name in ("pytensor", "pytensor_vision", "examples")]
# An operator of each kind, and the inputs' numbers of axes.
OPERATORS = {
    "conv2d": 2 * [4],
    "conv_transpose2d": 2 * [4],
    "max_pool2d": [4],
    "avg_pool2d": [4],
    "batch_norm": [4],
    "layer_norm": [4],
    "interpolate": [4],
    "gelu": [2],
    "topk": [2],
}
ARGUMENTS = {
    "max_pool2d": {"kernel_size": 2},
    "avg_pool2d": {"kernel_size": 2},
    "batch_norm": {"training": True, "running_mean": None, "running_var": None},
    "layer_norm": {"normalized_shape": (None,)},
    "interpolate": {"scale_factor": 2, "mode": "bilinear"},
    "topk": {"k": 1},
}


# ------------------------------------------------------------------ what a process does and sees


def name_of(file):
    """Return the path of one of our files below the repository; None of any other."""
    path = Path(file)
    if any(path.is_relative_to(folder) for folder in OURS) and "node_modules" not in path.parts:
        return path.relative_to(ROOT).as_posix()
    return None


def executed():
    """Return our modules that this process has executed."""
    files = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
    return sorted(name for name, file in files.items() if file and name_of(file))


def entered_by(function, *arguments):
    """Return the files of ours in which functions are entered while a function runs."""
    from docs.tools.step_files import EnteredFiles

    seen = EnteredFiles()
    seen.start()
    function(*arguments)
    seen.stop()
    return {name for file in seen.files if (name := name_of(file))}


def probe_imports():
    """Return the modules that `import pytensor` executes."""
    import pytensor  # noqa: F401

    return executed()


def probe_export():
    """Return the modules that a first export adds, and the files that a second one enters."""
    import numpy as np

    import pytensor
    import pytensor.tensor as pt

    before = executed()
    from pytensor.link.onnx import export_onnx

    x = pt.tensor("x", dtype="float32", shape=(None, 1, 8, 8))
    kernels = pytensor.shared(np.zeros((4, 1, 3, 3), "float32"))
    weights = pytensor.shared(np.zeros((64, 10), "float32"))
    h = pt.nn.max_pool2d(pt.nn.silu(pt.nn.conv2d(x, kernels, padding="same")), 2)
    score = h.flatten(2) @ weights
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.onnx")
        export_onnx([x], [score], path)
        loaded = sorted({*executed()} - {*before})
        entered = entered_by(export_onnx, [x], [score], path)
    return {"loaded": loaded, "entered": sorted(entered)}


def probe_jax():
    """Return the modules of `link/jax` that a first function of `jax_mode()` imports, by lines."""
    import pytensor
    import pytensor.tensor as pt
    from pytensor.link.jax import jax_mode

    x = pt.vector("x")
    pytensor.function([x], x + 1, mode=jax_mode())([1.0])
    names = [name for name in executed() if name.startswith("pytensor.link.jax.")]
    return {name: len(Path(sys.modules[name].__file__).read_text().splitlines()) for name in names}


def probe_step():
    """Return the files that one step of the demo's training enters, its batch's drawing included.

    docs/tools/step_files.py lists them, and a test compares the demo's README with it.
    """
    from docs.tools.step_files import count

    entered = count()["run"]
    demo = DEMO.relative_to(ROOT)
    return sorted(
        [f"{demo}/{file}" for file in entered["demo"]]
        + [f"pytensor/{file}" for file in entered["package"]]
    )


def probe_operators():
    """Return, for each operator, the files that know it: those that an addition doesn't enter."""
    import pytensor
    import pytensor.tensor as pt
    from pytensor.link.jax import jax_mode
    from pytensor.link.onnx import export_onnx

    def use(function, axes):
        inputs, outputs = [pt.tensor(dtype="float32", shape=(3,) * count) for count in axes], []

        def build():
            out = function(*inputs)
            out = out[0] if isinstance(out, list | tuple) else out
            outputs.extend([out, *pytensor.grad((out**2).sum(), inputs)])

        return {
            "graph": entered_by(build),
            "JAX": entered_by(lambda: pytensor.function(inputs, outputs, mode=jax_mode())),
            "ONNX": entered_by(export_onnx, inputs, outputs),
        }

    found = {}
    for _ in range(2):  # the first time loads what is loaded when it is met
        plain = use(lambda x: x + 1, [4])
        for name, axes in OPERATORS.items():
            function = getattr(pt.nn, name, None) or getattr(pt, name)
            files = use(lambda *x, f=function, n=name: f(*x, **ARGUMENTS.get(n, {})), axes)
            found[name] = {where: sorted(files[where] - plain[where]) for where in files}
    return found


def probe_circles():
    """Return imports of a module of ours by another while it is being executed, and how many ran.

    All that can be imported here is imported: what needs a library that isn't installed is told.
    """
    found, missing, original = set(), {}, builtins.__import__

    def look(name, namespace=None, local=None, fromlist=(), level=0):
        asking = (namespace or {}).get("__name__", "")
        package = (namespace or {}).get("__package__") or ""
        absolute = importlib.util.resolve_name("." * level + name, package) if level else name
        for target in (absolute, *(f"{absolute}.{part}" for part in fromlist or ())):
            module = sys.modules.get(target)
            running = getattr(getattr(module, "__spec__", None), "_initializing", False)
            file = getattr(module, "__file__", None)
            # A package is being executed while its own modules are, and they may ask for it.
            inside = asking == target or asking.startswith(f"{target}.")
            if running and file and name_of(file) and not inside and asking in own:
                found.add(f"{asking} imports {target}")
        return original(name, namespace, local, fromlist, level)

    paths = [p for p in (ROOT / "pytensor").rglob("*.py") if p.stem != "__main__"]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths]
    own = {name.removesuffix(".__init__") for name in names}
    builtins.__import__ = look
    for name in sorted(own):
        try:
            importlib.import_module(name)
        except ImportError as error:
            missing[name] = str(error)
    return {"circles": sorted(found), "executed": len(executed()), "missing": missing}


PROBES = {
    "imports": probe_imports,
    "export": probe_export,
    "jax": probe_jax,
    "step": probe_step,
    "operators": probe_operators,
    "circles": probe_circles,
}


def measured(name):
    """Return what a probe finds, in a separate process."""
    environment = os.environ | {
        "JAX_PLATFORMS": "cpu", "JAX_DISABLE_MOST_OPTIMIZATIONS": "1", "PYTENSOR_FLAGS": "cxx=",
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "found.json")
        command = [sys.executable, __file__, "--probe", name, "--json", path]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=folder)
        if done.returncode or not path.exists():
            raise SystemExit(f"structure: {name} could not be measured\n{done.stdout}{done.stderr}")
        return json.loads(path.read_text())


# ------------------------------------------------------------------------------------- the table


def by_room(names):
    """Return how many files or modules there are in each room, in words."""
    counts = Counter()
    for name in names:
        parts = re.split(r"[./]", name)
        if parts[0] == "examples":
            room = "the demo"
        elif parts[0] == "pytensor_vision":
            room = "the root"
        else:
            room = "/".join(parts[1:3]) if parts[1] == "link" else parts[1]
        counts[room] += 1
    return ", ".join(f"{room} {count}" for room, count in sorted(counts.items()))


def rows():
    """Return rows of what was measured, its number, its bar or None, and details."""
    imports, export, jax = measured("imports"), measured("export"), measured("jax")
    step, circles = measured("step"), measured("circles")
    return [
        ("modules of ours that `import pytensor` executes", len(imports), 31, by_room(imports)),
        ("modules that the first `export_onnx` of a small network adds", len(export["loaded"]),
         None, by_room(export["loaded"])),
        ("files that one more `export_onnx` enters", len(export["entered"]), None,
         by_room(export["entered"])),
        ("modules of `link/jax` that the first function of `jax_mode()` imports", len(jax), 25,
         f"{sum(jax.values()):,} lines"),
        ("files that one step of the demo's training enters, with its batch", len(step), None,
         by_room(step)),
        (f"import circles among {circles['executed']} modules that were executed",
         len(circles["circles"]), 0, "; ".join(circles["circles"])),
    ]  # fmt: skip


def table(found, operators):
    """Return what stands between the page's markers."""
    lines = ["| what | number | at most | where |", "| --- | ---: | ---: | --- |"]
    for what, number, bar, details in found:
        lines.append(f"| {what} | {number} | {'' if bar is None else bar} | {details} |")
    lines += [
        "",
        "Files that know an operator: those entered while its graph and gradient are built and",
        "compiled in `jax_mode()` and exported, and that an addition doesn't enter.",
        "",
        "| operator | graph and gradient | JAX | ONNX | files |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, files in operators.items():
        union = set().union(*files.values())
        counts = " | ".join(str(len(files[where])) for where in ("graph", "JAX", "ONNX"))
        lines.append(f"| `{name}` | {counts} | {len(union)} |")
    return "\n".join(lines) + "\n"


def problems(found):
    """Yield what exceeds its bar, in words."""
    for what, number, bar, details in found:
        if bar is not None and number > bar:
            yield f"{what}: {number}, at most {bar}: {details}"


def replaced(page, text):
    """Return the page's text with another table."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"structure: {PAGE.name} lacks its markers {BEGIN.strip()} {END.strip()}")
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail beyond a bar")
    parser.add_argument("--probe", choices=PROBES, help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path, help=argparse.SUPPRESS)
    ablation = parser.add_argument_group("leaving out mechanisms, one at a time")
    ablation.add_argument("--ablate", action="store_true", help="write what_bears_a_load.md")
    ablation.add_argument("--only", nargs="+", default=(), metavar="GROUP", help="of programs")
    ablation.add_argument("--jobs", type=int, default=2, help="processes that run programs")
    ablation.add_argument("--most", type=int, default=12, help="programs without each mechanism")
    ablation.add_argument("--suites", type=Path, metavar="CHECKOUT", help="PyTensor's own tests")
    options = parser.parse_args()
    if options.ablate:
        import ablate

        return ablate.main(options.only, options.jobs, options.most, options.suites)
    if options.probe:
        options.json.write_text(json.dumps(PROBES[options.probe]()))
        return 0
    found = rows()
    text = table(found, measured("operators"))
    print(text)
    said = [*problems(found)]
    page = PAGE.read_text()
    if not options.check:
        PAGE.write_text(replaced(page, text))
    elif replaced(page, text) != page:
        # No failure: another processor or another Python may enter a file more.
        print("structure: docs/architecture.md says otherwise: run python .ci/structure.py")
    print("".join(f"structure: {line}\n" for line in said), end="", file=sys.stderr)
    return int(bool(said))


if __name__ == "__main__":
    sys.exit(main())
