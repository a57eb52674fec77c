"""If, Loop, Scan and sequences, through `from_onnx` and in onnxruntime."""

import numpy as np
import pytest

import pytensor.tensor as pt
from pytensor import function, grad
from pytensor.compile.mode import Mode
from pytensor.gradient import verify_grad
from pytensor.graph.replace import vectorize_graph
from pytensor.link.onnx import ImportedOpError, from_onnx
from tests.link.onnx.importing.with_onnxruntime import PYTHON, compare, in_pytensor, parsed

X = np.array([1.5, -2.0, 0.25], dtype="float32")
FAST_RUN = Mode("py", "fast_run")  # the rewrites without Numba, which compiles for seconds
IF = """(float[3] x, bool c) => (float[n] y) {
  twice = Add(x, x)
  y = If(c) <then_branch = then () => (float[3] a) { a = Mul(twice, x) },
             else_branch = otherwise () => (float[6] b) { b = Concat<axis = 0>(x, x) }>
}"""


@pytest.mark.parametrize("condition", [True, False])
def test_if_whose_branches_have_different_shapes(condition):
    compare(parsed(IF), [X, np.array(condition)])


@pytest.mark.parametrize("condition", [True, False])
def test_gradient_through_if(condition):
    imported = from_onnx(parsed(IF))
    x, c = imported.inputs.values()
    gradient = grad(imported.outputs["y"].sum(), x).eval({x: X, c: condition}, mode=PYTHON)
    np.testing.assert_allclose(gradient, 4 * X if condition else [2, 2, 2])


@pytest.mark.parametrize("condition", [True, False])
def test_if_of_a_batch(condition):
    imported = from_onnx(parsed(IF))
    (x, c), y = imported.inputs.values(), imported.outputs["y"]
    rows = pt.matrix("rows", dtype="float32", shape=(None, 3))
    found = vectorize_graph(y, {x: rows}).eval({rows: [X, -X], c: condition}, mode=PYTHON)
    each = [y.eval({x: row, c: condition}, mode=PYTHON) for row in (X, -X)]
    np.testing.assert_array_equal(found, each)


def test_if_of_a_batch_of_conditions():
    text = """(float[3] x, bool c) => (float[3] y) {
      y = If(c) <then_branch = then () => (float[3] a) { a = Neg(x) },
                 else_branch = otherwise () => (float[3] b) { b = Identity(x) }>
    }"""
    imported, flags = from_onnx(parsed(text)), pt.vector("flags", dtype="bool")
    x, c = imported.inputs.values()
    signs = vectorize_graph(imported.outputs["y"], {c: flags})
    np.testing.assert_array_equal(signs.eval({x: X, flags: [True, False]}, mode=PYTHON), [-X, X])


def test_if_of_a_constant_takes_its_branch_alone():
    text = """(float[3] x) => (float[n] y) <bool[1] c = {1}> {
      y = If(c) <then_branch = then () => (float[3] a) { a = Neg(x) },
                 else_branch = otherwise () => (float[3] b) { b = StringConcat(x, x) }>
    }"""
    (y,) = in_pytensor(parsed(text), [X])
    np.testing.assert_array_equal(y, -X)


LOOP = """(int64 trips, bool start, float[3] x) => (float[3] y, float[n, 3] all)
<float limit = {30}> {
  y, all = Loop(%s) <body = body (int64 i, bool go, float[3] v) => (go_on, next, seen) {
    f = Cast<to = 1>(i) step = Add(v, f) next = Mul(step, x)
    total = ReduceSum<keepdims = 0>(next) go_on = Less(total, limit) seen = Identity(step)
  }>
}"""


@pytest.mark.parametrize("trips", [1, 2, 5, 9])
def test_loop_ended_by_its_condition(trips):
    _, seen = compare(parsed(LOOP % "trips, start, x"), [np.array(trips), np.array(True), X])
    assert len(seen) == min(trips, 5)


def test_loop_without_a_condition_ignores_that_of_its_body():
    # onnxruntime doesn't, against the standard
    _, seen = in_pytensor(parsed(LOOP % "trips, , x"), [np.array(7), np.array(True), X])
    assert len(seen) == 7


def test_loop_known_not_to_run_collects_nothing():
    text = """(float[n, m] x) => (float[k, m] all) <int64 trips = {0}> {
      y, all = Loop(trips, , x) <body = body (int64 i, bool go, float[n, m] v)
        => (go_on, next, row) { go_on = Identity(go) next = Neg(v) row = Gather(v, i) }>
    }"""
    (found,) = in_pytensor(parsed(text), [np.ones((0, 3), "float32")])
    assert found.shape == (0, 3)


@pytest.mark.parametrize(("trips", "start"), [(0, True), (3, False)])
def test_loop_that_does_not_run(trips, start):
    text = LOOP.replace(", float[n, 3] all)", ")").replace("y, all =", "y =")
    text = text.replace(", seen)", ")").replace("seen = Identity(step)", "")
    compare(parsed(text % "trips, start, x"), [np.array(trips), np.array(start), X])


@pytest.mark.parametrize("start", [True, False])
def test_loop_that_only_its_condition_ends(start):
    """Take no memory for all iterations that a computed start might allow."""
    text = LOOP.replace(", float[n, 3] all)", ")").replace("y, all =", "y =")
    text = text.replace(", seen)", ")").replace("seen = Identity(step)", "")
    compare(parsed(text % ", start, x"), [np.array(0), np.array(start), X])


def test_loop_of_a_known_count_in_jax_and_its_gradient():
    pytest.importorskip("jax")
    text = LOOP.replace("int64 trips, bool start, ", "").replace(
        "y, all = Loop(%s)", "trips = Constant<value = int64 {3}>() y, all = Loop(trips, , x)"
    )
    imported = from_onnx(parsed(text))
    (x,) = imported.inputs.values()
    y, seen = imported.outputs.values()
    assert seen.type.shape == (3, 3)
    cost = (y * np.arange(3, dtype="float32")).sum() + seen.sum()
    outputs = [y, seen, grad(cost, x)]
    results = (function([x], outputs, mode=mode)(X) for mode in ("JAX", PYTHON))
    for result, want in zip(*results, strict=True):
        np.testing.assert_allclose(result, want, rtol=1e-5)


GROWING = """(float[2] x) => (float[n] y) <int64 trips = {3}> {
  y = Loop(%s, , x) <body = body (int64 i, bool go, float[m] v) => (go_on, next)
    { go_on = Identity(go) next = Concat<axis = 0>(v, x) }>
}"""


def test_loop_whose_value_grows():
    compare(parsed(GROWING % "trips"), [X[:2]])
    text = GROWING.replace("float[2] x", "float[2] x, int64 n") % "n"
    with pytest.raises(ImportedOpError, match=r"changes from float32 of shape \(2,\)"):
        from_onnx(parsed(text))


@pytest.mark.parametrize("next_", ["Concat<axis = 0>(v, x)", "Slice(v, one, many)"])
@pytest.mark.parametrize("condition", ["", "true"])
def test_loop_whose_open_length_changes(next_, condition):
    text = f"""(float[n] x) => (float[m] y)
    <int64 trips = {{3}}, bool true = {{1}}, int64[1] one = {{1}}, int64[1] many = {{99}}> {{
      y = Loop(trips, {condition}, x) <body = body (int64 i, bool go, float[k] v) => (go_on, next)
        {{ go_on = Identity(go) next = {next_} }}>
    }}"""
    compare(parsed(text), [np.arange(5, dtype="float32")])


@pytest.mark.parametrize("shorter", ["ReduceSum(v)", "Slice(v, zero, one)"])
def test_loop_whose_value_shrinks_when_it_runs(shorter):
    text = f"""(int64 trips, float[n] x) => (float[m] y)
    <int64[1] zero = {{0}}, int64[1] one = {{1}}> {{
      y = Loop(trips, , x) <body = body (int64 i, bool go, float[k] v) => (go_on, next)
        {{ go_on = Identity(go) next = {shorter} }}>
    }}"""
    with pytest.raises(AssertionError, match="SpecifyShape"):
        in_pytensor(parsed(text), [np.array(2), X])


def test_loop_carries_a_sequence():
    text = """(float[3] x) => (float[3, n] y) <int64 trips = {3}> {
      none = SequenceEmpty()
      found = Loop(trips, , none) <body = body (int64 i, bool go, seq(float[m]) v)
        => (go_on, seq(float[m]) next) {
          go_on = Identity(go) f = Cast<to = 1>(i) element = Mul(x, f)
          next = SequenceInsert(v, element)
        }>
      y = ConcatFromSequence<axis = 1, new_axis = 1>(found)
    }"""
    compare(parsed(text), [X])


SCAN = """(float[2] h, float[2, 4] x, float[4, 2] z)
  => (float[2] last, float[2, 4] hs, float[4, 2] os) {
  last, hs, os = Scan<
    num_scan_inputs = 2, scan_input_axes = [1, 0], scan_input_directions = [0, 1],
    scan_output_axes = [-1, 0], scan_output_directions = [1, 0],
    body = body (float[2] before, float[2] a, float[2] b) => (after, seen, other)
      { sum = Add(before, a) after = Mul(sum, b) seen = Neg(after) other = Sub(a, h) }
  >(h, x, z)
}"""


def scan_values():
    rng = np.random.default_rng(5)
    return [rng.normal(size=shape).astype("float32") for shape in ((2,), (2, 4), (4, 2))]


def test_scan_along_axes_and_backwards():
    results = compare(parsed(SCAN), scan_values())
    assert [r.shape for r in results] == [(2,), (2, 4), (4, 2)]


BATCHES = """(int64[B] n, float[B] h, float[B, T] x, float w)
  => (float[B] last, float[B, T] all) {
  last, all = Scan<num_scan_inputs = 1, directions = [1],
    body = body (float c, float r) => (float k, float s)
      { q = Div(w, r) k = Add(c, q) s = Identity(k) }>(n, h, x)
}"""


def test_scan_of_batches_reads_no_padding():
    """Of opset 8; a division by the padding, 0, would spoil the gradients."""
    imported = from_onnx(parsed(BATCHES, opset=8))
    _, _, x, w = inputs = list(imported.inputs.values())
    last, collected = imported.outputs.values()
    compute = function(inputs, [last, collected, *grad(last.sum(), [x, w])], mode=PYTHON)
    rows = np.float32([[1, 2, 0], [5, 0, 0], [4, 2, 1]])
    last, collected, slopes, slope = compute(np.array([2, 1, 3]), X, rows, np.float32(2))
    np.testing.assert_allclose(last, X + np.float32([3, 0.4, 3.5]), rtol=1e-6)
    np.testing.assert_allclose(collected, [[2.5, 4.5, 0], [-1.6, 0, 0], [2.25, 3.25, 3.75]])
    np.testing.assert_allclose(slopes, [[-2, -0.5, 0], [-0.08, 0, 0], [-0.125, -0.5, -2]])
    np.testing.assert_allclose(slope, 1.5 + 0.2 + 1.75)


def test_scan_of_batches_that_are_empty():
    """Which onnxruntime refuses; what is collected then is undefined, here 0."""
    values = np.array([2, 0, 3]), X, np.float32([[1, 2, 0], [0, 0, 0], [4, 2, 1]]), np.float32(2)
    last, collected = in_pytensor(parsed(BATCHES, opset=8), values)
    np.testing.assert_array_equal(last, X + np.float32([3, 0, 3.5]))
    np.testing.assert_array_equal(collected, [[2.5, 4.5, 0], [0, 0, 0], [2.25, 3.25, 3.75]])


def test_gradient_through_scan():
    model = parsed(SCAN.replace("float[", "double["))

    def cost(*inputs):
        outputs = from_onnx(model, dict(zip("hxz", inputs, strict=True))).outputs.values()
        assert [out.type.shape for out in outputs] == [(2,), (2, 4), (4, 2)]
        return sum(pt.sin(out).sum() for out in outputs)

    values = [value.astype("float64") for value in scan_values()]
    verify_grad(cost, values, rng=np.random.default_rng(7), mode=Mode("py", "fast_compile"))


def test_scan_of_different_lengths_is_refused():
    with pytest.raises(ImportedOpError, match=r"different lengths: \[4, 5\]"):
        from_onnx(parsed(SCAN.replace("float[4, 2] z", "float[5, 2] z")))


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_loop_of_a_batch(direction):
    """The type of a batch doesn't say that a sequence has one row in each step."""
    text = f"""(float[n, 1, 2] x, float[1, 12, 2] w, float[1, 12, 3] r) => (float[n, 1, 1, 3] y)
    {{ y = LSTM<hidden_size = 3, direction = "{direction}">(x, w, r) }}"""
    imported, rng = from_onnx(parsed(text)), np.random.default_rng(3)
    (x, *weights), y = imported.inputs.values(), imported.outputs["y"]
    values = {v: rng.normal(size=v.type.shape).astype("float32") for v in weights}
    rows = pt.tensor4("rows", dtype="float32")
    sequences = rng.normal(size=(2, 4, 1, 2)).astype("float32")
    found = vectorize_graph(y, {x: rows}).eval({rows: sequences} | values, mode=PYTHON)
    each = [y.eval({x: sequence} | values, mode=PYTHON) for sequence in sequences]
    np.testing.assert_allclose(found, each, rtol=1e-6)


def test_random_numbers_in_a_body_are_refused():
    text = SCAN.replace("other = Sub(a, h)", "other = RandomNormalLike(a)")
    with pytest.raises(ImportedOpError, match="draws random numbers"):
        from_onnx(parsed(text))


def test_sequences():
    text = """(float[5, 2] x) => (float[2] a, float[n, 2] b, int64 length, float[6, 2] c)
    <int64 two = {2}, int64 last = {-1}> {
      rows = SplitToSequence<keepdims = 0>(x) parts = SplitToSequence(x, two)
      a = SequenceAt(rows, last) shorter = SequenceErase(parts, last)
      b = ConcatFromSequence<axis = 0>(shorter) more = SequenceInsert(rows, a, last)
      doubled = SequenceMap(more, a)
        <body = body (float[2] r, float[2] s) => (float[2] t) { t = Add(r, s) }>
      length = SequenceLength(parts) c = ConcatFromSequence<axis = 0, new_axis = 1>(doubled)
    }"""
    compare(parsed(text), [np.arange(10, dtype="float32").reshape(5, 2) ** 2])


@pytest.mark.slow
@pytest.mark.parametrize("sizes", ["2, 3", "N, 3"])
def test_what_a_loop_collects_has_its_sizes_without_an_iteration(sizes):
    text = f"""g (int64 n, float[{sizes}] x) => (float[{sizes}] y, float[K, {sizes}] ys) {{
        y, ys = Loop (n, , x) <body = b (int64 i, bool c, float[{sizes}] h)
            => (bool d, float[{sizes}] k, float[{sizes}] s) {{
                d = Identity (c) k = Add (h, h) s = Neg (k) }}> }}"""
    x = np.arange(6, dtype="float32").reshape(2, 3)
    for mode in (PYTHON, FAST_RUN):
        for trips in (0, 2):
            # onnxruntime loses sizes without an iteration
            wanted = np.array([-2 * x, -4 * x][:trips]).reshape(trips, 2, 3)
            _, ys = in_pytensor(parsed(text), [np.array(trips), x], mode)
            np.testing.assert_array_equal(ys, wanted)


def test_sizes_that_an_iteration_computes_are_open_without_one():
    """The body would have to run for them."""
    text = """g (int64 n, float[N] x) => (float[N] y, int64[K, A, B] ys) {
        y, ys = Loop (n, , x) <body = b (int64 i, bool c, float[N] h)
            => (bool d, float[N] k, int64[A, B] s) {
                d = Identity (c) k = Add (h, h) s = NonZero (k) }> }"""
    (_, ys) = compare(parsed(text), [np.array(2), np.float32([0, 1, 1])])
    assert ys.shape == (2, 1, 2)
