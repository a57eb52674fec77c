"""Seeds, states and generators of a model's draws."""

import numpy as np
import pytest
import scipy.stats as st

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx import (
    DroppedRandomStateWarning,
    UnsupportedOpError,
    export_onnx,
    onnx_funcify,
)
from tests.link.onnx.extras.random.test_random import (
    P_VALUE,
    N,
    draw,
    session_of,
    shared_rng,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore::pytensor.link.onnx.errors.DroppedRandomStateWarning",
    "ignore:RandomVariable Ops will stop hiding:DeprecationWarning",
)


def correlation_is_small(x, y):
    x, y = np.ravel(x), np.ravel(y)
    tau = st.spearmanr(x, y).statistic
    # Two points of a lattice can depend on each other without any correlation.
    cells = np.histogram2d(st.rankdata(x), st.rankdata(y), bins=8)[0]
    return abs(tau) < 4 / np.sqrt(x.size) and st.chisquare(cells.ravel()).pvalue > P_VALUE


def test_draws_are_independent():
    rng_1, x = shared_rng().normal(0, 1, size=(4, N))
    rng_2, y = rng_1.normal(0, 1, size=(4, N))
    _, z = rng_2.normal(0, 1, size=(4, N))
    _, other = shared_rng(21).normal(0, 1, size=(4, N))
    first, second = draw([x, y, z, other], runs=2, opset=18)
    for i, j in ((0, 1), (0, 2), (1, 2), (0, 3)):
        assert correlation_is_small(first[i], first[j])
    for i in range(4):
        assert correlation_is_small(first[i], second[i])
        assert correlation_is_small(first[0][i], first[0][i - 1])
    assert correlation_is_small(first[0][:, 1:], first[0][:, :-1])


def test_draws_from_one_state_are_equal():
    rng = shared_rng()
    x = pt.random.normal(0, 1, size=(5,), rng=rng)
    y = pt.random.normal(3, 2, size=(5,), rng=rng)
    (a, b, c), later = draw([x, y, pt.random.normal(0, 1, size=(5,), rng=rng)], runs=2)
    np.testing.assert_allclose(b, 3 + 2 * a)
    np.testing.assert_array_equal(c, a)
    assert (later[0] != a).all()


def test_export_is_reproducible():
    def models(seed):
        rng = shared_rng(seed)
        rng, x = rng.normal(size=(3,))
        _, y = rng.gamma(x**2, scale=1.0)
        outputs = [x, y]
        return [export_onnx([], outputs, optimize=False) for _ in range(2)]

    first, second = models(1)
    again, _ = models(1)
    assert first.SerializeToString() == second.SerializeToString() == again.SerializeToString()
    other, _ = models(2)
    results = [session_of(model).run(None, {}) for model in (first, second, other)]
    for a, b, c in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b)
        assert (a != c).all()


def test_seeds_do_not_depend_on_the_rest_of_the_graph():
    x = pt.vector("x", dtype="float64")
    rng, a = shared_rng().normal(size=(3,))
    _, b = rng.normal(size=(3,))
    alone = draw([a, b])
    among_others = draw([pt.exp(x) + a, b], [x], [np.zeros(3)])
    np.testing.assert_allclose(among_others[0], 1 + alone[0])
    np.testing.assert_array_equal(among_others[1], alone[1])


def test_uniform_has_no_zero_logarithm():
    # Single precision would draw a zero among these.
    _, x = shared_rng().exponential(size=(1, 2**21), dtype="float32")
    _, y = shared_rng().uniform(size=(1, 2**21), dtype="float64")
    x, y = draw([x, y])
    assert np.isfinite(x).all()
    assert x.min() > 0
    assert y.max() < 1
    assert len(np.unique(y)) == y.size


def test_generators_as_inputs_and_constants():
    rng = pt.random.rng("dice")
    next_rng, x = rng.normal(size=(4,))
    _, y = next_rng.normal(size=(4,))
    with pytest.warns(DroppedRandomStateWarning, match="dice can only seed"):
        model = export_onnx([rng], [x, y, next_rng])
    assert not model.graph.input
    a, b = session_of(model).run(None, {})
    assert (a != b).all()
    made = pt.random.normal(size=(4,), rng=pt.random.default_rng(3))
    constant = pt.random.normal(
        size=(4,), rng=pt.random.type.random_generator_type.make_constant(np.random.default_rng(3))
    )
    for variable in (made, constant):
        np.testing.assert_array_equal(draw(variable), draw(variable))


def test_random_stream_and_default_generator():
    with pytest.warns(FutureWarning):
        stream = pt.random.RandomStream(7)
    with pytest.warns(DeprecationWarning, match="default_update"):
        x, y = stream.normal(size=(4,)), stream.normal(size=(4,))
    a, b = draw([x, y])
    assert (a != b).all()
    with pytest.warns(DeprecationWarning, match="without an explicit rng"):
        c = draw(pt.random.normal(size=(4,)))
    assert np.isfinite(c).all()


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_compiled_function(mode):
    rng = shared_rng(name="dice")
    p = pt.dscalar("p")
    next_rng, x = rng.gamma(p, scale=2.0, size=(N,))
    with pytensor.config.change_flags(cxx=""):
        function = pytensor.function([p], x, updates={rng: next_rng}, mode=mode)
    with pytest.warns(DroppedRandomStateWarning, match="dice"):
        model = export_onnx(function)
    (sample,) = session_of(model).run(None, {"p": np.array(3.0)})
    assert st.kstest(sample, st.gamma(3, scale=2).cdf).pvalue > P_VALUE


def test_warning_names_every_generator_once():
    rngs = [shared_rng(1, "first"), shared_rng(2, "second")]
    outputs = [output for rng in rngs for output in rng.normal()]
    with pytest.warns(DroppedRandomStateWarning, match="first, second can only seed") as record:
        export_onnx([], outputs)
    assert len(record) == 1


def test_random_models_are_not_verified():
    with pytest.raises(ValueError, match="can't be verified"):
        export_onnx([], shared_rng().normal()[1], verify=[])


def test_user_random_variable_is_refused():
    class Unknown(pt.random.op.RandomVariable):
        name = "unknown"
        signature = "()->()"
        dtype = "float64"

    with pytest.raises(UnsupportedOpError, match="no converter is registered"):
        export_onnx([], Unknown()(1.0, rng=shared_rng()))


def test_every_random_variable_has_a_converter():
    module = pt.random.basic
    ops = [v for v in vars(module).values() if isinstance(v, type)]
    ops = [v for v in ops if issubclass(v, pt.random.op.RandomVariable)]
    bases = {pt.random.op.RandomVariable, module.ScipyRandomVariable}
    onnx_funcify.load()
    missing = [v for v in ops if v not in bases and v not in onnx_funcify.registry]
    assert len(ops) > 30
    assert not missing


def test_random_walk():
    def step(x, rng):
        next_rng, x = rng.normal(x, 1.0)
        return x, next_rng

    def walk(seed):
        start = pt.zeros((2,), dtype="float64")
        path, _ = pytensor.scan(
            step, outputs_info=[start, shared_rng(seed)], n_steps=500, return_updates=False
        )
        return pt.diff(path, axis=0)

    first, second = draw([walk(1), walk(2)], runs=2)
    samples = [steps[:, i] for steps in (*first, *second) for i in range(2)]
    for i, sample in enumerate(samples):
        assert st.kstest(sample, "norm").pvalue > P_VALUE
        assert abs(np.corrcoef(sample[1:], sample[:-1])[0, 1]) < 4 / np.sqrt(500)
        for other in samples[:i]:
            assert abs(np.corrcoef(sample, other)[0, 1]) < 4 / np.sqrt(500)
