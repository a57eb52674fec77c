"""Who installs this package and uses none of it gets PyTensor's own behaviour.

Two processes do the same, one with PyTensor alone: without `site`, which reads the graft's file.
"""

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

pytest.importorskip("jax")

ROOT = Path(__file__).parents[1]
PROBE = ROOT / "tests/upstream_probe.py"
SITE = Path(pytest.__file__).parents[1]
MODES = ("FAST_COMPILE", "FAST_RUN", "NUMBA", "JAX")
PROCESSES = 8

# What may be there and isn't upstream's: beginnings of names, and what is said of them.
ADDED = {
    "config.linker may be onnx": "",
    "pytensor.compile.predefined_linkers[onnx]": "",
    "pytensor.compile.predefined_modes[ONNX]": "",
    "pytensor.compile.mode.predefined_linkers[onnx]": "",
    "pytensor.compile.mode.predefined_modes[ONNX]": "",
    "pytensor.compile.mode.fast_run_linkers_to_mode[onnx]": "",
    "pytensor.link.jax.guard_xla": "pytensor.link.jax.xla_guard.guard_xla",
    "pytensor.link.jax.reseed": "pytensor.link.generators.reseed",
    # They answer for names that upstream hasn't.
    "pytensor.link.jax.__getattr__": "pytensor_vision.extending._load_when_asked.",
    "pytensor.link.jax.__dir__": "pytensor_vision.extending._load_when_asked.",
    "pytensor.tensor.__getattr__": "pytensor_vision.extending._load_when_asked.",
    "pytensor.tensor.__dir__": "pytensor_vision.extending._load_when_asked.",
    "pytensor.tensor.signal.__getattr__": "pytensor_vision.extending._load_when_asked.",
    "pytensor.tensor.signal.__dir__": "pytensor_vision.extending._load_when_asked.",
    # They change nothing in a graph without an Op of ours.
    "JAX rewrites by jax_channels_last": "",
    "JAX rewrites by jax_recompute_normalized": "",
    "JAX rewrites by jax_known_length": "",
    "JAX rewrites by set_subtensor_of_make_vector_beside_our_ops": "",
    "JAX rewrites by None: pytensor.link.jax.rewriting.known_lengths.only_with_our_ops": "",
}
# Ops of upstream's for which it has no conversion to JAX.
CONVERTED = tuple(
    f"[pytensor.{name}]"
    for name in (
        "graph.op.Op",
        "scalar.basic.Complex",
        "scalar.basic.RoundHalfAwayFromZero",
        "scalar.loop.ScalarLoop",
        "scalar.math.J0",
        "scalar.math.J1",
        "scalar.math.Jv",
        "scalar.math.PolyGamma",
        "tensor.linalg.decomposition.schur.QZ",
        "tensor.linalg.solvers.tridiagonal.LUFactorTridiagonal",
        "tensor.linalg.solvers.tridiagonal.SolveLUFactorTridiagonal",
        "tensor.random.basic.HalfCauchyRV",
        "tensor.random.basic.TriangularRV",
        "tensor.random.basic.TruncExponentialRV",
        "tensor.random.basic.WeibullRV",
        "tensor.random.op.RandomVariable",
    )
)
# Ops of upstream's that it converts with NumPyro or TensorFlow Probability alone.
BY_SCIPY = "pytensor.link.jax.fixes.scalar.jax_funcify_by_scipy"
MET = "pytensor.link.conversions.import_when_met.<locals>.importing.<locals>.convert_after_import"
REPLACED = {
    # They import ours when they meet an Op of ours, and convert as upstream's do.
    "pytensor.compile.builders.OpFromGraph": MET,
    "pytensor.scalar.basic.ScalarOp": MET,
    # Each function of upstream's draws from copies of shared generators.
    "numpy.random._generator.Generator": "pytensor.link.jax.generators.state_of",
    "pytensor.compile.ops.DeepCopyOp": "pytensor.link.jax.fixes.random.jax_funcify_copy",
    "pytensor.link.jax.linker.SharedVariable": "a builtins.tuple",
    "pytensor.tensor.random.op.RandomVariable": (
        "pytensor.link.jax.fixes.random.jax_funcify_draw"
    ),
    # Upstream's raise a TypeError past integer results.
    "pytensor.compile.builders.OpFromGraph.pullback": (
        "pytensor.tensor.integer_gradients.pullback_of_inner_graph"
    ),
    "pytensor.tensor.blockwise.Blockwise.pullback": (
        "pytensor.tensor.integer_gradients.pullback_of_blockwise"
    ),
    # Upstream's refuses loops whose types don't agree on which axes have length 1.
    "pytensor.scan.op.Scan.pullback": "pytensor.scan.rewriting.axes_of_one.pullback_of_loop",
    # Upstream's draws categories with other probabilities, and its gradients are NaN far from 0.
    "pytensor.scalar.math.Log1mexp": (
        "pytensor.link.jax.fixes.scalar.jax_funcify_Log1mexp"
    ),
    "pytensor.scalar.math.Softplus": (
        "pytensor.link.jax.fixes.scalar.jax_funcify_Softplus"
    ),
    "pytensor.tensor.random.basic.CategoricalRV": (
        "pytensor.link.jax.fixes.random.jax_sample_fn_categorical"
    ),
    "pytensor.scalar.math.BetaIncInv": BY_SCIPY,
    "pytensor.scalar.math.GammaIncCInv": BY_SCIPY,
    "pytensor.scalar.math.GammaIncInv": BY_SCIPY,
    "pytensor.scalar.math.Ive": BY_SCIPY,
    "pytensor.scalar.math.Kve": BY_SCIPY,
    "pytensor.tensor.random.basic.BinomialRV": (
        "pytensor.link.jax.fixes.random.jax_sample_fn_binomial"
    ),
    "pytensor.tensor.random.basic.VonMisesRV": (
        "pytensor.link.jax.fixes.random.jax_sample_fn_by_numpy"
    ),
}
# Of Ops of ours alone; the mark is a scalar Op of ours, within upstream's Elemwise.
REWRITES = (
    "local_all_reduce_of_one_device",
    "local_drop_unread_gradients",
    "local_fold_batch_normalization_into_convolution",
    "local_remove_full_precision",
    # Of loops that upstream refuses.
    *(f"scan_agree_on_axes_of_one_{k}" for k in range(7)),
)


def probe(alone, *arguments, **environment):
    """Return what the probe finds, in a process with PyTensor alone or with us."""
    environment = os.environ | environment
    command = [sys.executable, PROBE, *map(str, arguments)]
    if alone:
        command.insert(1, "-S")
        environment["PYTHONPATH"] = str(SITE)
    done = subprocess.run(
        command, cwd=SITE, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found["path"]) == (1 if alone else 2)
    return found["probed"]


def is_ours(text, modules):
    """Return whether a text names a module of ours, or something in one."""
    name = text.removeprefix("module ").removeprefix("a ")
    return any(name == module or name.startswith(f"{module}.") for module in modules)


@pytest.mark.slow
def test_nothing_of_upstream_is_replaced_and_what_is_added_is_listed():
    # Some of PyTensor's modules compile C when they are imported: not by the tests' own flags, and
    # in a process of its own, for who compiles keeps what it asked the compiler.
    probe(True, "imports", PYTENSOR_FLAGS="")
    alone, together = (probe(which, "modules", PYTENSOR_FLAGS="") for which in (True, False))
    replaced = {
        name.partition("[")[2].removesuffix("]") or name: text
        for name, text in together.items()
        if alone.get(name, text) != text
    }
    assert replaced == REPLACED
    assert alone.keys() <= together.keys()
    added = {name: text for name, text in together.items() if name not in alone}
    ours = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in (ROOT / "pytensor").rglob("*.py")
    ]
    unknown = {}
    for name, text in added.items():
        listed = any(name.startswith(known) and text.startswith(ADDED[known]) for known in ADDED)
        key = name.partition("[")[2].removesuffix("]")
        # a class or function of ours in a table; a module or function of ours under a new name
        new = is_ours(key or text, ours)
        rewrite = " rewrites by " in name and any(f"by {r}: " in name for r in REWRITES)
        converted = ".jax_" in name and name.endswith(CONVERTED) and is_ours(text, ours)
        if not (listed or new or rewrite or converted):
            unknown[name] = text
    assert unknown == {}
    for name, text in added.items():
        if name.endswith(".local_remove_full_precision"):
            assert text == "a pytensor.tensor.elemwise.Elemwise"
        elif " rewrites by local_" in name:
            assert is_ours(text, ours)


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 200, 20))
def test_two_hundred_random_graphs(tmp_path, first):
    """They are rewritten and computed as by PyTensor alone, by processes.

    PyTensor alone has two texts for some of them, one in most processes and one in the others: see
    thoughts/upstream/merge-varies-by-process.md.  So what differs is done again in both.
    """
    seeds = range(first, first + 20)
    flags = "on_opt_error=raise,base_compiledir="
    settings = {
        # One of XLA's faults returns other numbers in each process.
        "XLA_FLAGS": "--xla_cpu_experimental_ynn_fusion_type=-reduce",
        "JAX_PLATFORMS": "cpu",
        # The threads of a BLAS share a product's sums otherwise in every process.
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    seen = {True: defaultdict(set), False: defaultdict(set)}
    for _ in range(PROCESSES):
        for alone, texts in seen.items():
            settings["PYTENSOR_FLAGS"] = f"{flags}{tmp_path / str(alone)}"
            found = probe(alone, "graphs", ",".join(map(str, seeds)), *MODES, **settings)
            assert len(found) == len(seeds) * len(MODES)
            for name, text in found.items():
                texts[name].add("\n".join(text))
        assert seen[True].keys() == seen[False].keys()
        differing = [name for name, texts in seen[True].items() if not texts & seen[False][name]]
        seeds = sorted({int(name.split()[0]) for name in differing})
        if not differing:
            return
    name = differing[0]
    assert seen[False][name] == seen[True][name], differing
