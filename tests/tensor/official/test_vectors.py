"""The ONNX standard's own test cases, for every operator that our functions stand for.

Each runs in Python, in JAX, and through the exporter in onnxruntime, against the outputs that the
standard gives and with its tolerances; with static shapes, and with shapes that aren't known.
In JAX, and of the pairs of shapes and operator set, cases have theirs in turn; the others are long,
and so are cases of large images but in Python, and in JAX all but two cases of an operator.
"""

from collections import Counter

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.utils import REFERENCE_MODE

pytest.importorskip("onnx")

from tests.tensor.official.adapters import ADAPTERS, CONSTANT_INPUTS
from tests.tensor.official.cases import VERSION, cases, listed

OPERATORS = listed()  # of each case, by its name
# Whose conversions by JAX, or rewrites before, choose their form by the platform.
ASK_FOR_THE_PLATFORM = ("BatchNormalization", "Conv", "ConvTranspose")
# Case -> why it fails.
EXPECTED_FAILURES = {}


def graph(case, known):
    """Return variables and values of a case's data inputs, and its outputs.

    With ``known=False`` nothing is known of the shapes but what the operator needs: the filters'
    of a transposed convolution, and the image's where the padding follows from it.
    """
    constant = CONSTANT_INPUTS.get(case.operator, ())
    needs_image = "output_shape" in case.attributes or "auto_pad" in case.attributes
    variables, values, arguments = [], [], []
    for i, value in enumerate(case.inputs):
        if value is None or i in constant:
            arguments.append(value)
            continue
        if known or (case.operator == "ConvTranspose" and i == 1):
            shape = value.shape
        elif needs_image:
            shape = (None, None, *value.shape[2:])
        else:
            shape = (None,) * value.ndim
        variables.append(pt.tensor(f"x{i}", shape=shape, dtype=value.dtype))
        values.append(value)
        arguments.append(variables[-1])
    settings = {"n_outputs": len(case.outputs)} if case.operator == "MaxPool" else {}
    outputs = ADAPTERS[case.operator](case.attributes, *arguments, **settings)
    return variables, outputs if isinstance(outputs, list) else [outputs], values


def check(case, results):
    for result, expected in zip(results, case.outputs, strict=True):
        result = np.asarray(result)
        assert result.dtype == expected.dtype
        assert result.shape == expected.shape
        np.testing.assert_allclose(result, expected, rtol=case.rtol, atol=case.atol)


def names():
    for name in OPERATORS:
        reason = EXPECTED_FAILURES.get(name)
        yield pytest.param(name, marks=[pytest.mark.xfail(reason=reason)] if reason else [])


def in_turn(*settings, most=None):
    """Give each case one of the settings, each operator all of them; the others are long.

    So are, where `most` is given, the cases of an operator after as many.
    """
    places, counts = Counter(), Counter(OPERATORS.values())
    for case in names():
        (name,) = case.values
        operator = OPERATORS[name]
        for place, own in enumerate(settings):
            here = counts[operator] < len(settings) or place == places[operator] % len(settings)
            long = not here or "_large" in name or (most and places[operator] >= most)
            yield pytest.param(name, *own, marks=[*case.marks, *[pytest.mark.long] * bool(long)])
        places[operator] += 1


every_case = pytest.mark.parametrize("name", list(names()))
every_shape = pytest.mark.parametrize("known", [True, False], ids=["static", "unknown"])


def test_the_list_has_all_cases():
    found = {name: case.operator for name, case in cases().items()}
    assert found == OPERATORS, f"onnx {VERSION} has other test cases: look at them, list them anew"
    assert set(OPERATORS.values()) == set(ADAPTERS)


def test_expected_failures_exist():
    assert set(EXPECTED_FAILURES) <= set(OPERATORS)


@every_shape
@every_case
def test_python(name, known):
    variables, outputs, values = graph(cases()[name], known)
    check(cases()[name], pytensor.function(variables, outputs, mode=REFERENCE_MODE)(*values))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "known"), list(in_turn((False,), (True,), most=2)))
def test_jax(name, known):
    pytest.importorskip("jax")
    check_in_jax(name, known)


def check_in_jax(name, known):
    variables, outputs, values = graph(cases()[name], known)
    check(cases()[name], pytensor.function(variables, outputs, mode="JAX")(*values))


@pytest.mark.parametrize(
    "known", [pytest.param(True, marks=pytest.mark.long), False], ids=["static", "unknown"]
)
@pytest.mark.parametrize("name", [n for n in OPERATORS if OPERATORS[n] in ASK_FOR_THE_PLATFORM])
def test_jax_in_the_form_of_a_gpu(name, known):
    pytest.importorskip("jax")
    from pytensor.link.jax.target import compiling_for

    with compiling_for("cuda"):
        check_in_jax(name, known)


@pytest.mark.parametrize(
    ("name", "known", "opset"),
    list(in_turn((False, 18), (True, 20), (False, 20), (True, 18))),
)
def test_onnx(name, known, opset):
    pytest.importorskip("onnxruntime")
    from pytensor.link.onnx import export_onnx
    from tests.link.onnx.test_basic import run

    variables, outputs, values = graph(cases()[name], known)
    check(cases()[name], run(export_onnx(variables, outputs, opset_version=opset), values))
