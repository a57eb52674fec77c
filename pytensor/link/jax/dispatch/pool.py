import warnings
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.dispatch.vjp import differentiated, jax_pullback
from pytensor.link.jax.rewriting.recompute import Barrier
from pytensor.tensor.conv.lengths import window_extent
from pytensor.tensor.pool.adaptive import AdaptivePool
from pytensor.tensor.pool.lp import LpPool
from pytensor.tensor.pool.ops import GatherAtMaxima, Pool, PoolWithIndices
from pytensor.tensor.pool.windows import Steps, WindowOp
from pytensor.tensor.type import TensorType

# `lax.reduce_window` and its gradient visit every cell of every window one by one; of a few shifted
# slices XLA makes one loop, which takes a fraction of that.
# thoughts/upstream/xla-cpu-depthwise.md


class Spread(Op):
    """`Steps.spread` by padding: of a write to slices XLA would make a scatter."""

    __props__ = ("axis", "first", "stride", "length", "fill")

    def __init__(self, *props):
        self.axis, self.first, self.stride, self.length, self.fill = props

    def make_node(self, x):
        shape = [*x.type.shape[: self.axis], self.length, *x.type.shape[self.axis + 1 :]]
        return Apply(self, [x], [TensorType(x.type.dtype, shape)()])

    def perform(self, node, inputs, output_storage):
        raise NotImplementedError("made for mode JAX, and runs there only")


@jax_funcify.register(Spread)
def jax_funcify_Spread(op, **kwargs):
    def spread(x):
        reach = window_extent(x.shape[op.axis], op.stride)
        pads = [(0, 0, 0)] * x.ndim
        pads[op.axis] = op.first, op.length - op.first - reach, op.stride - 1
        return lax.pad(x, np.asarray(op.fill, x.dtype), pads)

    return spread


class JAXSteps(Steps):
    after_axis = Barrier()

    def spread(self, x, axis, first, stride, number, length, fill=0):
        return Spread(axis, first, stride, length, fill)(x)


def _known_dtype(array):
    # PyTensor has no bfloat16, in which maxima are computed as in float32
    return "float32" if array.dtype == jnp.bfloat16 else str(array.dtype)


def for_known_lengths(build, op):
    """Return a function that computes what `build` makes of variables.

    While JAX traces, it knows all lengths: the graph is built for them, so that it has neither
    checks nor arithmetic of lengths.
    """
    if isinstance(getattr(op, "op", op), WindowOp):
        build = partial(build, steps=JAXSteps())

    def pooled(*arrays):
        inputs = [TensorType(_known_dtype(a), a.shape)() for a in arrays]
        graph = FunctionGraph(inputs, build(*inputs), clone=False)
        with warnings.catch_warnings():
            # JAX says so where it has no int64; int32 will do for positions
            warnings.filterwarnings("ignore", "Explicitly requested dtype int64", UserWarning)
            with jax.ensure_compile_time_eval():
                function = jax_funcify(graph)
            # JAX's sums of narrow integers have a wider dtype
            results = zip(function(*arrays), graph.outputs, strict=True)
            outputs = tuple(
                out if out.dtype == jnp.bfloat16 else out.astype(v.type.dtype) for out, v in results
            )
        return outputs[0] if len(outputs) == 1 else outputs

    return pooled


@jax_funcify.register(Pool)
@jax_funcify.register(LpPool)
@jax_funcify.register(AdaptivePool)
@jax_funcify.register(GatherAtMaxima)
@jax_funcify.register(PoolWithIndices)
def jax_funcify_pooling(op, **kwargs):
    return for_known_lengths(op.build_inner_graph, op)


@jax_pullback.register(Pool)
def jax_pullback_Pool(op, pullback, **kwargs):
    return for_known_lengths(pullback.build_inner_graph, op)


jax_pullback.register(LpPool)(differentiated)
jax_pullback.register(AdaptivePool)(differentiated)
