"""ONNX's own test vectors for its operators, through `from_onnx`.

    python -m tests.link.onnx.importing.official [PATTERN] [--why] [--mode JAX | jax_mode]

prints how many cases pass, are refused, fail or give wrong numbers; `--why` says it of each.
"""

import argparse
import re
from collections import Counter

import numpy as np
from onnx import TensorProto
from onnx.numpy_helper import to_array

from pytensor import function
from pytensor.compile.mode import Mode
from pytensor.graph.basic import Variable
from pytensor.link.onnx import ImportedModelError, ImportedOpError, from_onnx
from pytensor.tensor.basic import constant
from tests.node_cases import node_cases

PYTHON = Mode("py", None)  # as the graph is, without rewrites

# Cases whose results can't be those of the standard, by how their names begin, and why.
NOT_COMPARED = {
    "bernoulli": "random numbers, which differ from runtime to runtime",
    "dft_inverse": "the standard's own results have rounding errors of 2e-7 where 0 is right",
}


def not_compared(name):
    """Return why a case's results can't be those of the standard, or None."""
    return next((why for start, why in NOT_COMPARED.items() if name.startswith(start)), None)


def arrays(values):
    """Yield the variables or arrays in nested lists, in order."""
    for value in values:
        if isinstance(value, list | tuple):
            yield from arrays(value)
        else:
            yield value


def array_of(value):
    """Return a value, which some cases give as it would be in a file."""
    return to_array(value) if isinstance(value, TensorProto) else value


def small(name, value):
    """Return whether a floating-point input is one that PyTensor may have to know."""
    of_numpy = value.dtype.isbuiltin != 2  # as the dtypes of ml_dtypes have it
    return of_numpy and (value.ndim == 0 or name in ("roi", "scales"))


def encoded(value, strings):
    """Encode an array of strings as numbers that stand for them; leave any other as it is."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "OSU":
        return value
    texts = (v.decode() if isinstance(v, bytes) else str(v) for v in value.flat)
    numbers = [strings.index(v) if v in strings else -1 for v in texts]
    return np.array(numbers, dtype="int64").reshape(value.shape)


def run(case, mode=PYTHON, integers_known=False):
    """Raise an error where a case's results aren't those of the standard.

    With `integers_known`, inputs that PyTensor may have to know are constants: integers such as
    axes and shapes, flags, scalars, and how much to resize.
    """
    model = case.model
    for values, wanted in case.data_sets:
        names = [v.name for v in model.graph.input]
        values = dict(zip(names, map(array_of, values), strict=True))
        constants = {}
        if integers_known:
            constants = {
                name: constant(v)
                for name, v in values.items()
                if isinstance(v, np.ndarray | np.generic)
                and (v.dtype.kind in "iub" or (v.dtype.kind == "f" and small(name, v)))
            }
        imported = from_onnx(model, inputs=constants)
        inputs = [v for name, v in imported.inputs.items() if name not in constants]
        values = [v for name, v in values.items() if name not in constants]
        results = list(imported.outputs.values())
        values = [encoded(v, imported.strings) for v in values]
        compute = function(inputs, list(arrays(results)), mode=mode, on_unused_input="ignore")
        computed = iter(compute(*values))
        for result, value in zip(results, wanted, strict=True):
            expected = [value] if isinstance(result, Variable) else list(value)
            variables = [result] if isinstance(result, Variable) else result
            assert len(expected) == len(variables)
            for want in expected:
                got, want = next(computed), encoded(np.asarray(array_of(want)), imported.strings)
                assert got.dtype == want.dtype, f"dtype {got.dtype}, should be {want.dtype}"
                assert got.shape == want.shape, f"shape {got.shape}, should be {want.shape}"
                np.testing.assert_allclose(got, want, rtol=case.rtol, atol=case.atol)


def why_refused(error):
    """Return why the first of the nodes that can't be imported can't, or the model as a whole."""
    return error.failures[0][2] if isinstance(error, ImportedOpError) else str(error)


def outcome(name, case, mode=PYTHON):
    """Return what comes of a case, and why: with integers known if it can't be had without.

    Modes may need lengths that the importer leaves open: JAX's programs have fixed sizes.
    """
    if reason := not_compared(name):
        return "not compared", reason
    for kind, known in (("passed", False), ("passed with integers known", True)):
        try:
            run(case, mode, integers_known=known)
            return kind, ""
        except (ImportedOpError, ImportedModelError) as error:
            found = "refused", why_refused(error)
        except AssertionError as error:
            return "WRONG", " ".join(str(error).split())[:150]
        except Exception as error:
            found = "FAILED", f"{type(error).__name__}: {error}".splitlines()[0][:200]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--why", action="store_true", help="a line for each that doesn't pass")
    parser.add_argument("--mode", default=PYTHON, help="a mode of PyTensor's, by default Python")
    options = parser.parse_args()
    if options.mode == "jax_mode":
        from pytensor.link.jax import jax_mode

        options.mode = jax_mode()
    found = Counter()
    for name, case in node_cases().items():
        if not re.search(options.pattern, name):
            continue
        kind, reason = outcome(name, case, options.mode)
        found[kind] += 1
        if options.why and reason:
            print(f"{kind:8} {name}: {reason}", flush=True)
    print(", ".join(f"{n} {kind}" for kind, n in found.most_common()))


if __name__ == "__main__":
    main()
