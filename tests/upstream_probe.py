"""What PyTensor does in this process, as JSON: `test_upstream_unchanged` runs it with us and alone.

python tests/upstream_probe.py imports
python tests/upstream_probe.py modules
python tests/upstream_probe.py graphs SEED,SEED... MODE...
"""

import importlib
import json
import sys
import warnings
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from types import FunctionType, MethodType, ModuleType

import numpy as np

import pytensor
from pytensor.compile.mode import get_mode, predefined_modes
from pytensor.graph.rewriting.basic import OpToRewriterTracker, Rewriter

ROOT = Path(__file__).parents[1]
UPSTREAM = Path(pytensor.__file__).parent
# They are scripts, or need what isn't installed.
LEFT_OUT = ("bin", "d3viz", "ipython", "check_duplicate_key")
# Different in any two modules, or in any two processes.
OF_PYTHON = {
    "__builtins__", "__cached__", "__dict__", "__doc__", "__file__", "__loader__", "__orig_bases__",
    "__path__", "__spec__", "__weakref__", "_abc_impl", "pytensor_imported_time",
}  # fmt: skip
# The tests' random graphs of our own Ops.
OURS = (
    "avg_pool2d", "batch_normalization", "conv1d", "conv2d", "conv2d_transpose",
    "catalogued", "layer_normalization", "lp_pool2d", "max_pool2d", "resize",
)  # fmt: skip


def upstream_modules():
    """Import all modules of PyTensor's own, as far as their packages are installed."""
    for path in sorted(UPSTREAM.rglob("*.py")):
        parts = path.relative_to(UPSTREAM.parent).with_suffix("").parts
        name = ".".join(parts).removesuffix(".__init__")
        if not any(part in LEFT_OUT for part in parts):
            try:
                yield importlib.import_module(name)
            except ImportError as error:
                if (error.name or "").startswith("pytensor"):
                    raise


def import_our_conversions():
    """Import our conversions for mode JAX, if any: else they are imported when an Op is met."""
    ours = sys.modules.get("pytensor.link.jax.dispatch.table")
    for module in ours.OPS.values() if ours is not None else ():
        importlib.import_module(f"pytensor.link.jax.{module}")


def describe(value):
    """Describe a thing by a text that is the same in two processes."""
    if isinstance(value, ModuleType):
        return f"module {value.__name__}"
    if isinstance(value, type | FunctionType | MethodType) or hasattr(value, "registry"):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, staticmethod | classmethod):
        return describe(value.__func__)
    if isinstance(value, property):
        return describe(value.fget)
    if isinstance(value, str | int | float | type(None)):
        return repr(value)
    return f"a {type(value).__module__}.{type(value).__qualname__}"


def contents(value):
    """Return what is in a container of module level, or registered with a function, by name."""
    if hasattr(value, "registry") and hasattr(value, "dispatch"):
        value = value.registry
    if isinstance(value, Mapping):
        names = (k if isinstance(k, str) else describe(k) for k in value)
        return {name: describe(v) for name, v in zip(names, value.values(), strict=True)}
    if isinstance(value, list | tuple | set | frozenset):
        return {describe(entry): "in it" for entry in value}
    return {}


def attributes(module):
    """Describe all that a module has, and what is in its classes, containers and dispatches."""
    for name, value in vars(module).items():
        if name in OF_PYTHON:
            continue
        path = f"{module.__name__}.{name}"
        yield path, describe(value)
        yield from ((f"{path}[{key}]", text) for key, text in contents(value).items())
        if isinstance(value, type) and value.__module__ == module.__name__:
            members = {k: v for k, v in vars(value).items() if k not in OF_PYTHON}
            for key, member in members.items():
                yield f"{path}.{key}", describe(member)
                yield from ((f"{path}.{key}[{k}]", text) for k, text in contents(member).items())


def settings():
    """Yield what may be set, and to what it is."""
    config = pytensor.config
    for name, parameter in config._config_var_dict.items():
        if name not in ("compiledir", "base_compiledir"):
            yield f"config.{name}", str(getattr(config, name))
            for choice in sorted(getattr(parameter, "all", ())):
                yield f"config.{name} may be {choice}", ""


def rewrites(mode):
    """Return all rewrites that a mode does, and the Ops that each looks at."""
    found, seen, todo = {}, {}, [mode.optdb.query(mode._optimizer)]
    while todo:
        one = todo.pop()
        if id(one) in seen or isinstance(one, type | ModuleType | str | int | float):
            continue
        seen[id(one)] = one
        if isinstance(one, Rewriter):
            name = getattr(one, "fn", None) or getattr(one, "func", None) or type(one)
            tracked = one.tracks() if hasattr(one, "tracks") else None
            looked_at = sorted(describe(getattr(t, "op_type", t)) for t in tracked or ())
            found[f"{getattr(one, 'name', '')}: {describe(name)}"] = looked_at
        if isinstance(one, Rewriter | OpToRewriterTracker):
            todo += vars(one).values()
        if isinstance(one, dict):
            todo += one.values()
        elif isinstance(one, list | tuple):
            todo += one
    return found


def probe_imports():
    return [describe(module) for module in upstream_modules()]


def probe_modules():
    modules = list(upstream_modules())
    import_our_conversions()
    found = {name: text for module in modules for name, text in attributes(module)}
    found |= dict(settings())
    for mode in sorted(set(predefined_modes) - {"ONNX"}):
        for name, looked_at in rewrites(get_mode(mode)).items():
            found[f"{mode} rewrites by {name}"] = " ".join(looked_at)
    return found


def in_mode(graph, built, mode):
    """Return a graph rewritten for a mode, who compiles it, and the results to the last bit."""
    try:
        f = pytensor.function(built.inputs, built.outputs, mode=mode, on_unused_input="ignore")
        text = pytensor.dprint(f, print_type=True, file="str")
        results = [np.asarray(result) for result in f(*graph.values())]
    except Exception as error:  # it is compared, too
        return [type(error).__qualname__, str(error).split(" at 0x")[0][:200]]
    linker = type(f.maker.linker)
    bits = [sha256(f"{r.dtype} {r.shape}".encode() + r.tobytes()).hexdigest() for r in results]
    return [describe(linker), text, *bits]


def probe_graphs(seeds, *modes):
    sys.path.append(str(ROOT))
    from tests.catalogue.random_graphs import operations, programs

    for name in OURS:
        del operations.OPERATIONS[name]
    del operations.UNARY["gelu"], operations.UNARY["silu"]
    found = {}
    for seed in map(int, seeds.split(",")):
        graph = programs.random_graph(seed * programs.SIZES)
        built = programs.build(graph)
        for mode in modes:
            found[f"{seed} in mode {mode}"] = [str(graph), *in_mode(graph, built, mode)]
    return found


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    with warnings.catch_warnings(action="ignore"):
        probes = {"imports": probe_imports, "modules": probe_modules, "graphs": probe_graphs}
        result = probes[what](*arguments)
    result = {"path": list(pytensor.__path__), "probed": result}
    sys.stdout.write(json.dumps(result))
