"""What exported models draw, with the seeds that are in the models."""

import numpy as np
import pytest
import scipy.stats as st
from hypothesis import given
from hypothesis import strategies as hs

import pytensor.tensor as pt
from pytensor.link.onnx import export_onnx
from tests.link.onnx.test_basic import session_of

pytestmark = pytest.mark.filterwarnings(
    "ignore::pytensor.link.onnx.errors.DroppedRandomStateWarning",
    "ignore:RandomVariable Ops will stop hiding:DeprecationWarning",
)
N = 4000
# The seeds are fixed: what passes once passes always.
P_VALUE = 1e-3
OPSETS = (18, 20, 24)


def shared_rng(seed=20, name=None):
    return pt.random.shared_rng(np.random.default_rng(seed), name=name)


def draw(outputs, inputs=(), values=(), *, opset=20, runs=1, seeds=(), **kwargs):
    """Return results of the model's runs, one after the other, in one session.

    `seeds` has one for each run, if the model has an input for them.
    """
    session = session_of(export_onnx(list(inputs), outputs, opset_version=opset, **kwargs))
    names = [i.name for i in session.get_inputs()]
    feed = {
        name: np.asarray(value, dtype=variable.type.dtype)
        for name, value, variable in zip(names[: len(inputs)], values, inputs, strict=True)
    }
    given = [{"seed": np.array(seed)} for seed in seeds] or [{}] * runs
    results = [session.run(None, feed | seed) for seed in given]
    results = results if isinstance(outputs, list) else [result[0] for result in results]
    return results if runs > 1 else results[0]


CONTINUOUS = {
    "uniform": ((-2.0, 3.0), st.uniform(-2, 5)),
    "normal": ((1.0, 2.0), st.norm(1, 2)),
    "halfnormal": ((1.0, 2.0), st.halfnorm(1, 2)),
    "lognormal": ((0.5, 0.7), st.lognorm(0.7, scale=np.exp(0.5))),
    "exponential": ((3.0,), st.expon(scale=3)),
    "weibull": ((1.7,), st.weibull_min(1.7)),
    "pareto": ((2.5, 3.0), st.pareto(2.5, scale=3)),
    "gumbel": ((1.0, 2.0), st.gumbel_r(1, 2)),
    "logistic": ((1.0, 2.0), st.logistic(1, 2)),
    "laplace": ((1.0, 2.0), st.laplace(1, 2)),
    "cauchy": ((1.0, 2.0), st.cauchy(1, 2)),
    "halfcauchy": ((1.0, 2.0), st.halfcauchy(1, 2)),
    "triangular": ((-1.0, 0.5, 4.0), st.triang(0.3, -1, 5)),
    "truncexpon": ((1.5, 1.0, 2.0), st.truncexpon(1.5, 1, 2)),
    "wald": ((2.0, 3.0), st.invgauss(2 / 3, scale=3)),
    "gamma": ((2.5, 2.0), st.gamma(2.5, scale=2)),
    "beta": ((2.0, 3.5), st.beta(2, 3.5)),
    "invgamma": ((3.0, 2.0), st.invgamma(3, scale=2)),
    "gengamma": ((2.0, 1.5, 3.0), st.gengamma(2 / 1.5, 1.5, scale=3)),
    "t": ((3.0, 1.0, 2.0), st.t(3, 1, 2)),
    "vonmises": ((0.5, 2.0), st.vonmises(2, 0.5, 1)),
    "chisquare": ((3.0,), st.chi2(3)),
}
EXTREME = [
    ("gamma", (0.2, 2.0), st.gamma(0.2, scale=2)),
    ("gamma", (1.0, 2.0), st.expon(scale=2)),
    ("gamma", (1e6, 1.0), st.gamma(1e6)),
    ("beta", (0.05, 0.1), st.beta(0.05, 0.1)),
    ("beta", (1e5, 2e5), st.beta(1e5, 2e5)),
    ("truncexpon", (1e-9, 0.0, 1e9), st.uniform(0, 1)),
    ("triangular", (0.0, 0.0, 2.0), st.triang(0, 0, 2)),
    ("triangular", (0.0, 2.0, 2.0), st.triang(1, 0, 2)),
    ("wald", (1.0, 1e-3), st.invgauss(1e3, scale=1e-3)),
    ("vonmises", (0.0, 0.0), st.uniform(-np.pi, 2 * np.pi)),
    ("vonmises", (0.0, 1e-6), st.uniform(-np.pi, 2 * np.pi)),
    ("vonmises", (0.0, 1e10), st.norm(0, 1e-5)),
    ("t", (0.5, 0.0, 1.0), st.t(0.5)),
]


def continuous(name, parameters, dtype="float64", size=(N,)):
    function = getattr(shared_rng(), name)
    if name == "chisquare":
        return function(*parameters, size=size)[1]
    if name == "gamma":
        shape, scale = parameters
        return function(shape, scale=scale, size=size, dtype=dtype)[1]
    return function(*parameters, size=size, dtype=dtype)[1]


@pytest.mark.parametrize(("dtype", "opset"), [("float32", 18), ("float64", 24)])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name, dtype, opset):
    parameters, law = CONTINUOUS[name]
    variable = continuous(name, parameters, dtype)
    sample = draw(variable, opset=opset)
    assert sample.dtype == variable.type.dtype
    assert sample.shape == (N,)
    assert np.isfinite(sample).all()
    assert st.kstest(sample, law.cdf).pvalue > P_VALUE


@pytest.mark.parametrize(("name", "parameters", "law"), EXTREME)
def test_continuous_at_extreme_parameters(name, parameters, law):
    assert st.kstest(draw(continuous(name, parameters)), law.cdf).pvalue > P_VALUE


@pytest.mark.slow
def test_rejection_in_detail():
    sample = draw(continuous("vonmises", (0.0, 1.0), size=(300_000,)))
    assert st.kstest(sample, st.vonmises(1).cdf).pvalue > P_VALUE


@pytest.mark.parametrize("opset", OPSETS)
def test_parameters_of_broadcast_axes(opset):
    loc, scale = pt.dmatrices("loc", "scale")
    _, x = shared_rng().normal(loc, scale)
    sample = draw(x, [loc, scale], [np.zeros((30, 1)), np.ones((1, 40))], opset=opset)
    assert len(np.unique(sample)) == 1200


DISCRETE = [
    ("bernoulli", (0.3,), st.bernoulli(0.3)),
    ("geometric", (0.3,), st.geom(0.3)),
    ("poisson", (0.7,), st.poisson(0.7)),
    ("poisson", (40.0,), st.poisson(40)),
    ("poisson", (1e7,), st.poisson(1e7)),
    ("binomial", (1, 0.3), st.binom(1, 0.3)),
    ("binomial", (25, 0.3), st.binom(25, 0.3)),
    ("binomial", (10**9, 0.9), st.binom(10**9, 0.9)),
    ("negative_binomial", (4, 0.3), st.nbinom(4, 0.3)),
    ("betabinom", (12, 2.0, 3.0), st.betabinom(12, 2, 3)),
    ("hypergeometric", (10, 15, 8), st.hypergeom(25, 10, 8)),
    ("integers", (-3, 8), st.randint(-3, 8)),
    ("categorical", ([0.1, 0.0, 0.6, 0.3],), st.rv_discrete(values=([0, 2, 3], [0.1, 0.6, 0.3]))),
]


def chisquare_pvalue(sample, law):
    """Return the p-value of a chi-square test with about 20 classes of values, or fewer."""
    edges = np.unique(law.ppf(np.linspace(0, 1, 21)[1:-1]))
    mass = np.diff(np.concatenate([[0], law.cdf(edges), [1]]))
    classes = np.searchsorted(edges, sample, side="left")
    observed = np.bincount(classes, minlength=len(mass))
    possible = mass > 1e-12
    assert observed[~possible].sum() == 0
    if possible.sum() == 1:
        return 1.0
    expected = mass[possible] / mass[possible].sum() * len(sample)
    return st.chisquare(observed[possible], expected).pvalue


@pytest.mark.parametrize(("name", "parameters", "law"), DISCRETE)
def test_discrete(name, parameters, law):
    sample = draw(getattr(shared_rng(), name)(*parameters, size=(N,))[1], opset=24)
    assert sample.dtype == "int64"
    assert sample.shape == (N,)
    assert chisquare_pvalue(sample, law) > P_VALUE


def test_impossible_parameters_end_their_loops():
    nan = [np.nan, np.inf, -1.0, 0.0]
    a = pt.dvector("a")
    rngs = [shared_rng(seed) for seed in range(4)]
    outputs = [
        rngs[0].gamma(a, scale=1.0)[1],
        rngs[1].vonmises(0.0, a)[1],
        rngs[2].poisson(a)[1],
        rngs[3].binomial(5, a)[1],
    ]
    gamma, vonmises, poisson, binomial = draw(outputs, [a], [nan])
    np.testing.assert_array_equal(gamma, [np.nan, np.inf, np.nan, 0.0])
    np.testing.assert_array_equal(np.isnan(vonmises), [True, True, True, False])
    assert poisson[3] == 0
    assert binomial[3] == 0


@pytest.mark.parametrize(
    ("low", "high", "dtype"),
    [
        (0, 3 * 2**61, "int64"),
        (-(2**63), 2**63 - 1, "int64"),
        (-(2**62), 2**62 + 2**61, "int64"),
        (5, 6, "int64"),
        (-100, 100, "int8"),
        (0, 256, "uint8"),
    ],
)
def test_integers_are_uniform(low, high, dtype):
    _, x = shared_rng().integers(low, high, size=(N,), dtype=dtype)
    sample = draw(x)
    assert sample.dtype == dtype
    assert all(low <= int(value) < high for value in sample)
    # A modulo without rejection would give the first of these thirds half of the mass.
    scaled = np.array([(int(value) - low) / (high - low) for value in sample])
    if high - low > 100:
        assert st.kstest(scaled, "uniform").pvalue > P_VALUE
    if high - low > 2**60:
        assert chisquare_pvalue(sample % 16, st.randint(0, 16)) > P_VALUE
        assert len(np.unique(sample)) == N


def test_bernoulli_of_certain_events():
    p = pt.dvector("p")
    sample = draw(shared_rng().bernoulli(p, size=(1000, 2))[1], [p], [[0.0, 1.0]])
    assert (sample == [0, 1]).all()
    n, q = pt.lvector("n"), pt.dvector("q")
    counts = draw(shared_rng().binomial(n, q)[1], [n, q], [[7, 10**6, 0], [0.0, 1.0, 0.5]])
    np.testing.assert_array_equal(counts, [0, 10**6, 0])
    assert (draw(shared_rng().geometric(1.0, size=(1000,))[1]) == 1).all()


def test_geometric_saturates():
    sample = draw(shared_rng().geometric(1e-30, size=(5,))[1])
    assert (sample == np.iinfo("int64").max).all()


def test_multivariate_normal():
    mean, factor = np.array([1.0, -2.0, 3.0]), np.array([[2.0, 0, 0], [1, 1, 0], [0.5, -1, 0.5]])
    cov = factor @ factor.T
    _, x = shared_rng().multivariate_normal(mean, cov, size=(N,))
    white = np.linalg.solve(factor, (draw(x) - mean).T)
    for row in white:
        assert st.kstest(row, "norm").pvalue > P_VALUE
    assert np.abs(np.corrcoef(white) - np.eye(3)).max() < 4 / np.sqrt(N)


@pytest.mark.parametrize("cov", [[[1, 1], [1, 1]], [[0, 0], [0, 1]], [[1, 2], [2, 1]]])
def test_cholesky_of_singular_covariance(cov):
    """Numba and JAX return NaN, too; Python raises LinAlgError."""
    _, x = shared_rng().multivariate_normal(np.zeros(2), np.array(cov, "float64"), size=(3,))
    assert np.isnan(draw(x)).all()


@pytest.mark.parametrize("method", ["svd", "eigh"])
def test_multivariate_normal_of_singular_covariance(method):
    weights = np.array([1.0, 2.0, -1.0])
    _, x = shared_rng().multivariate_normal(
        np.zeros(3), np.outer(weights, weights), size=(N,), method=method
    )
    sample = draw(x)
    np.testing.assert_allclose(sample, sample[:, :1] * weights, atol=1e-12)
    assert st.kstest(sample[:, 0], "norm").pvalue > P_VALUE


def test_dirichlet():
    alpha = np.array([[0.5, 2.0, 3.0], [1e-3, 1e-3, 2e-3]])
    sample = draw(shared_rng().dirichlet(alpha, size=(N, 2))[1])
    np.testing.assert_allclose(sample.sum(-1), 1)
    for k in range(3):
        law = st.beta(alpha[0, k], alpha[0].sum() - alpha[0, k])
        assert st.kstest(sample[:, 0, k], law.cdf).pvalue > P_VALUE
    # Nearly all of the mass is on one of them.
    chosen = np.bincount(sample[:, 1].argmax(-1), minlength=3)
    assert st.chisquare(chosen, np.array([0.25, 0.25, 0.5]) * N).pvalue > P_VALUE


def test_multinomial():
    n, p = np.array([[5], [100]]), np.array([0.2, 0.0, 0.5, 0.3])
    sample = draw(shared_rng().multinomial(n, p, size=(2, N))[1])
    assert sample.shape == (2, N, 4)
    assert (sample.sum(-1) == n).all()
    for row, count in zip(sample, n[:, 0], strict=True):
        for k in (0, 2, 3):
            assert chisquare_pvalue(row[:, k], st.binom(count, p[k])) > P_VALUE
        assert not row[:, 1].any()
        # Of counts of one total the correlation is known.
        wanted = -np.sqrt(0.2 * 0.5 / (0.8 * 0.5))
        assert abs(np.corrcoef(row[:, 0], row[:, 2])[0, 1] - wanted) < 4 / np.sqrt(N)


def test_permutation():
    x = np.arange(4) * 10
    sample = draw(shared_rng().permutation(np.broadcast_to(x, (N, 4)))[1])
    # All of a matrix is one thing that is permuted along its first axis.
    assert (sample == x).all()
    batch = pt.random.basic.PermutationRV(signature="(x)->(x)", dtype="int64")
    rows = draw(batch(np.broadcast_to(x, (N, 4)), rng=shared_rng()))
    assert (np.sort(rows, -1) == x).all()
    codes = np.unique(rows @ [1000, 100, 10, 1], return_counts=True)[1]
    assert len(codes) == 24
    assert st.chisquare(codes).pvalue > P_VALUE


@pytest.mark.parametrize(
    ("x", "sorted_values"),
    [(5, range(5)), ([[1.5, 2], [3, 4], [5, 6]], [1.5, 2, 3, 4, 5, 6]), ([True], [True])],
)
def test_permutation_keeps_values(x, sorted_values):
    x = np.asarray(x)
    sample = draw(shared_rng().permutation(x)[1])
    assert sample.dtype == x.dtype
    np.testing.assert_array_equal(np.sort(sample.ravel()), sorted_values)
    if x.ndim == 2:
        assert {tuple(row) for row in sample} == {tuple(row) for row in x}


def test_permutation_of_a_range_given_at_run_time():
    n = pt.lscalar("n")
    _, x = shared_rng().permutation(n)
    for length in (0, 1, 7):
        np.testing.assert_array_equal(np.sort(draw(x, [n], [length])), np.arange(length))


def test_choice_without_replacement():
    a = np.array([10, 20, 30, 40, 50])
    p = np.array([0.1, 0.0, 0.2, 0.3, 0.4])
    _, x = shared_rng().choice(a, size=(2, 2), replace=False, p=p)
    results = np.array(draw(x, runs=600)).reshape(-1, 4)
    assert (np.sort(results, -1) == [10, 30, 40, 50]).all()
    first = np.unique(results[:, 0], return_counts=True)[1]
    assert st.chisquare(first, p[p > 0] * 600).pvalue > P_VALUE
    # After 50 was first, the second is one of the others.
    second = np.unique(results[results[:, 0] == 50, 1], return_counts=True)[1]
    assert st.chisquare(second, np.array([1, 2, 3]) / 6 * second.sum()).pvalue > P_VALUE


@pytest.mark.parametrize("replace", [True, False])
@pytest.mark.parametrize("a", [6, np.arange(6), np.arange(12).reshape(6, 2)])
def test_choice(a, replace):
    _, x = shared_rng().choice(a, size=(2, 3), replace=replace)
    results = np.array(draw(x, runs=200))
    assert results.shape[1:] == (2, 3, *np.shape(a)[1:])
    if np.ndim(a) == 2:
        np.testing.assert_array_equal(results[..., 1], results[..., 0] + 1)
        results = results[..., 0] // 2
    flat = results.reshape(-1, 6)
    assert st.chisquare(np.bincount(flat[:, 0], minlength=6)).pvalue > P_VALUE
    assert (np.sort(flat, -1) == np.arange(6)).all() != replace


SIZES = hs.integers(0, 3)


@hs.composite
def batches(draw_from, n_params):
    """Draw shapes of parameters that broadcast together, and a size for them, or None."""
    full = draw_from(hs.lists(SIZES, max_size=3))
    shapes = []
    for _ in range(n_params):
        kept = full[draw_from(hs.integers(0, len(full))) :]
        shapes.append(tuple(1 if draw_from(hs.booleans()) else size for size in kept))
    if draw_from(hs.booleans()):
        return shapes, None
    return shapes, tuple(full)


@given(
    name=hs.sampled_from(["normal", "gamma", "poisson", "integers", "vonmises", "geometric"]),
    batch=batches(2),
    is_static=hs.booleans(),
    opset=hs.sampled_from(OPSETS),
)
def test_shapes(name, batch, is_static, opset):
    shapes, size = batch
    op = getattr(pt.random.basic, "_gamma" if name == "gamma" else name)
    shapes = shapes[: len(op.signature.split("->")[0].split(","))]
    dtype = "int64" if name == "integers" else "float64"
    params = [
        pt.tensor(dtype=dtype, shape=shape if is_static else (None,) * len(shape))
        for shape in shapes
    ]
    values = [np.full(shape, value, dtype) for shape, value in zip(shapes, (1, 2), strict=False)]
    sizes = [pt.lscalar() for _ in size or ()]
    variable = op(*params, size=size if is_static or size is None else sizes, rng=shared_rng())
    inputs = params if is_static else [*params, *sizes]
    sample = draw(variable, inputs, [*values, *(size or ())][: len(inputs)], opset=opset)
    expected = np.broadcast_shapes(*shapes) if size is None else size
    assert sample.shape == expected
    assert sample.dtype == variable.type.dtype
    assert np.isfinite(sample).all()


@pytest.mark.slow
@given(batch=batches(2), length=SIZES, is_static=hs.booleans())
def test_multivariate_shapes(batch, length, is_static):
    (first, second), size = batch
    expected = np.broadcast_shapes(first, second) if size is None else size
    values = {
        "multivariate_normal": [
            np.zeros((*first, length)),
            np.broadcast_to(np.eye(length), (*second, length, length)),
        ],
        "multinomial": [np.full(first, 3), np.full((*second, length + 1), 1 / (length + 1))],
        "dirichlet": [np.ones((*expected, length + 1))],
        "categorical": [np.full((*expected, length + 1), 1 / (length + 1))],
    }
    core = {"multivariate_normal": (length,), "categorical": ()}
    params, outputs, wanted = [], [], []
    for name, arrays in values.items():
        variables = [
            pt.tensor(dtype=a.dtype, shape=a.shape if is_static else (None,) * a.ndim)
            for a in arrays
        ]
        params += variables
        outputs.append(getattr(pt.random, name)(*variables, size=size, rng=shared_rng()))
        wanted.append((*expected, *core.get(name, (length + 1,))))
    results = draw(outputs, params, [a for arrays in values.values() for a in arrays])
    assert [result.shape for result in results] == wanted
    assert [result.dtype for result in results] == [output.type.dtype for output in outputs]
