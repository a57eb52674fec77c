"""PyMC's own random variables, known by their classes' names: this imports no PyMC.

What PyMC makes of other random variables is a graph, which needs no converter.
"""

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.errors import NO_CONVERTER, ConversionError
from pytensor.link.onnx.extras.linalg.basic import Matrices
from pytensor.link.onnx.extras.linalg.triangular import cholesky, substitute
from pytensor.link.onnx.extras.random.continuous import wald
from pytensor.link.onnx.extras.random.draws import draws_of, next_key, terms_of
from pytensor.link.onnx.extras.random.gamma import beta_draw
from pytensor.link.onnx.extras.special.erf import erfc, erfcx, ndtri_exp
from pytensor.link.onnx.write.sizes import length
from pytensor.link.onnx.write.term import (
    Term,
    exp,
    expm1,
    floor,
    log,
    log1p,
    maximum,
    minimum,
    sqrt,
    where,
)
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.type import TensorType

CONVERTERS = {}


@onnx_funcify.register(RandomVariable)
def onnx_funcify_RandomVariable(op, node, builder, key, size, *params):
    package, name = type(op).__module__.partition(".")[0], type(op).__name__
    if package != "pymc" or name not in CONVERTERS:
        raise ConversionError(f"{NO_CONVERTER} for this Op")
    result = CONVERTERS[name](node, builder, key, size, params)
    return next_key(node, key), builder.cast(result.name, "float64", op.dtype)


def pymc_converter(name):
    """Register ``function(node, builder, key, size, params) -> term`` for a class of PyMC."""

    def register(function):
        CONVERTERS[name] = function
        return function

    return register


def pymc_sampler(name):
    """Register ``function(draws, *terms) -> term`` for a class of PyMC."""

    def register(function):
        @pymc_converter(name)
        def converter(node, builder, key, size, params):
            draws = draws_of(node, builder, key, size, params)
            return function(draws, *terms_of(node, builder, params))

        return function

    return register


def log_normal_cdf(x):
    half = 0.5**0.5
    low = log(0.5 * erfcx(-half * x)) - 0.5 * x * x
    return where(x < 0.0, low, log1p(-0.5 * erfc(half * x)))


@pymc_sampler("TruncatedNormalRV")
def truncated_normal(draws, mu, sigma, lower, upper):
    """Draw by the normal distribution's inverse, in the tail where its logarithm is precise."""
    start, end = (lower - mu) / sigma, (upper - mu) / sigma
    flip = start > 0.0
    start, end = where(flip, -end, start), where(flip, -start, end)
    log_start, log_end = log_normal_cdf(start), log_normal_cdf(end)
    u = draws.open_uniform()
    log_p = log_end + log(u + (1.0 - u) * exp(log_start - log_end))
    x = ndtri_exp(minimum(log_p, -1e-300))
    return minimum(maximum(mu + sigma * where(flip, -x, x), lower), upper)


@pymc_sampler("SkewNormalRV")
def skew_normal(draws, mu, sigma, alpha):
    # Azzalini & Dalla Valle 1996.
    shift = alpha * abs(draws.normal()) + draws.normal()
    return mu + sigma * shift / sqrt(1.0 + alpha * alpha)


@pymc_sampler("RiceRV")
def rice(draws, b, sigma):
    x, y = b + draws.normal(), draws.normal()
    return sigma * sqrt(x * x + y * y)


@pymc_sampler("WaldRV")
def shifted_wald(draws, mu, lam, alpha):
    return wald(draws, mu, lam) + alpha


@pymc_sampler("MoyalRV")
def moyal(draws, mu, sigma):
    return mu - 2.0 * sigma * log(abs(draws.normal()))


@pymc_sampler("SkewStudentTRV")
def skew_student(draws, a, b, mu, sigma):
    # Jones & Faddy 2003.
    share = beta_draw(draws, a, b)
    t = (2.0 * share - 1.0) * sqrt(a + b) / (2.0 * sqrt(share * (1.0 - share)))
    return mu + sigma * t


@pymc_sampler("DiscreteUniformRV")
def discrete_uniform(draws, lower, upper):
    return minimum(lower + floor(draws.uniform() * (upper - lower + 1.0)), upper)


@pymc_converter("StickBreakingWeightsRV")
def stick_breaking_weights(node, builder, key, size, params):
    count = builder.constant_value(params[1])
    if count is None:
        raise ConversionError("the number of sticks must be a constant")
    count = int(count.item())
    draws = draws_of(node, builder, key, size, params, [builder.int64s([count])], [count])
    alpha, _ = terms_of(node, builder, params)
    # What is left of a stick is u ** (1 / alpha).
    breaks = draws.exponential() / alpha.column()
    axis = builder.constant(-1, "int64")
    before = Term(builder, builder.add("CumSum", breaks.name, axis, exclusive=1))
    after = before + breaks
    last = [builder.int64s([n]) for n in (-1, 2**62, -1)]
    last = Term(builder, builder.add("Slice", after.name, *last))
    parts = -exp(-before) * expm1(-breaks), exp(-last)
    return Term(builder, builder.add("Concat", *(part.name for part in parts), axis=-1))


@pymc_converter("MatrixNormalRV")
def matrix_normal(node, builder, key, size, params):
    _, rows, columns = params
    core = [length(builder, rows, -1), length(builder, columns, -1)]
    draws = draws_of(node, builder, key, size, params, core, node.outputs[1].type.shape[-2:])
    mu, rows, columns = terms_of(node, builder, params)
    ndim = node.inputs[4].type.ndim
    axes = [*range(ndim - 2), ndim - 1, ndim - 2]
    product = draws.normal().apply("MatMul", columns.apply("Transpose", perm=axes))
    return mu + rows.apply("MatMul", product)


@pymc_converter("CARRV")
def car(node, builder, key, size, params):
    """Draw by the factor of the precision, which PyMC's log-density has.

    PyMC's own draws have the inverse of its square for a covariance: see
    ``thoughts/upstream/pymc-car-draws.md``.
    """
    if not isinstance(node.inputs[3].type, TensorType):
        raise ConversionError("sparse adjacency matrices have no converter; give a dense one")
    core, known = [length(builder, params[1], -1)], node.outputs[1].type.shape[-1:]
    draws = draws_of(node, builder, key, size, params, core, known)
    mu, weights, alpha, tau, _ = terms_of(node, builder, params)
    # They may have axes of size 1 for the batch.
    shape = builder.add("Shape", weights.name, start=-2)
    weights = Term(builder, builder.add("Reshape", weights.name, shape))
    alpha, tau = _number(alpha), _number(tau)
    m = Matrices(builder, "float64", weights.name, 2)
    neighbours = builder.add("ReduceSum", weights.name, builder.int64s([0]), keepdims=1)
    degrees = Term(builder, builder.add("Mul", neighbours, m.identity()))
    factor = cholesky(m, (tau * (degrees - alpha * weights)).name, lower=True)
    inverse = Term(builder, substitute(m, factor, m.identity(), lower=True))
    return mu + draws.normal().apply("MatMul", inverse)


def _number(term):
    """Return a term of one entry without its axes."""
    empty = term.builder.int64s([])
    return Term(term.builder, term.builder.add("Reshape", term.name, empty))
