import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import pytensor
import pytensor.tensor as pt
from pytensor.graph.fg import FunctionGraph
from pytensor.link.onnx import export_onnx, from_onnx
from pytensor.link.onnx.dispatch.loops import Loop
from pytensor.link.onnx.lowering.rewriting import make_portable, rewrite_for_onnx
from pytensor.scan.basic import scan
from pytensor.scan.utils import until
from tests.link.onnx.test_basic import check_results, compare_onnx_and_py, run
from tests.utils import REFERENCE_MODE


def loop(*args, **kwargs):
    return scan(*args, return_updates=False, **kwargs)


def zeros(*shape, dtype="float32"):
    return pt.zeros(shape, dtype=dtype)


@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("dtype", ["bool", "int64", "float16"])
def test_cumulative_sum(dtype, optimize):
    x = pt.matrix("x", dtype=dtype)
    add = (lambda a, total: a | total) if dtype == "bool" else (lambda a, total: a + total)
    totals = loop(add, sequences=[x], outputs_info=[zeros(3, dtype=dtype)])
    big = 2**62 if dtype == "int64" else 1
    for n in (0, 1, 4):
        value = np.arange(n * 3).reshape(n, 3) % 7 + big
        compare_onnx_and_py([x], totals, [value], optimize=optimize)


def test_fibonacci():
    steps = pt.lscalar("steps")
    initial = {"initial": pt.as_tensor([1, 1], dtype="int64"), "taps": [-2, -1]}
    numbers = loop(lambda a, b: a + b, outputs_info=[initial], n_steps=steps)
    for n in (0, 1, 2, 90):
        compare_onnx_and_py([steps], numbers, [n])


@pytest.mark.slow
@pytest.mark.parametrize("optimize", [True, False])
def test_while(optimize):
    steps, limit = pt.lscalar("steps"), pt.fscalar("limit")

    def step(i, power, limit):
        return (power * 2, i * 10), until(power > limit)

    powers, tens = loop(
        step,
        sequences=[pt.arange(30)],
        outputs_info=[pt.as_tensor(1.0, dtype="float32"), None],
        non_sequences=[limit],
        n_steps=steps,
    )
    outputs = [powers, tens, tens.shape[0]]
    for n in (0, 1, 20):
        for end in (0.5, 100):
            compare_onnx_and_py([steps, limit], outputs, [n, end], optimize=optimize)
    # What is behind a negative index depends on PyTensor's own rewrites if there are too few.
    last = [powers[-1], tens[-1], powers[-2:]]
    compare_onnx_and_py([steps, limit], last, [20, 100], optimize=optimize)


def test_loops_that_may_end_have_a_condition():
    """Without one, a Loop ignores its body's, by the standard; onnxruntime ends all the same."""
    x = pt.dvector("x")
    doubled = loop(lambda a: (a * 2, until(a.sum() > 20)), outputs_info=[x], n_steps=9)
    value = np.array([1.0, 2.0])
    model = export_onnx([x], [doubled], verify=[value])
    (y,) = from_onnx(model, {"x": value}).outputs.values()
    assert len(y.eval(mode=REFERENCE_MODE)) == 4
    a = pt.dmatrix("a")
    for ended in (model, export_onnx([a], list(pt.linalg.eigh(a)))):
        (node,) = (node for node in ended.graph.node if node.op_type == "Loop")
        assert node.input[1]


def lstm():
    """Build a cell over a sequence with a batch; its weights, and its outputs at every step."""
    x = pt.ftensor3("x")
    weights = [pt.fmatrix("w"), pt.fmatrix("u"), pt.fvector("b")]

    def cell(x, h, c, w, u, b):
        i, f, g, o = ((x @ w + h @ u + b)[:, 4 * k : 4 * k + 4] for k in range(4))
        c = pt.sigmoid(f) * c + pt.sigmoid(i) * pt.tanh(g)
        return pt.sigmoid(o) * pt.tanh(c), c

    start = zeros(x.shape[1], 4)
    h, _ = loop(cell, sequences=[x], outputs_info=[start, start], non_sequences=weights)
    rng = np.random.default_rng(0)
    shapes = [(5, 2, 3), (3, 16), (4, 16), (16,)]
    return x, weights, h, [rng.normal(size=shape).astype("float32") for shape in shapes]


def test_gradient_of_no_steps():
    x = pt.fmatrix("x")
    totals = loop(lambda a, total: a + 0.5 * total, sequences=[x], outputs_info=[zeros(3)])
    model = export_onnx([x], pt.grad((totals**2).sum(), x))
    (gradient,) = run(model, [np.zeros((0, 3), dtype="float32")])
    assert gradient.shape == (0, 3)


def test_map_over_nothing_has_the_right_shape():
    x, y = pt.fmatrix("x"), pt.fvector("y")
    products = loop(lambda a, y: pt.outer(a, y), sequences=[x], non_sequences=[y])
    model = compare_onnx_and_py([x, y], products, [np.ones((2, 3)), np.arange(4)])
    (result,) = run(model, [np.zeros((0, 3), "float32"), np.zeros(4, "float32")])
    assert result.shape == (0, 3, 4)


@pytest.mark.slow
def test_gradients_of_several_taps():
    x, initial = pt.dvector("x"), pt.dvector("initial")

    def step(before, here, after, old, new):
        return before * new + pt.sin(here) * old + after

    y = loop(
        step,
        sequences=[{"input": x, "taps": [-1, 0, 1]}],
        outputs_info=[{"initial": initial, "taps": [-3, -1]}],
        truncate_gradient=2,
    )
    gradients = pt.grad((y**2).sum(), [x, initial])
    values = [np.linspace(0.1, 1, 7), [0.3, -0.2, 0.5]]
    compare_onnx_and_py([x, initial], [y, *gradients], values)


@pytest.mark.slow
def test_second_derivative():
    x = pt.dvector("x")
    y = loop(
        lambda a, b: pt.sin(a * b) + b,
        sequences=[x],
        outputs_info=[pt.as_tensor(0.3, dtype="float64")],
    )
    first = pt.grad(y[-1], x)
    compare_onnx_and_py([x], [first, pt.grad((first**2).sum(), x)], [np.linspace(0.1, 1, 5)])


def test_gradient_through_while():
    x = pt.dscalar("x")
    y = loop(lambda a, x: (a * x, until(a > 50)), outputs_info=[x], non_sequences=[x], n_steps=20)
    compare_onnx_and_py([x], [y, pt.grad(y.sum(), x)], [1.7])


@pytest.mark.slow
def test_nested():
    x = pt.dmatrix("x")

    def row_sums(row, total):
        inner = loop(lambda v, s: pt.exp(v) + s * total, sequences=[row], outputs_info=[total])
        return inner[-1]

    y = loop(row_sums, sequences=[x], outputs_info=[pt.as_tensor(0.1, dtype="float64")])
    whole = loop(
        lambda row: loop(lambda v, s: v + s, sequences=[row], outputs_info=[pt.zeros(())]),
        sequences=[x],
    )
    value = np.linspace(-1, 0.5, 6).reshape(2, 3)
    compare_onnx_and_py([x], [y, pt.grad(y.sum(), x), whole], [value], optimize=False)


@pytest.mark.parametrize("length", [0, 2, 7])
def test_buffers_of_any_length(length):
    """A `Scan` whose buffers are shorter or longer than what is written to them."""
    x, buffer, n, size = pt.fvector("x"), pt.fvector("buffer"), pt.lscalar("n"), pt.lscalar("size")
    y, _ = loop(
        lambda a, older, old: (a - older + 2 * old, a * 3),
        sequences=[x],
        outputs_info=[{"initial": buffer[:2], "taps": [-2, -1]}, None],
        n_steps=n,
    )
    node = y.owner.inputs[0].owner
    inputs = list(node.inputs)
    inputs[2], inputs[3] = buffer, size
    outputs = node.op.make_node(*inputs).outputs
    values = [np.arange(6), np.arange(length + 2) + 10, 5, length + 1]
    compare_onnx_and_py([x, buffer, n, size], outputs, values)


@pytest.mark.parametrize("first", [0, 1, 2])
def test_entries_of_a_loop_that_ends_early(first):
    """PyTensor's own rewrites count them from the largest number of steps."""
    limit = pt.dscalar("limit")
    doubled, more = loop(
        lambda x: ((x * 2, x + 1), until(x > limit)),
        outputs_info=[pt.as_tensor(1.0), None],
        n_steps=9,
    )
    outputs = [doubled[first], doubled[first:], more[first:3]]
    compare_onnx_and_py([limit], outputs, [5.0])
    powers = 2.0 ** np.arange(4)
    expected = [2 * powers[first], 2 * powers[first:], powers[first:3] + 1]
    results = pytensor.function([limit], outputs, mode="ONNX")(5.0)
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("last", [2, 3])
def test_last_entries_of_fewer_steps(last):
    """PyTensor's own rewrites return as many entries as there would be, the rest arbitrary."""
    n = pt.lscalar("n")
    squares, powers = loop(
        lambda i, power: (i * i, power * 2),
        sequences=[pt.arange(n)],
        outputs_info=[None, pt.as_tensor(1, dtype="int64")],
    )
    outputs = [squares[-last:], powers[-last:]]
    for steps in (1, 2, 5):
        expected = [np.arange(steps)[-last:] ** 2, 2 ** np.arange(1, steps + 1)[-last:]]
        for results in (
            run(export_onnx([n], outputs), [np.array(steps)]),
            pytensor.function([n], outputs, mode="ONNX")(steps),
        ):
            for result, wanted in zip(results, expected, strict=True):
                np.testing.assert_array_equal(result, wanted)


@pytest.mark.filterwarnings("ignore::pytensor.link.onnx.errors.DroppedCheckWarning")
def test_several_kinds_of_state():
    x, n = pt.fmatrix("x"), pt.lscalar("n")

    def step(a, count, flag, old, new):
        flag = flag ^ (count % 2 > 0)
        return count + 2**40, flag, old - new * a, (a * count).astype("float16"), a.sum()

    results = loop(
        step,
        sequences=[x],
        outputs_info=[
            pt.as_tensor(2**60 + 1, dtype="int64"),
            pt.as_tensor(np.array(True)),
            {"initial": pt.ones((2, 3), dtype="float32"), "taps": [-2, -1]},
            None,
            None,
        ],
        n_steps=n,
    )
    for steps in (0, 1, 4):
        # Python's results that aren't fed back have no columns without a step.
        chosen = [*results[:3], results[4]] if steps == 0 else results
        compare_onnx_and_py([x, n], chosen, [np.arange(12).reshape(4, 3) / 7, steps])


def test_outputs_equal_to_inputs():
    x, c = pt.fvector("x"), pt.fscalar("c")
    results = loop(
        lambda a, b, c: (b, a, a, c, pt.as_tensor(2.0, dtype="float32")),
        sequences=[x],
        outputs_info=[zeros(), None, None, None, None],
        non_sequences=[c],
    )
    compare_onnx_and_py([x, c], results, [np.arange(4), 7])


def test_dimensions_keep_their_names():
    x = pt.tensor("x", shape=(None, None, 3), dtype="float32")
    start = zeros(x.shape[1], 3)
    y = loop(lambda a, b: a + b, sequences=[x], outputs_info=[start])
    model = export_onnx([x], y, dynamic_axes={"x": {0: "T", 1: "N"}})
    dims = [d.dim_param or d.dim_value for d in model.graph.output[0].type.tensor_type.shape.dim]
    assert dims == ["T", "N", 3]


@pytest.mark.slow
def test_compiled_function():
    x, weights, h, values = lstm()
    n = pt.lscalar("n")
    powers = loop(
        lambda a: (a * 2, until(a > 100)),
        outputs_info=[pt.as_tensor(1.0, dtype="float32")],
        n_steps=n,
    )
    outputs = [h[-1], *pt.grad((h**2).sum(), [x, *weights]), powers[-1], powers]
    values = [*values, np.array(9)]
    with pytensor.config.change_flags(cxx=""):
        wanted = pytensor.function([x, *weights, n], outputs, mode=REFERENCE_MODE)(*values)
        model = export_onnx(pytensor.function([x, *weights, n], outputs, mode="NUMBA"))
    check_results(model, run(model, values), wanted)


def test_sum_of_products():
    x, y = pt.dtensor3("x"), pt.dtensor3("y")
    total = loop(
        lambda a, b, s: pt.add(a @ b, b @ a, s), sequences=[x, y], outputs_info=[pt.zeros((2, 2))]
    )
    values = np.random.default_rng(0).normal(size=(2, 4, 2, 2))
    compare_onnx_and_py([x, y], total[-1], values)


def test_loop_in_python():
    """What a `Loop` computes in Python is what the `Scan` does: differences are looked for so."""
    x = pt.dmatrix("x")
    start = {"initial": pt.ones((2, 3)), "taps": [-2, -1]}
    y, z = loop(
        lambda a, b, c: ((a * b + c, a[:2]), until(c.sum() > 40)),
        sequences=[x],
        outputs_info=[start, None],
    )
    outputs = [y, z, pt.grad(y.sum(), x)]
    fgraph = FunctionGraph([x], outputs, clone=True)
    make_portable(fgraph)
    rewrite_for_onnx(fgraph)
    assert any(isinstance(node.op, Loop) for node in fgraph.apply_nodes)
    value = np.linspace(0, 3, 12).reshape(4, 3)
    lowered = pytensor.function(fgraph.inputs, fgraph.outputs, mode=REFERENCE_MODE)(value)
    wanted = pytensor.function([x], outputs, mode=REFERENCE_MODE)(value)
    for result, reference in zip(lowered, wanted, strict=True):
        np.testing.assert_allclose(result, reference)


STEPS = [
    lambda *values: sum(values[1:], values[0]),
    lambda *values: values[0] - values[-1],
    lambda *values: pt.maximum(values[0], values[-1]) * 2,
    lambda *values: pt.switch(values[-1] > values[0], values[0], values[-1]),
]


@pytest.mark.slow
@given(
    data=st.data(),
    dtype=st.sampled_from(["int64", "float32", "float64"]),
    n_steps=st.integers(0, 5),
    sequence_taps=st.lists(st.integers(-2, 2), min_size=1, max_size=3, unique=True),
    taps=st.lists(st.integers(-4, -1), min_size=1, max_size=3, unique=True),
    step=st.sampled_from(STEPS),
    go_backwards=st.booleans(),
    is_while=st.booleans(),
    kept=st.sampled_from([np.s_[:], np.s_[-1:], np.s_[1:], np.s_[:-1], np.s_[::-1]]),
)
def test_any_scan(data, dtype, n_steps, sequence_taps, taps, step, go_backwards, is_while, kept):
    reach = max(0, *sequence_taps) - min(0, *sequence_taps)
    integers = st.integers(-9, 9)
    size = data.draw(st.integers(0, 2), label="columns")
    x_value = data.draw(hnp.arrays(dtype, (n_steps + reach, size), elements=integers), label="x")
    initial_value = data.draw(hnp.arrays(dtype, (-min(taps), size), elements=integers))
    x, initial = pt.matrix("x", dtype=dtype), pt.matrix("initial", dtype=dtype)

    def body(*values):
        new = step(*values).astype(dtype)
        outputs = [new, new + values[0], (values[0] > new).sum()]
        return (outputs, until(new.sum() > 20)) if is_while else outputs

    y, z, counts = loop(
        body,
        sequences=[{"input": x, "taps": sequence_taps}],
        outputs_info=[{"initial": initial, "taps": taps}, None, None],
        go_backwards=go_backwards,
    )
    # Without a step, Python's `z` has no columns.
    outputs = [y[kept], counts[kept]] + ([z[kept]] if n_steps else [])
    compare_onnx_and_py([x, initial], outputs, [x_value, initial_value])
