"""What can be exported, found out by trying: one small graph for every Op, dtype and operator set.

    python -m docs.tools.onnx_support

tries every cell and writes the table in ``docs/onnx_support.md``.  The rows are the
classes that have a converter; a test fails when a class has no graph here, or the table is out of
date.
"""

import warnings
from pathlib import Path

import numpy as np

import pytensor
import pytensor.scalar.activations as psa
import pytensor.scalar.basic as ps
import pytensor.scalar.math as psm
import pytensor.tensor as pt
from pytensor.compile.builders import OpFromGraph
from pytensor.compile.ops import DeepCopyOp, TypeCastingOp
from pytensor.conditional.op import IfElse
from pytensor.link.onnx import (
    DroppedCheckWarning,
    DroppedPrintWarning,
    DroppedRandomStateWarning,
    UnsupportedOpError,
    export_onnx,
)
from pytensor.link.onnx.dispatch.choose import ChooseAmong
from pytensor.link.onnx.dispatch.loops import Loop
from pytensor.link.onnx.settings import OPSETS
from pytensor.printing import Print
from pytensor.raise_op import Assert, CheckAndRaise
from pytensor.scalar.loop import ScalarLoop
from pytensor.scan.op import Scan
from pytensor.tensor import basic, blas, elemwise, extra_ops, fft, special, subtensor
from pytensor.tensor import math as ptm
from pytensor.tensor.batchnorm import BatchNormalization, BatchNormalizationTrain
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.conv import conv_transpose
from pytensor.tensor.conv.ops import Conv, ConvGradFilters, ConvGradInput, ConvTranspose
from pytensor.tensor.fourier import Fourier
from pytensor.tensor.linalg import constructors, inverse, products, summary
from pytensor.tensor.linalg.decomposition import cholesky, eigen, lu, qr, schur, svd
from pytensor.tensor.linalg.solvers import (
    general,
    linear_control,
    lstsq,
    psd,
    triangular,
    tridiagonal,
)
from pytensor.tensor.normalization import (
    GroupNormalization,
    InstanceNormalization,
    LayerNormalization,
    RMSNormalization,
)
from pytensor.tensor.pad import Pad
from pytensor.tensor.pool import (
    AdaptivePool,
    GatherAtMaxima,
    LpPool,
    MaxUnpool,
    Pool,
    PoolWithIndices,
)
from pytensor.tensor.pullback import SymbolicPullback
from pytensor.tensor.random.basic import ChoiceWithoutReplacement, GammaRV, PermutationRV
from pytensor.tensor.random.op import AbstractRNGConstructor
from pytensor.tensor.reshape import JoinDims, SplitDims
from pytensor.tensor.resize import Resize, ResizeGrad
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape
from pytensor.tensor.signal.conv import Convolve1d
from pytensor.tensor.sort import ArgSortOp, SortOp
from pytensor.tensor.topk import TopK, TopKGrad
from tests.utils import REFERENCE_MODE, TOLERANCES

DTYPES = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
)
TABLE = Path(__file__).parents[1] / "onnx_support.md"

# Op class -> function of a dtype that returns inputs, outputs and values.
CASES = {}


def case(*classes):
    def register(build):
        for op in classes:
            CASES[op] = build
        return build

    return register


def numbers(dtype, *shape):
    """Return distinct small numbers, within (0, 1) where the dtype is a float."""
    size = int(np.prod(shape))
    if dtype == "bool":
        return (np.arange(size) % 2 == 0).reshape(shape)
    values = (np.arange(size) * 7) % (size + 3) + 1
    if dtype.startswith("float"):
        values = values / (size + 4)
    return values.astype(dtype).reshape(shape)


def graph(function, *shapes, static=False):
    """Return a case of one Op applied to tensors of the dtype."""

    def build(dtype):
        values = [numbers(dtype, *shape) for shape in shapes]
        inputs = [
            pt.tensor(f"x{i}", dtype=dtype, shape=v.shape if static else (None,) * v.ndim)
            for i, v in enumerate(values)
        ]
        outputs = function(*inputs)
        return inputs, outputs if isinstance(outputs, list | tuple) else [outputs], values

    return build


def matrix(function, *, positive=False, rhs=None):
    """Return a case of linear algebra: a matrix with a strong diagonal, and a right-hand side."""

    def build(dtype):
        value = numbers(dtype, 3, 3) / np.asarray(4, dtype)
        value = (value + value.T if positive else value) + 2 * np.eye(3, dtype=dtype)
        inputs, values = [pt.matrix("A", dtype=dtype)], [value.astype(dtype)]
        if rhs:
            inputs.append(pt.matrix("b", dtype=dtype))
            values.append(numbers(dtype, 3, 2))
        outputs = function(*inputs)
        return inputs, outputs if isinstance(outputs, list | tuple) else [outputs], values

    return build


# Scalar Ops: those of PyTensor's modules, with arguments in their domain

DOMAINS = {
    ps.ArcCosh: [1.25, 1.5, 3],
    psm.Log1mexp: [-0.25, -1.5, -3],
    psm.NdtriExp: [-0.25, -1.5, -3],
}
# Where the Op itself doesn't say.
ARITIES = {psm.BetaIncInv: 3}
# Parameters that decide a function's form must be constants.
CONSTANTS = {psm.Jv: {0: 2}, psm.Ive: {0: 1}, psm.Kve: {0: 1}, psm.PolyGamma: {0: 2}}


def scalar_ops():
    """Map each concrete class of scalar Ops to one of its Ops, by name."""
    found = {}
    for module in (ps, psm):
        for op in vars(module).values():
            if isinstance(op, ps.ScalarOp) and not isinstance(op, ps.Cast):
                found.setdefault(type(op), op)
    return dict(sorted(found.items(), key=lambda item: item[0].__name__))


def scalar_case(op):
    def build(dtype):
        n_inputs = ARITIES.get(type(op), op.nin if op.nin > 0 else 2)
        constants = CONSTANTS.get(type(op), {})
        inputs, arguments, values = [], [], []
        for i in range(n_inputs):
            if i in constants:
                arguments.append(pt.constant(np.asarray(constants[i], dtype)))
                continue
            domain = DOMAINS.get(type(op))
            value = numbers(dtype, 3) if domain is None else np.asarray(domain).astype(dtype)
            inputs.append(pt.vector(f"x{i}", dtype=dtype))
            arguments.append(inputs[-1])
            values.append(np.roll(value, i))
        return inputs, [elemwise.Elemwise(op)(*arguments)], values

    return build


def cast_case(dtype):
    x = pt.vector("x", dtype=dtype)
    return [x], [pt.cast(x, to) for to in DTYPES if to != dtype], [numbers(dtype, 3)]


def composite_case(dtype):
    a, b = ps.get_scalar_type(dtype)("a"), ps.get_scalar_type(dtype)("b")
    op = elemwise.Elemwise(ps.Composite([a, b], [a * b + a]))
    return graph(op, (3,), (3,))(dtype)


def scalar_loop_case(dtype):
    x, y = ps.get_scalar_type(dtype)("x"), ps.get_scalar_type(dtype)("y")
    op = elemwise.Elemwise(ScalarLoop([x], [x + y], constant=[y]))
    return graph(lambda x, y: op(np.int64(3), x, y), (3,), (3,))(dtype)


case(elemwise.DimShuffle)(graph(lambda x: x.dimshuffle(1, "x", 0), (2, 3)))
case(elemwise.CAReduce)(graph(lambda x: [x.sum(axis=0), x.prod(), x.max(axis=1)], (2, 3)))
case(ptm.Argmax)(graph(lambda x: pt.argmax(x, axis=1), (2, 3)))
case(ptm.Dot)(graph(pt.dot, (2, 3), (3, 4)))
case(blas.BatchedDot)(graph(lambda x, y: blas._batched_dot(x, y), (2, 2, 3), (2, 3, 4)))
case(blas.Dot22)(graph(blas.Dot22(), (2, 3), (3, 4)))
case(blas.Dot22Scalar)(graph(lambda x, y, a: blas.Dot22Scalar()(x, y, a), (2, 3), (3, 4), ()))
case(blas.Gemv)(
    graph(lambda z, a, x, y, b: blas.gemv_no_inplace(z, a, x, y, b), (2,), (), (2, 3), (3,), ())
)
case(blas.Gemm)(
    graph(lambda z, a, x, y, b: blas.gemm_no_inplace(z, a, x, y, b), (2, 4), (), (2, 3), (3, 4), ())
)
case(Blockwise)(graph(lambda x, y: x @ y, (2, 2, 3), (2, 3, 4)))
case(subtensor.Subtensor)(graph(lambda x: x[1:, ::-1], (3, 4)))
case(subtensor.AdvancedSubtensor)(graph(lambda x: x[:, [0, 2, 2]], (3, 4)))
case(subtensor.IncSubtensor)(
    graph(lambda x, y: [x[1:].set(y), x[1:].inc(y) if x.dtype != "bool" else x], (3, 4), (2, 4))
)
case(subtensor.AdvancedIncSubtensor)(
    graph(
        lambda x, y: [x[[2, 1]].set(y), x[[1, 1]].inc(y) if x.dtype != "bool" else x], (3, 4), (4,)
    )
)
case(basic.Nonzero)(graph(lambda x: list(pt.nonzero(x)), (2, 3)))
case(basic.ARange)(graph(lambda stop: pt.arange(stop * 4), ()))
case(basic.ExtractDiag)(graph(lambda x: pt.diagonal(x, offset=1), (3, 4)))
case(basic.AllocDiag)(graph(basic.AllocDiag(offset=1, axis1=0, axis2=1), (3,)))
case(basic.Choose)(graph(lambda x: pt.choose(np.array([0, 1, 0]), x), (2, 3)))
case(basic.Join)(graph(lambda x, y: pt.join(1, x, y), (2, 3), (2, 2)))
case(basic.Split)(graph(lambda x: pt.split(x, [1, 2], n_splits=2, axis=1), (2, 3)))
case(basic.MakeVector)(graph(lambda x, y: pt.stack([x, y]), (), ()))
case(basic.TensorFromScalar, basic.ScalarFromTensor)(
    graph(lambda x: pt.tensor_from_scalar(pt.scalar_from_tensor(x)), ())
)
case(basic.Alloc)(graph(lambda x: pt.alloc(x, 2, 3), (3,)))
case(Shape, Shape_i)(graph(lambda x: [x.shape, Shape_i(1)(x)], (2, 3)))
case(SpecifyShape)(graph(lambda x: pt.specify_shape(x, (2, None)), (2, 3)))
case(Reshape)(graph(lambda x: x.reshape((-1, 2)), (2, 3)))
case(JoinDims)(graph(lambda x: pt.join_dims(x, start_axis=1), (2, 3, 4)))
case(SplitDims)(graph(lambda x: pt.split_dims(x, (2, 3), axis=0), (6, 2)))
case(extra_ops.CpuContiguous)(graph(extra_ops.cpu_contiguous, (2, 3)))
case(extra_ops.CumOp)(graph(lambda x: [pt.cumsum(x, axis=1), pt.cumprod(x, axis=0)], (2, 3)))
case(extra_ops.Repeat)(graph(lambda x: pt.repeat(x, 2, axis=1), (2, 3)))
case(extra_ops.FillDiagonal)(graph(pt.extra_ops.fill_diagonal, (3, 4), ()))
case(extra_ops.Unique)(graph(lambda x: pt.unique(x), (5,)))
case(SortOp)(graph(lambda x: pt.sort(x, axis=0), (3, 2)))
case(ArgSortOp)(graph(lambda x: pt.argsort(x, axis=0, stable=True), (3, 2)))
case(TopK)(graph(lambda x: pt.topk(x, 2), (2, 4)))
case(TopKGrad)(graph(lambda x: pt.grad(pt.topk(x, 2)[0].sum(), x), (2, 4)))
case(special.Softmax)(graph(lambda x: special.softmax(x, axis=1), (2, 3)))
case(special.LogSoftmax)(graph(lambda x: special.log_softmax(x, axis=1), (2, 3)))
case(Pad)(graph(lambda x: pt.pad(x, [(1, 0), (2, 1)], mode="constant"), (2, 3)))
case(CheckAndRaise)(graph(lambda x: Assert("positive")(x, pt.all(pt.ge(x, 0))), (3,)))
case(Print)(graph(Print("x"), (3,)))
case(IfElse)(graph(lambda c, x, y: pytensor.ifelse(pt.eq(c, 1), x, y), (), (3,), (3,)))
case(TypeCastingOp, DeepCopyOp)(graph(DeepCopyOp(), (3,)))
case(Convolve1d)(graph(lambda x, y: pt.signal.convolve1d(x, y, mode="full"), (5,), (2,)))
case(Conv)(graph(pt.conv2d, (1, 2, 4, 5), (3, 2, 2, 2), static=True))
case(ConvTranspose)(graph(conv_transpose, (1, 2, 3, 4), (2, 3, 2, 2), static=True))
case(ConvGradInput)(
    graph(lambda x, w: pt.grad(pt.conv2d(x, w).sum(), x), (1, 2, 4, 5), (3, 2, 2, 2), static=True)
)
case(ConvGradFilters)(
    graph(lambda x, w: pt.grad(pt.conv2d(x, w).sum(), w), (1, 2, 4, 5), (3, 2, 2, 2), static=True)
)
case(Pool)(graph(lambda x: pt.nn.max_pool2d(x, 2), (1, 2, 4, 5), static=True))
case(PoolWithIndices)(
    graph(lambda x: pt.nn.max_pool2d(x, 2, return_indices=True), (1, 2, 4, 5), static=True)
)
case(GatherAtMaxima)(
    graph(
        lambda x, y: GatherAtMaxima(op=pt.nn.max_pool2d(x, 2).owner.op)(x, y),
        (1, 2, 4, 5),
        (1, 2, 4, 5),
        static=True,
    )
)
case(LpPool)(graph(lambda x: pt.nn.lp_pool2d(x, 2, 2), (1, 2, 4, 5), static=True))
case(AdaptivePool)(graph(lambda x: pt.nn.adaptive_max_pool2d(x, (2, 3)), (1, 2, 4, 5), static=True))
case(MaxUnpool)(
    graph(lambda x: pt.nn.max_unpool2d(x, np.arange(12).reshape(1, 2, 2, 3) % 6, 2), (1, 2, 2, 3))
)
case(SymbolicPullback)(
    graph(lambda x: pt.grad(pt.nn.max_pool2d(x, 2).sum(), x), (1, 2, 4, 5), static=True)
)
case(Resize)(graph(lambda x: pt.resize(x, scale=(2, 3), mode="nearest"), (1, 2, 2, 3), static=True))
case(ResizeGrad)(
    graph(lambda x: pt.grad(pt.resize(x, scale=(2, 3)).sum(), x), (1, 2, 2, 3), static=True)
)
case(BatchNormalization)(
    graph(
        lambda x, *p: pt.batch_normalization(x, *p, epsilon=1e-3),
        (2, 3, 2, 2),
        (3,),
        (3,),
        (3,),
        (3,),
    )
)
case(BatchNormalizationTrain)(
    graph(
        lambda x, g, b, m, v: pt.batch_normalization_train(
            x, g, b, "spatial", running_mean=m, running_var=v
        ),
        *((2, 3, 4, 5), (3,), (3,), (3,), (3,)),
        static=True,
    )
)
case(inverse.MatrixInverse)(matrix(pt.linalg.inv))
case(summary.Det)(matrix(pt.linalg.det))
case(summary.SLogDet)(matrix(lambda a: list(pt.linalg.slogdet(a))))
case(products.Expm)(matrix(pt.linalg.expm))
case(cholesky.Cholesky)(matrix(pt.linalg.cholesky, positive=True))
case(eigen.Eigh)(matrix(lambda a: pt.linalg.eigh(a)[0], positive=True))
case(eigen.Eigvalsh)(matrix(pt.linalg.eigvalsh, positive=True))
case(lu.LU)(matrix(lambda a: list(pt.linalg.lu(a))))
case(lu.LUFactor)(matrix(lambda a: list(pt.linalg.lu_factor(a))))
case(qr.QR)(matrix(lambda a: list(pt.linalg.qr(a))))
case(general.Solve)(matrix(pt.linalg.solve, rhs=True))
case(triangular.SolveTriangular)(
    matrix(lambda a, b: pt.linalg.solve_triangular(a, b, lower=True), rhs=True)
)
case(psd.CholeskySolve)(matrix(lambda a, b: pt.linalg.cho_solve((a, True), b), rhs=True))
case(constructors.BlockDiagonal)(matrix(lambda a: pt.linalg.block_diag(a, a)))


case(svd.SVD)(matrix(lambda a: pt.linalg.svd(a, compute_uv=False)))
case(inverse.MatrixPinv)(matrix(pt.linalg.pinv))
case(inverse.TensorInv)(matrix(lambda a: pt.linalg.tensorinv(a, ind=1)))
case(lstsq.Lstsq)(matrix(lambda a, b: lstsq.Lstsq()(a, b, pt.constant(-1.0)), rhs=True))
case(schur.Schur)(matrix(lambda a: list(pt.linalg.schur(a))))
case(schur.QZ)(matrix(lambda a: list(pt.linalg.qz(a, a + a.T))))
case(eigen.Eig)(matrix(lambda a: list(pt.linalg.eig(a))))
case(fft.RFFTOp)(graph(pt.fft.rfft, (2, 6)))
case(fft.IRFFTOp)(graph(pt.fft.irfft, (2, 4, 2)))
case(Fourier)(graph(lambda x: pt.fourier.fft(x, 6, 1), (2, 6)))
case(psa.Gelu)(graph(lambda x: [pt.nn.gelu(x), pt.nn.gelu(x, approximate="tanh")], (3,)))
case(psa.HardSigmoid)(graph(pt.nn.hardsigmoid, (3,)))
case(psa.HardSwish)(graph(pt.nn.hardswish, (3,)))
case(psa.Elu)(graph(lambda x: pt.nn.elu(x, alpha=0.5), (3,)))
case(psa.LeakyRelu)(graph(lambda x: pt.nn.leaky_relu(x, negative_slope=0.5), (3,)))
case(psa.PRelu)(graph(pt.nn.prelu, (2, 3), (3,)))
case(psa.Relu)(graph(pt.nn.relu, (3,)))
case(psa.Relu6)(graph(pt.nn.relu6, (3,)))
case(psa.Selu)(graph(pt.nn.selu, (3,)))
case(psa.Mish)(graph(pt.nn.mish, (3,)))
case(psa.SiLU)(graph(pt.silu, (3,)))
case(psa.Softsign)(graph(pt.nn.softsign, (3,)))
case(LayerNormalization)(graph(lambda x, *p: pt.nn.layer_norm(x, (None,), *p), (2, 3), (3,), (3,)))
case(RMSNormalization)(
    graph(lambda x, w: pt.nn.rms_norm(x, (None,), w, eps=1e-5), (2, 3), (3,))
)
case(InstanceNormalization)(
    graph(lambda x, *p: pt.nn.instance_norm(x, None, None, *p), (2, 4, 3), (4,), (4,))
)
case(GroupNormalization)(
    graph(lambda x, *p: pt.nn.group_norm(x, 2, *p), (2, 4, 3), (4,), (4,), static=True)
)


@case(linear_control.SolveSylvester)
def sylvester(dtype):
    if not dtype.startswith("float"):
        raise TypeError("a singular system, with these numbers as integers")
    return matrix(lambda a: pt.linalg.solve_sylvester(a, a, a))(dtype)


@case(lstsq.TensorSolve)
def tensor_solve(dtype):
    a, b = pt.tensor3("a", dtype=dtype), pt.vector("b", dtype=dtype)
    values = [2 * np.eye(6, dtype=dtype).reshape(6, 2, 3), numbers(dtype, 6)]
    return [a, b], [pt.linalg.tensorsolve(a, b)], values


@case(lu.PivotToPermutations)
def pivots(dtype):
    p = pt.vector("p", dtype=dtype)
    return [p], [lu.pivot_to_permutation(p)], [np.array([1, 1, 2]).astype(dtype)]


@case(tridiagonal.LUFactorTridiagonal, tridiagonal.SolveLUFactorTridiagonal)
def tridiagonal_system(dtype):
    def solve(below, diagonal, above, b):
        factor = tridiagonal.LUFactorTridiagonal()(below, diagonal + 2, above)
        return tridiagonal.SolveLUFactorTridiagonal(b_ndim=1, transposed=False)(*factor, b)

    return graph(solve, (2,), (3,), (2,), (3,))(dtype)


@case(basic.Eye)
def eye(dtype):
    n = pt.lscalar("n")
    return [n], [pt.eye(n, n + 1, 1, dtype=dtype)], [3]


@case(basic.AllocEmpty)
def alloc_empty(dtype):
    n = pt.lscalar("n")
    return [n], [pt.empty((n, 2), dtype=dtype).shape], [3]


@case(basic.PermuteRowElements)
def permute(dtype):
    x = pt.matrix("x", dtype=dtype)
    return [x], [basic.permute_row_elements(x, np.array([2, 0, 1]))], [numbers(dtype, 2, 3)]


@case(extra_ops.SearchsortedOp)
def searchsorted(dtype):
    x, v = pt.vector("x", dtype=dtype), pt.vector("v", dtype=dtype)
    return [x, v], [pt.searchsorted(x, v)], [np.sort(numbers(dtype, 4)), numbers(dtype, 3)]


@case(extra_ops.Bartlett)
def bartlett(dtype):
    n = pt.scalar("n", dtype=dtype)
    return [n], [pt.bartlett(n)], [np.asarray(5, dtype)]


@case(extra_ops.FillDiagonalOffset)
def fill_diagonal_offset(dtype):
    x, value = pt.matrix("x", dtype=dtype), pt.scalar("value", dtype=dtype)
    output = extra_ops.fill_diagonal_offset(x, value, np.int64(1))
    return [x, value], [output], [numbers(dtype, 3, 4), np.asarray(1, dtype)]


@case(extra_ops.UnravelIndex)
def unravel_index(dtype):
    x = pt.vector("x", dtype=dtype)
    return [x], list(pt.unravel_index(x, (3, 4))), [np.array([5, 11, 0]).astype(dtype)]


@case(extra_ops.RavelMultiIndex)
def ravel_multi_index(dtype):
    x, y = pt.vector("x", dtype=dtype), pt.vector("y", dtype=dtype)
    values = [np.array([0, 2]).astype(dtype), np.array([3, 1]).astype(dtype)]
    return [x, y], [pt.ravel_multi_index((x, y), (3, 4))], values


@case(OpFromGraph)
def op_from_graph(dtype):
    x = pt.vector("x", dtype=dtype)
    return graph(OpFromGraph([x], [x * x]), (3,))(dtype)


@case(Scan)
def scan(dtype):
    def total(x):
        start = pt.zeros((), dtype=dtype)
        return pytensor.scan(lambda a, b: a * b, x, start, return_updates=False)

    return graph(total, (3,))(dtype)


# Random variables: what they draw can't be compared, only dtypes and shapes

RANDOM = {
    "bernoulli": (0.3,),
    "beta": (2.0, 3.0),
    "betabinom": (5, 2.0, 3.0),
    "binomial": (5, 0.3),
    "categorical": ([0.2, 0.3, 0.5],),
    "cauchy": (1.0, 2.0),
    "dirichlet": ([1.0, 2.0, 3.0],),
    "exponential": (2.0,),
    "gamma": {"shape": 2.0, "scale": 3.0},
    "gengamma": (2.0, 3.0, 1.0),
    "geometric": (0.3,),
    "gumbel": (1.0, 2.0),
    "halfcauchy": (0.0, 2.0),
    "halfnormal": (0.0, 2.0),
    "hypergeometric": (5, 6, 4),
    "integers": (2, 9),
    "invgamma": (2.0, 3.0),
    "laplace": (1.0, 2.0),
    "logistic": (1.0, 2.0),
    "lognormal": (1.0, 0.5),
    "multinomial": (5, [0.2, 0.3, 0.5]),
    "multivariate_normal": ([0.0, 1.0], [[2.0, 1.0], [1.0, 3.0]]),
    "negative_binomial": (5.0, 0.3),
    "normal": (1.0, 2.0),
    "pareto": (2.0, 3.0),
    "poisson": (3.0,),
    "t": (4.0, 1.0, 2.0),
    "triangular": (0.0, 1.0, 3.0),
    "truncexpon": (2.0, 0.0, 1.0),
    "uniform": (1.0, 2.0),
    "vonmises": (0.0, 2.0),
    "wald": (1.0, 2.0),
    "weibull": (2.0,),
}


def random_case(name, parameters):
    def build(dtype):
        draw = getattr(pt.random, name)
        rng = pytensor.shared(np.random.default_rng(1))
        kwargs = parameters if isinstance(parameters, dict) else {}
        args = () if kwargs else parameters
        return [], [draw(*args, **kwargs, size=(4,), rng=rng, dtype=dtype)], []

    return build


def permutation_case(dtype):
    return [], [pt.random.permutation(np.arange(5).astype(dtype))], []


def choice_case(dtype):
    return [], [pt.random.choice(np.arange(5).astype(dtype), size=3, replace=False)], []


def random_rows():
    for name, parameters in RANDOM.items():
        yield f"random.{name}", random_case(name, parameters)
    yield "random.permutation", permutation_case
    yield "random.choice without replacement", choice_case


def rows():
    """Yield pairs of a row's name and its case."""
    for op_class, op in scalar_ops().items():
        yield op_class.__name__, scalar_case(op)
    yield "Cast", cast_case
    yield "Composite", composite_case
    yield "ScalarLoop", scalar_loop_case
    others = {}
    for op_class, build in CASES.items():
        others.setdefault(build, []).append(op_class.__name__)
    yield from sorted((", ".join(names), build) for build, names in others.items())
    yield from random_rows()


def covered_classes():
    """Return the classes of Ops that a row stands for."""
    random = {type(getattr(pt.random, name)) for name in RANDOM}
    random |= {GammaRV, PermutationRV, ChoiceWithoutReplacement, AbstractRNGConstructor}
    # What the export makes of a Scan, and of a Choose from a list.
    return {
        Loop,
        ChooseAmong,
        elemwise.Elemwise,
        *CASES,
        *scalar_ops(),
        ps.Cast,
        ps.Composite,
        ScalarLoop,
        *random,
    }


def attempt(build, dtype):
    """Return a cell's graph with PyTensor's own results, or None where PyTensor has none."""
    quiet = warnings.catch_warnings(action="ignore", category=DeprecationWarning)
    try:
        with pytensor.config.change_flags(cxx=""), np.errstate(all="ignore"), quiet:
            inputs, outputs, values = build(dtype)
            compiled = pytensor.function(inputs, outputs, mode=REFERENCE_MODE)
            expected = [np.asarray(result) for result in compiled(*values)]
    except Exception:  # whatever keeps PyTensor from it, there is nothing to export
        return None
    # Some Ops don't return what their types say, for integers that NumPy makes floats.
    if any(e.dtype != o.type.dtype for e, o in zip(expected, outputs, strict=True)):
        return None
    return inputs, outputs, values, expected


def try_cell(build, dtype, opsets):
    """Try a cell at each of `opsets`.

    Returns
    -------
    None, dict of int to str
        None where PyTensor itself doesn't have the Op for this dtype; otherwise the reasons for
        operator sets at which it can't be exported.
    """
    from tests.link.onnx.test_basic import check_results, run

    case = attempt(build, dtype)
    if case is None:
        return None
    inputs, outputs, values, expected = case
    values = [np.asarray(v, i.type.dtype) for v, i in zip(values, inputs, strict=True)]
    is_random = not inputs
    failures = {}
    for opset in opsets:
        try:
            model = export(inputs, outputs, opset)
        except UnsupportedOpError as error:
            failures[opset] = error.failures[0][1]
            continue
        results = run(model, values)
        if is_random:
            assert [(r.dtype, r.shape) for r in results] == [(e.dtype, e.shape) for e in expected]
        else:
            # NumPy computes functions of 8 bits in float16, whatever the result's dtype.
            half = dtype in ("bool", "int8", "uint8") and expected[0].dtype.kind == "f"
            rtol, atol = TOLERANCES.get("float16" if half else dtype, (None, None))
            check_results(model, results, expected, rtol=rtol, atol=atol)
    return failures


def export(inputs, outputs, opset=20):
    """Export without warnings, and past rewrites of PyTensor's own that fail."""
    with warnings.catch_warnings(), pytensor.config.change_flags(on_opt_error="ignore"):
        warnings.simplefilter("ignore", DeprecationWarning)  # SciPy's, of constants that are folded
        warnings.simplefilter("ignore", DroppedCheckWarning)
        warnings.simplefilter("ignore", DroppedPrintWarning)
        warnings.simplefilter("ignore", DroppedRandomStateWarning)
        return export_onnx(inputs, outputs, opset_version=opset)


def symbol(result):
    if result is None:
        return " "
    if not result:
        return "✓"
    first = max(result) + 1
    return "✗" if first not in OPSETS else f"{first}+"


def make_table(opsets=OPSETS):
    """Return the whole table's Markdown, and the reasons of what can't be exported."""
    header = [
        "Op",
        *(d.replace("float", "f").replace("uint", "u").replace("int", "i") for d in DTYPES),
    ]
    lines = [f"| {' | '.join(header)} |", f"| --- |{' :-: |' * len(DTYPES)}"]
    reasons, count = {}, 0
    for name, build in rows():
        results = [try_cell(build, dtype, opsets) for dtype in DTYPES]
        cells = [symbol(result) for result in results]
        lines.append(f"| {name} | {' | '.join(cells)} |")
        count += any(cell not in " ✗" for cell in cells)
        for dtype, result in zip(DTYPES, results, strict=True):
            for reason in (result or {}).values():
                reasons.setdefault((name, reason), {})[dtype] = None
    return (
        count,
        lines,
        [f"- {name} ({', '.join(dtypes)}): {reason}" for (name, reason), dtypes in reasons.items()],
    )


def document():
    count, table, reasons = make_table()
    return TEMPLATE.format(count=count, table="\n".join(table), reasons="\n".join(reasons))


TEMPLATE = """# What can be exported

Made by `python -m docs.tools.onnx_support`, which exports one small graph for each cell at every
operator set from 18 to 24, runs it in onnxruntime and compares it with PyTensor. {count} rows have
at least one dtype that works; a row stands for an Op with all of its variants.

✓ at every operator set from 18 on; 20+ from that one on; ✗ not, for the reason below the table;
blank: PyTensor itself doesn't have it.

{table}

## Not exported

{reasons}
"""


if __name__ == "__main__":
    TABLE.write_text(document())
    print(f"wrote {TABLE}")
