"""The catalogue of Ops: an example for each Op that has a converter to ONNX.

Those of the package's own operators are examples of `tests.catalogue.operators`; the others are of
PyTensor's Ops.  Every example is one for all dtypes that its Op has.
"""

import numpy as np

import pytensor
import pytensor.scalar.activations as psa
import pytensor.scalar.basic as ps
import pytensor.scalar.math as psm
import pytensor.tensor as pt
from pytensor.compile.builders import OpFromGraph
from pytensor.compile.ops import DeepCopyOp, TypeCastingOp
from pytensor.conditional.op import IfElse
from pytensor.link.onnx.dispatch.choose import ChooseAmong
from pytensor.link.onnx.dispatch.loops import Loop
from pytensor.printing import Print
from pytensor.raise_op import Assert, CheckAndRaise
from pytensor.scalar.as_written import AsWritten
from pytensor.scalar.loop import ScalarLoop
from pytensor.scan.op import Scan
from pytensor.tensor import basic, blas, elemwise, extra_ops, fft, special, subtensor
from pytensor.tensor import math as ptm
from pytensor.tensor.batchnorm import BatchNormalization, BatchNormalizationTrain
from pytensor.tensor.blockwise import Blockwise
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
    MaxUnpoolGrad,
    Pool,
    PoolWithIndices,
)
from pytensor.tensor.pullback import SymbolicPullback
from pytensor.tensor.random.basic import ChoiceWithoutReplacement, GammaRV, PermutationRV
from pytensor.tensor.random.op import AbstractRNGConstructor
from pytensor.tensor.recurrent import Recurrent
from pytensor.tensor.reshape import JoinDims, SplitDims
from pytensor.tensor.resize import Resize, ResizeGrad
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape
from pytensor.tensor.signal.conv import Convolve1d
from pytensor.tensor.sort import ArgSortOp, SortOp
from pytensor.tensor.topk import TopK, TopKGrad
from tests.catalogue.examples import Example, always, fractions, unknown
from tests.catalogue.operators import OPERATORS

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

# By the classes of Ops that it has; each has a row in the table of what is exported
EXAMPLES: dict[tuple[type, ...], Example] = {}


def add(classes, build, *inputs, takes_dtype=False):
    classes = classes if isinstance(classes, tuple) else (classes,)
    name = ", ".join(op_class.__name__ for op_class in classes)
    EXAMPLES[classes] = Example(name, build, inputs, takes_dtype=takes_dtype)


def of_shapes(classes, build, *shapes):
    """Add an example whose inputs are tensors of the dtype."""
    add(classes, build, *(unknown(*shape, draw=fractions) for shape in shapes))


def ours(op_class, name, wrt=None):
    """Add an example of one of the package's operators, or its gradient for one of the inputs."""
    example = OPERATORS[name]

    def gradient(*inputs):
        return pt.grad(example.outputs(*inputs)[0].sum(), inputs[wrt])

    add(op_class, example.build if wrt is None else gradient, *example.inputs)


# PyTensor's Ops

of_shapes(elemwise.DimShuffle, lambda x: x.dimshuffle(1, "x", 0), (2, 3))
of_shapes(elemwise.CAReduce, lambda x: [x.sum(axis=0), x.prod(), x.max(axis=1)], (2, 3))
of_shapes(AsWritten, lambda x, y: elemwise.Elemwise(AsWritten(ps.add))(x, y), *2 * [(2, 3)])
of_shapes(ptm.Argmax, lambda x: pt.argmax(x, axis=1), (2, 3))
of_shapes(ptm.Dot, pt.dot, (2, 3), (3, 4))
of_shapes(blas.BatchedDot, blas._batched_dot, (2, 2, 3), (2, 3, 4))
of_shapes(blas.Dot22, blas.Dot22(), (2, 3), (3, 4))
of_shapes(blas.Dot22Scalar, blas.Dot22Scalar(), (2, 3), (3, 4), ())
of_shapes(blas.Gemv, blas.gemv_no_inplace, (2,), (), (2, 3), (3,), ())
of_shapes(blas.Gemm, blas.gemm_no_inplace, (2, 4), (), (2, 3), (3, 4), ())
of_shapes(Blockwise, lambda x, y: x @ y, (2, 2, 3), (2, 3, 4))
of_shapes(subtensor.Subtensor, lambda x: x[1:, ::-1], (3, 4))
of_shapes(subtensor.AdvancedSubtensor, lambda x: x[:, [0, 2, 2]], (3, 4))
of_shapes(
    subtensor.IncSubtensor,
    lambda x, y: [x[1:].set(y), x[1:].inc(y) if x.dtype != "bool" else x],
    *((3, 4), (2, 4)),
)
of_shapes(
    subtensor.AdvancedIncSubtensor,
    lambda x, y: [x[[2, 1]].set(y), x[[1, 1]].inc(y) if x.dtype != "bool" else x],
    *((3, 4), (4,)),
)
of_shapes(basic.Nonzero, lambda x: list(pt.nonzero(x)), (2, 3))
of_shapes(basic.ARange, lambda stop: pt.arange(stop * 4), ())
of_shapes(basic.ExtractDiag, lambda x: pt.diagonal(x, offset=1), (3, 4))
of_shapes(basic.AllocDiag, basic.AllocDiag(offset=1, axis1=0, axis2=1), (3,))
of_shapes(basic.Choose, lambda x: pt.choose(np.array([0, 1, 0]), x), (2, 3))
of_shapes(basic.Join, lambda x, y: pt.join(1, x, y), (2, 3), (2, 2))
of_shapes(basic.Split, lambda x: pt.split(x, [1, 2], n_splits=2, axis=1), (2, 3))
of_shapes(basic.MakeVector, lambda x, y: pt.stack([x, y]), (), ())
of_shapes(
    (basic.TensorFromScalar, basic.ScalarFromTensor),
    lambda x: pt.tensor_from_scalar(pt.scalar_from_tensor(x)),
    (),
)
of_shapes(basic.Alloc, lambda x: pt.alloc(x, 2, 3), (3,))
of_shapes(
    basic.PermuteRowElements,
    lambda x: basic.permute_row_elements(x, np.array([2, 0, 1])),
    (2, 3),
)
LENGTH = unknown(draw=always(3, "int64"))
add(basic.Eye, lambda n, dtype: pt.eye(n, n + 1, 1, dtype=dtype), LENGTH, takes_dtype=True)
add(
    basic.AllocEmpty,
    lambda n, dtype: pt.empty((n, 2), dtype=dtype).shape,
    LENGTH,
    takes_dtype=True,
)
of_shapes((Shape, Shape_i), lambda x: [x.shape, Shape_i(1)(x)], (2, 3))
of_shapes(SpecifyShape, lambda x: pt.specify_shape(x, (2, None)), (2, 3))
of_shapes(Reshape, lambda x: x.reshape((-1, 2)), (2, 3))
of_shapes(JoinDims, lambda x: pt.join_dims(x, start_axis=1), (2, 3, 4))
of_shapes(SplitDims, lambda x: pt.split_dims(x, (2, 3), axis=0), (6, 2))
of_shapes(extra_ops.CpuContiguous, extra_ops.cpu_contiguous, (2, 3))
of_shapes(extra_ops.CumOp, lambda x: [pt.cumsum(x, axis=1), pt.cumprod(x, axis=0)], (2, 3))
of_shapes(extra_ops.Repeat, lambda x: pt.repeat(x, 2, axis=1), (2, 3))
of_shapes(extra_ops.FillDiagonal, pt.extra_ops.fill_diagonal, (3, 4), ())
add(
    extra_ops.FillDiagonalOffset,
    lambda x, value: extra_ops.fill_diagonal_offset(x, value, np.int64(1)),
    unknown(3, 4, draw=fractions),
    unknown(draw=always(1)),
)
of_shapes(extra_ops.Unique, pt.unique, (5,))
add(extra_ops.Bartlett, pt.bartlett, unknown(draw=always(5)))
add(
    extra_ops.SearchsortedOp,
    pt.searchsorted,
    unknown(4, draw=lambda *how: np.sort(fractions(*how))),
    unknown(3, draw=fractions),
)
add(
    extra_ops.UnravelIndex,
    lambda x: list(pt.unravel_index(x, (3, 4))),
    unknown(3, draw=always([5, 11, 0])),
)
add(
    extra_ops.RavelMultiIndex,
    lambda x, y: pt.ravel_multi_index((x, y), (3, 4)),
    unknown(2, draw=always([0, 2])),
    unknown(2, draw=always([3, 1])),
)
of_shapes(SortOp, lambda x: pt.sort(x, axis=0), (3, 2))
of_shapes(ArgSortOp, lambda x: pt.argsort(x, axis=0, stable=True), (3, 2))
of_shapes(special.Softmax, lambda x: special.softmax(x, axis=1), (2, 3))
of_shapes(special.LogSoftmax, lambda x: special.log_softmax(x, axis=1), (2, 3))
of_shapes(Pad, lambda x: pt.pad(x, [(1, 0), (2, 1)], mode="constant"), (2, 3))
of_shapes(CheckAndRaise, lambda x: Assert("positive")(x, pt.all(pt.ge(x, 0))), (3,))
of_shapes(Print, Print("x"), (3,))
of_shapes(IfElse, lambda c, x, y: pytensor.ifelse(pt.eq(c, 1), x, y), (), (3,), (3,))
of_shapes((TypeCastingOp, DeepCopyOp), DeepCopyOp(), (3,))
of_shapes(OpFromGraph, lambda x: OpFromGraph([x], [x * x])(x), (3,))
of_shapes(
    Scan,
    lambda x: pytensor.scan(
        lambda a, b: a * b, x, pt.zeros((), dtype=x.dtype), return_updates=False
    ),
    (3,),
)
of_shapes(Convolve1d, lambda x, y: pt.signal.convolve1d(x, y, mode="full"), (5,), (2,))
of_shapes(fft.RFFTOp, pt.fft.rfft, (2, 6))
of_shapes(fft.IRFFTOp, pt.fft.irfft, (2, 4, 2))
of_shapes(Fourier, lambda x: pt.fourier.fft(x, 6, 1), (2, 6))

# Linear algebra


def dominant(rng, shape, dtype):
    """Return a matrix with a strong diagonal."""
    value = fractions(rng, shape, dtype) / np.asarray(4, dtype)
    return (value + 2 * np.eye(len(value), dtype=dtype)).astype(dtype)


def definite(rng, shape, dtype):
    """Return a symmetric matrix with a strong diagonal."""
    value = fractions(rng, shape, dtype) / np.asarray(4, dtype)
    return (value + value.T + 2 * np.eye(len(value), dtype=dtype)).astype(dtype)


def of_matrix(op_class, build, *others, draw=dominant):
    add(op_class, build, unknown(3, 3, draw=draw), *others)


RIGHT = unknown(3, 2, draw=fractions)
of_matrix(inverse.MatrixInverse, pt.linalg.inv)
of_matrix(summary.Det, pt.linalg.det)
of_matrix(summary.SLogDet, pt.linalg.slogdet)
of_matrix(products.Expm, pt.linalg.expm)
of_matrix(cholesky.Cholesky, pt.linalg.cholesky, draw=definite)
of_matrix(eigen.Eigh, lambda a: pt.linalg.eigh(a)[0], draw=definite)
of_matrix(eigen.Eigvalsh, pt.linalg.eigvalsh, draw=definite)
of_matrix(lu.LU, pt.linalg.lu)
of_matrix(lu.LUFactor, pt.linalg.lu_factor)
of_matrix(qr.QR, pt.linalg.qr)
of_matrix(general.Solve, pt.linalg.solve, RIGHT)
of_matrix(
    triangular.SolveTriangular,
    lambda a, b: pt.linalg.solve_triangular(a, b, lower=True),
    RIGHT,
)
of_matrix(psd.CholeskySolve, lambda a, b: pt.linalg.cho_solve((a, True), b), RIGHT)
of_matrix(constructors.BlockDiagonal, lambda a: pt.linalg.block_diag(a, a))
of_matrix(svd.SVD, lambda a: pt.linalg.svd(a, compute_uv=False))
of_matrix(inverse.MatrixPinv, pt.linalg.pinv)
of_matrix(inverse.TensorInv, lambda a: pt.linalg.tensorinv(a, ind=1))
of_matrix(lstsq.Lstsq, lambda a, b: lstsq.Lstsq()(a, b, pt.constant(-1.0)), RIGHT)
of_matrix(schur.Schur, pt.linalg.schur)
of_matrix(schur.QZ, lambda a: pt.linalg.qz(a, a + a.T))
of_matrix(eigen.Eig, pt.linalg.eig)


def sylvester(a):
    if not a.dtype.startswith("float"):
        raise TypeError("a singular system, with these numbers as integers")
    return pt.linalg.solve_sylvester(a, a, a)


of_matrix(linear_control.SolveSylvester, sylvester)
add(
    lstsq.TensorSolve,
    pt.linalg.tensorsolve,
    unknown(6, 2, 3, draw=always(2 * np.eye(6).reshape(6, 2, 3))),
    unknown(6, draw=fractions),
)
add(lu.PivotToPermutations, lu.pivot_to_permutation, unknown(3, draw=always([1, 1, 2])))


def solve_tridiagonal(below, diagonal, above, b):
    factor = tridiagonal.LUFactorTridiagonal()(below, diagonal + 2, above)
    return tridiagonal.SolveLUFactorTridiagonal(b_ndim=1, transposed=False)(*factor, b)


of_shapes(
    (tridiagonal.LUFactorTridiagonal, tridiagonal.SolveLUFactorTridiagonal),
    solve_tridiagonal,
    *((2,), (3,), (2,), (3,)),
)

# The package's Ops

ours(TopK, "topk")
ours(TopKGrad, "topk", wrt=0)
ours(Conv, "conv2d")
ours(ConvTranspose, "conv_transpose2d")
ours(ConvGradInput, "conv2d", wrt=0)
ours(ConvGradFilters, "conv2d", wrt=1)
ours(Pool, "max_pool2d, dilated")
ours(PoolWithIndices, "max_pool2d")
add(
    GatherAtMaxima,
    lambda x, y: GatherAtMaxima(op=pt.nn.max_pool2d(x, 2).owner.op)(x, y),
    *2 * OPERATORS["max_pool2d, dilated"].inputs,
)
ours(LpPool, "lp_pool2d")
ours(AdaptivePool, "adaptive_max_pool2d, overlapping")
ours(MaxUnpool, "max_unpool2d")
ours(MaxUnpoolGrad, "max_unpool2d", wrt=0)
ours(SymbolicPullback, "max_pool2d, dilated", wrt=0)
ours(Resize, "resize, nearest")
ours(ResizeGrad, "resize, nearest", wrt=0)
ours(BatchNormalization, "batch_norm")
ours(BatchNormalizationTrain, "batch_norm, training")
ours(LayerNormalization, "layer_norm")
ours(RMSNormalization, "rms_norm")
ours(InstanceNormalization, "instance_norm")
ours(GroupNormalization, "group_norm")
add(
    psa.Gelu,
    lambda x: [OPERATORS[name].build(x) for name in ("gelu", "gelu, tanh")],
    *OPERATORS["gelu"].inputs,
)
ours(psa.HardSigmoid, "hardsigmoid")
ours(psa.HardSwish, "hardswish")
ours(psa.Elu, "elu")
ours(psa.LeakyRelu, "leaky_relu")
ours(psa.PRelu, "prelu")
ours(psa.Relu, "relu")
ours(psa.Relu6, "relu6")
ours(psa.Selu, "selu")
ours(psa.Mish, "mish")
ours(psa.SiLU, "silu")
ours(psa.Softsign, "softsign")

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


def scalar_example(op):
    count = ARITIES.get(type(op), op.nin if op.nin > 0 else 2)
    constants = CONSTANTS.get(type(op), {})
    domain = always(DOMAINS[type(op)]) if type(op) in DOMAINS else fractions
    inputs = [
        unknown(3, draw=lambda *how, i=i: np.roll(domain(*how), i))
        for i in range(count)
        if i not in constants
    ]

    def build(*variables):
        arguments = iter(variables)
        dtype = variables[0].type.dtype
        return elemwise.Elemwise(op)(
            *(
                pt.constant(np.asarray(constants[i], dtype)) if i in constants else next(arguments)
                for i in range(count)
            )
        )

    return Example(type(op).__name__, build, tuple(inputs))


def composite(x, y):
    a, b = (ps.get_scalar_type(v.type.dtype)(name) for v, name in ((x, "a"), (y, "b")))
    return elemwise.Elemwise(ps.Composite([a, b], [a * b + a]))(x, y)


def scalar_loop(x, y):
    a, b = (ps.get_scalar_type(v.type.dtype)(name) for v, name in ((x, "x"), (y, "y")))
    return elemwise.Elemwise(ScalarLoop([a], [a + b], constant=[b]))(np.int64(3), x, y)


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


def random_example(name, parameters):
    def build(dtype):
        draw = getattr(pt.random, name)
        rng = pytensor.shared(np.random.default_rng(1))
        kwargs = parameters if isinstance(parameters, dict) else {}
        args = () if kwargs else parameters
        return draw(*args, **kwargs, size=(4,), rng=rng, dtype=dtype)

    return Example(f"random.{name}", build, (), takes_dtype=True)


def random_examples():
    """Yield the examples of random variables."""
    for name, parameters in RANDOM.items():
        yield random_example(name, parameters)
    for name, build in {
        "permutation": lambda dtype: pt.random.permutation(np.arange(5).astype(dtype)),
        "choice without replacement": lambda dtype: pt.random.choice(
            np.arange(5).astype(dtype), size=3, replace=False
        ),
    }.items():
        yield Example(f"random.{name}", build, (), takes_dtype=True)


def examples():
    """Yield all examples, in the order of the table."""
    yield from map(scalar_example, scalar_ops().values())
    three = unknown(3, draw=fractions)
    yield Example(
        "Cast", lambda x: [pt.cast(x, to) for to in DTYPES if to != x.type.dtype], (three,)
    )
    yield Example("Composite", composite, (three, three))
    yield Example("ScalarLoop", scalar_loop, (three, three))
    yield from sorted(EXAMPLES.values(), key=lambda example: example.name)
    yield from random_examples()


def covered_classes():
    """Return the classes of Ops that an example stands for."""
    random = {type(getattr(pt.random, name)) for name in RANDOM}
    random |= {GammaRV, PermutationRV, ChoiceWithoutReplacement, AbstractRNGConstructor}
    # What the export makes of a Scan, of a Choose from a list and of a layer's loop.
    made = {Loop, ChooseAmong, Recurrent}
    scalar = {elemwise.Elemwise, *scalar_ops(), ps.Cast, ps.Composite, ScalarLoop}
    return made | scalar | random | {op_class for classes in EXAMPLES for op_class in classes}
