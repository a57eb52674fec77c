"""PyMC's own random variables, known by their classes' names: this imports no PyMC.

What PyMC makes of other random variables is a graph, which needs no converter.
"""

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.errors import NO_CONVERTER, ConversionError
from pytensor.link.onnx.extras.linalg.basic import Matrices
from pytensor.link.onnx.extras.linalg.triangular import cholesky, substitute
from pytensor.link.onnx.extras.random.continuous import wald
from pytensor.link.onnx.extras.random.draws import after_draw, doubles, draws_of
from pytensor.link.onnx.extras.random.gamma import beta_draw
from pytensor.link.onnx.extras.special.erf import erfc, erfcx, ndtri_exp
from pytensor.link.onnx.write.formula import exp, expm1, floor, log, log1p, sqrt
from pytensor.link.onnx.write.term import concat, maximum, minimum, where
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.type import TensorType

CONVERTERS = {}


@onnx_funcify.register(RandomVariable)
def onnx_funcify_RandomVariable(op, node, generator, size, *params):
    package, name = type(op).__module__.partition(".")[0], type(op).__name__
    if package != "pymc" or name not in CONVERTERS:
        raise ConversionError(f"{NO_CONVERTER} for this Op")
    result = CONVERTERS[name](node, generator, size, params)
    return after_draw(node, generator), result.cast(op.dtype)


def pymc_converter(name):
    """Register ``function(node, generator, size, params) -> term`` for a class of PyMC."""

    def register(function):
        CONVERTERS[name] = function
        return function

    return register


def pymc_sampler(name):
    """Register ``function(draws, *terms) -> term`` for a class of PyMC."""

    def register(function):
        @pymc_converter(name)
        def converter(node, generator, size, params):
            return function(draws_of(node, generator, size, params), *doubles(params))

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
def stick_breaking_weights(node, generator, size, params):
    alpha, count = params
    if count.data is None:
        raise ConversionError("the number of sticks must be a constant")
    count = int(count.data.item())
    draws = draws_of(node, generator, size, params, [alpha.builder.vector([count])], [count])
    # What is left of a stick is u ** (1 / alpha).
    breaks = draws.exponential() / alpha.cast("float64").column()
    before = breaks.cumulative_sum(-1, exclusive=1)
    last = (before + breaks).slice(-1, 2**62, -1)
    return concat([-exp(-before) * expm1(-breaks), exp(-last)], axis=-1)


@pymc_converter("MatrixNormalRV")
def matrix_normal(node, generator, size, params):
    core = [x.length(-1) for x in params[1:]]
    draws = draws_of(node, generator, size, params, core, node.outputs[1].type.shape[-2:])
    mu, rows, columns = doubles(params)
    ndim = columns.ndim
    transposed = columns.transpose(*range(ndim - 2), ndim - 1, ndim - 2)
    return mu + rows @ (draws.normal() @ transposed)


@pymc_converter("CARRV")
def car(node, generator, size, params):
    """Draw by the factor of the precision, which PyMC's log-density has.

    PyMC's own draws have the inverse of its square for a covariance: see
    ``thoughts/upstream/pymc-car-draws.md``.
    """
    if not isinstance(node.inputs[3].type, TensorType):
        raise ConversionError("sparse adjacency matrices have no converter; give a dense one")
    core, known = [params[1].length(-1)], node.outputs[1].type.shape[-1:]
    draws = draws_of(node, generator, size, params, core, known)
    mu, weights, alpha, tau, _ = doubles(params)
    # They may have axes of size 1 for the batch.
    weights = weights.node("Reshape", weights.sizes(-2))
    alpha, tau = alpha.reshape([]), tau.reshape([])
    m = Matrices(weights, 2)
    degrees = weights.reduce_sum(0, keepdims=True) * m.identity()
    factor = cholesky(m, tau * (degrees - alpha * weights), lower=True)
    return mu + draws.normal() @ substitute(m, factor, m.identity(), lower=True)
