"""Large graphs, compiled in parts: what comes out is what Python computes."""

import weakref

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.tensor.type_other import NoneConst

pytest.importorskip("numba")

from pytensor.link.numba import parts
from tests.utils import REFERENCE_MODE

VALUE = np.random.default_rng(3).normal(size=(3, 3)).astype("float32")


@pytest.fixture
def small_parts(monkeypatch):
    """Make every graph large, and a part have four nodes or so."""
    monkeypatch.setattr(parts, "NODES", 0)
    monkeypatch.setattr(parts, "VARIABLES", 0)
    monkeypatch.setattr(parts, "PART", 4)


def compiled(inputs, outputs, **settings):
    """Return a function in parts, and its parts."""
    f = pytensor.function(inputs, outputs, mode=parts.numba_mode(), **settings)
    assert isinstance(f.vm.jit_fn, parts.FunctionInParts)
    return f, f.vm.jit_fn


def in_python(inputs, outputs, **settings):
    """Return what `compiled` does, without parts: a function that compiles nothing."""
    return pytensor.function(inputs, outputs, mode=REFERENCE_MODE, **settings), None


def assert_near(results, inputs, outputs):
    """Compare with Python: what Numba adds up otherwise is near."""
    reference, _ = in_python(inputs, outputs)
    for result, wanted in zip(results, reference(VALUE), strict=True):
        assert result.dtype == wanted.dtype
        np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-5)


def chain(x, length):
    """Return `length` products that can't be fused, and all that they give."""
    values = [x]
    for k in range(length):
        values.append(pt.dot(pt.tanh(values[-1]), x) + np.float32(k))
    return values[1:]


# ------------------------------------------------------------------------------ equal results


def mixed_types(x, seed):
    count = pt.cast(x[0, 0] > 0, "int8") + np.int8(100)
    index = (x > 0).sum() % 3
    generator, draws = pt.random.normal(rng=seed, size=(2,), return_next_rng=True)
    values = chain(x, 3)
    return generator, [
        (count + count) * np.int8(2),
        values[0][index],
        values[1][index:],
        x[:, ::-1].T,
        draws * values[2].sum(),
        pt.cast(index, "float32") * values[0],
    ]


@pytest.mark.slow
def test_types_constants_updates_and_random_numbers(small_parts):
    results = []
    for make in (compiled, in_python):
        x = pt.matrix("x", dtype="float32")
        state = pytensor.shared(np.float32(2), "state")
        table = pytensor.shared(VALUE.copy(), "table")
        seed = pytensor.shared(np.random.default_rng(1))
        generator, outputs = mixed_types(x, seed)
        updates = {seed: generator, state: state + 1, table: table * state + outputs[-1]}
        outputs += [x, pt.constant(VALUE), pt.constant(np.int16(4)), table + VALUE]
        f, _ = make([x], outputs, updates=updates)
        results.append([v for _ in range(2) for v in f(VALUE)])
        results[-1] += [state.get_value(), table.get_value(), seed.get_value().normal(size=2)]
    for result, wanted in zip(*results, strict=True):
        assert (type(result), result.dtype) == (type(wanted), wanted.dtype)
        np.testing.assert_allclose(result, wanted, rtol=1e-5)


@pytest.mark.slow
def test_inner_graphs(small_parts):
    x = pt.matrix("x", dtype="float32")
    inner = OpFromGraph([x], [pt.dot(x, x) + 1, pt.exp(x)])
    first, second = inner(x)
    third, _ = inner(pt.tanh(second))
    steps = pytensor.scan(
        lambda v: pt.dot(v, x), outputs_info=third, n_steps=3, return_updates=False
    )
    outputs = [*chain(first, 4), second, third, steps[-1]]
    f, jitted = compiled([x], outputs)
    assert len(jitted.parts) > 2
    assert_near(f(VALUE), [x], outputs)


@pytest.mark.slow
def test_values_are_written_over_across_parts(small_parts):
    x = pt.matrix("x", dtype="float32")
    values = chain(x, 6)
    y = values[0]
    for k, value in enumerate(values[1:]):
        y = pt.set_subtensor(y[0], value[1] + y[k % 2])
    f, jitted = compiled([x], [y, y.T])
    assert len(jitted.parts) > 2
    kept = VALUE.copy()
    assert_near(f(kept), [x], [y, y.T])
    np.testing.assert_array_equal(kept, VALUE)


def test_graphs_without_copies_of_outputs(small_parts):
    x, constant = pt.vector(dtype="float32"), pt.constant(VALUE[1].copy())
    f = parts.FunctionInParts(FunctionGraph([x], [constant, x, pt.exp(x)], clone=False))
    first, same, _ = f(VALUE[0])
    np.testing.assert_array_equal(first, VALUE[1])
    assert same.base is VALUE
    first[:] = 0
    np.testing.assert_array_equal(f(VALUE[0])[0], VALUE[1])


@pytest.mark.slow
def test_equal_ops_of_other_inputs(small_parts):
    """On disk they have the same key, with other types."""
    x = pt.vector(dtype="float32")
    outputs = [pt.join(0, x, x), pt.join(0, x, x, x), pt.join(0, x, x, x, x)]
    with pytensor.config.change_flags(numba__cache=True):
        f = parts.FunctionInParts(FunctionGraph([x], outputs, clone=False))
        for result, number in zip(f(VALUE[0]), [2, 3, 4], strict=True):
            np.testing.assert_array_equal(result, np.tile(VALUE[0], number))
        # columns of an array
        assert [v.shape for v in f(VALUE[:, 0])] == [(6,), (9,), (12,)]


@pytest.mark.slow
def test_no_outputs(small_parts):
    state = pytensor.shared(VALUE)
    f, _ = compiled([], [], updates={state: chain(state, 3)[-1]})
    assert f() == []
    assert not np.array_equal(state.get_value(), VALUE)


# ------------------------------------------------------------------------------ what stays


def test_smaller_graphs_are_compiled_as_a_whole():
    x = pt.matrix("x", dtype="float32")
    f = pytensor.function([x], chain(x, 20), mode=parts.numba_mode())
    assert type(f.vm.jit_fn).__name__ == "CPUDispatcher"


@pytest.mark.slow
def test_errors_of_a_part(small_parts):
    x = pt.matrix("x", dtype="float32")
    i = pt.lscalar("i")
    f, _ = compiled([x, i], [*chain(x, 5), chain(x, 3)[-1][i]])
    with pytest.raises(IndexError):
        f(VALUE, 7)
    np.testing.assert_allclose(f(VALUE, 1)[-1], f(VALUE, 1)[2][1])


@pytest.mark.slow
def test_values_are_given_up_when_no_part_needs_them(small_parts):
    x = pt.matrix("x", dtype="float32")
    _, jitted = compiled([x], chain(x, 8)[-1])
    # Errors that Numba raises and catches while it compiles keep the callers' frames, and with them
    # values, until the collector of garbage comes by.
    jitted(VALUE)
    alive, references = [], []

    def watched(part):
        def run(values):
            part(values)
            references.extend(weakref.ref(values[k]) for k in part.outputs)
            alive.append(sum(r() is not None for r in references))

        return run

    jitted.parts = [watched(part) for part in jitted.parts]
    jitted(VALUE)
    assert len(alive) > 3
    assert max(alive) <= 2


# ------------------------------------------------------------------------------ cutting


class Step(Op):
    __props__ = ()

    def perform(self, node, inputs, output_storage):
        raise NotImplementedError


def nodes_of(counts):
    """Make a chain of nodes; between k and k + 1 go `counts[k]` values."""
    made, nodes = [], []
    for count in [*counts, 0]:
        outputs = [pt.vector() for _ in range(count)]
        nodes.append(Apply(Step(), made, outputs))
        made = outputs
    return nodes


def test_cuts_where_few_values_go_across():
    counts = [3] * 20
    counts[4] = counts[11] = 1
    lengths = [len(part) for part in parts.cut(nodes_of(counts), 6)]
    assert lengths == [5, 7, 7, 2]
    assert [len(part) for part in parts.cut(nodes_of([1] * 5), 6)] == [6]
    assert parts.cut([], 6) == []


def test_never_cuts_where_a_value_stays_in_numba():
    for staying in (range(2, 11), range(20)):
        nodes = nodes_of([1] * 20)
        for k in staying:
            nodes[k].outputs[0].type = NoneConst.type
        ends = {*np.cumsum([len(part) for part in parts.cut(nodes, 4)])}
        assert 21 in ends
        assert not ends & {k + 1 for k in staying}


# ------------------------------------------------------------------------------ code on disk


def keys_of(constant):
    x = pt.matrix("x", dtype="float32")
    _, jitted = compiled([x], pt.dot(chain(x, 5)[-1], VALUE * np.float32(constant)))
    from pytensor.link.numba.cache import CACHED_SRC_FUNCTIONS

    return [CACHED_SRC_FUNCTIONS[part.function.py_func] for part in jitted.parts]


def test_keys_of_code_on_disk(small_parts):
    first, again, other = keys_of(2), keys_of(2), keys_of(3)
    assert first == again
    assert first != other
    assert first[0] == other[0]
    assert len({*first}) > 1
