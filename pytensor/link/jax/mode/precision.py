"""Mixed precision on JAX: bfloat16 for convolutions and activations, float32 for all else.

::

    step = pytensor.function([x, y], loss, updates=updates, mode=jax_mode(precision="bf16"))

PyTensor has no bfloat16, and the graph stays one of float32.  What a node computes in is decided
while it is converted to JAX, where `in_mixed_precision` wraps its function, and while JAX traces
it, when the dtypes of its inputs are known.  Only float32 is ever replaced: variables of any other
dtype, float64 among them, are computed as without this module.

The rules, by kind of Op (`pytensor.graph.facts.precision`, which is open for others):

========================================  =========================================================
convolutions and their gradients          bfloat16 operands and results; gradients of filters are
                                          cast to float32, which the update is computed in
products of matrices                      bfloat16 where one operand is bfloat16 already, or where
                                          one depends on shared variables only, and the other on
                                          inputs too (a layer's weights and activations).  The
                                          result is float32 where it reaches an output of the
                                          function through elementwise functions: there it is a
                                          parameter's gradient on its way to the update.
normalizations and their gradients        computed in float32; images leave in the dtype in which
                                          they came, statistics and parameters' gradients in
                                          float32
views (reshape, join, split, indexing,    keep bfloat16
maximum pooling, ...)
cheap functions (sums, products,          computed in float32, then rounded to bfloat16
activations, resize, padding, pooling)
everything else (reductions, exp, log,    float32
softmax, comparisons, branches, ...)
========================================  =========================================================

A view or a cheap function keeps bfloat16 where all its floating-point inputs have it, those left
out that can't tell what precision is wanted: scalars, arrays of one repeated constant, and
parameters smaller than the image (biases).  Any other float32 input makes the result float32.

What only elementwise functions on the way to one result read isn't rounded: a compiler computes
them in one loop, where float32 costs nothing.  SiLU after a normalization is rounded once, and so
is its gradient of five functions.  On GPUs XLA leaves out the other roundings by itself; on CPUs
it doesn't, and they cost digits.

The values that a function returns, new values of shared variables, and what enters and leaves a
nested graph (Scan, OpFromGraph) have the dtype that the graph says.  Parameters, optimizers and
averages are therefore float32 from end to end.  bfloat16 has the range of float32, so that losses
need no scaling.

The outputs of a network should pass through `pytensor.tensor.precision.full_precision` on their
way to the loss.
"""

from weakref import WeakKeyDictionary

import jax.numpy as jnp

from pytensor import scalar as ps
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant
from pytensor.graph.facts import precision
from pytensor.link.jax.rewriting.channels_last import ChannelsLast, is_image
from pytensor.link.jax.rewriting.updates import Update
from pytensor.link.jax.target import in_one_kernel
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.basic import Alloc, Join, Split
from pytensor.tensor.blas import BatchedDot
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.einsum import Einsum
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.extra_ops import Repeat
from pytensor.tensor.math import Dot
from pytensor.tensor.pad import Pad
from pytensor.tensor.shape import Reshape, SpecifyShape
from pytensor.tensor.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
)
from pytensor.tensor.type import TensorType

__all__ = ["RULES", "in_mixed_precision"]

LOW, SINGLE = jnp.bfloat16, jnp.float32

CHEAP = (
    ps.Abs, ps.Add, ps.Clip, ps.Identity, ps.Maximum, ps.Minimum, ps.Mul, ps.Neg, ps.Second,
    ps.Sigmoid, ps.Sign, ps.Sub, ps.Switch, ps.Tanh, ps.TrueDiv,
)  # fmt: skip


def in_mixed_precision(convert):
    """Wrap a node conversion, such that what it returns follows the rules of this module.

    Its keyword `within` is the function graph that the node is in.
    """
    facts = WeakKeyDictionary()

    def converted(op, *, node, within, **kwargs):
        function = convert(op, node=node, within=within, **kwargs)
        if not any(map(_is_single, (*node.inputs, *node.outputs))):
            return function
        if within not in facts:
            facts[within] = GraphFacts(within)
        known = facts[within]
        function = RULES[precision(_core(op))](function, node, known)
        return _cast_outputs_to_single(function, node, known)

    return converted


class GraphFacts:
    """Facts that the rules need of a function graph, besides a node and its inputs.

    Attributes
    ----------
    outputs : set of variable
    of_parameters : set of variable
        Those that depend on shared variables and constants only.
    of_shared : set of variable
        Those among them that depend on a shared variable.
    uniform : set of variable
        Those that repeat one constant.
    leaving : set of variable
        Those from which a path of views and elementwise functions leads to an output.
    ends : dict of variable to variable
        Of elementwise functions' results, and normalizations', that elementwise functions alone
        read: the one result that all these lead to, over others of their kind.
    """

    def __init__(self, fgraph):
        self.outputs = set(fgraph.outputs)
        self.of_shared = {v for v in fgraph.inputs if isinstance(v, SharedVariable)}
        self.of_parameters = set(self.of_shared)
        self.uniform = set()
        self.leaving = set(fgraph.outputs)
        order = fgraph.toposort()
        for node in order:
            self._look_forward(node)
        for node in reversed(order):
            if _is_transparent(node.op) and not self.leaving.isdisjoint(node.outputs):
                self.leaving.update(node.inputs)
        self.ends = {}
        for node in reversed(order):
            # Only these does a compiler compute together with what reads them.
            if isinstance(node.op, Elemwise) or precision(node.op) == "normalization":
                for variable in node.outputs:
                    self._find_end(variable, fgraph.clients[variable])

    def _find_end(self, variable, clients):
        if variable in self.outputs or not all(type(n.op) is Elemwise for n, _ in clients):
            return
        ends = {self.ends.get(out, out) for n, _ in clients for out in n.outputs}
        # With two results there may be two loops, and the value in memory between them.
        if len(ends) == 1:
            (self.ends[variable],) = ends

    def _look_forward(self, node):
        constants = [v for v in node.inputs if isinstance(v, Constant)]
        self.of_parameters.update(constants)
        self.uniform.update(v for v in constants if _repeats_one_value(v))
        if self.of_parameters.issuperset(node.inputs):
            self.of_parameters.update(node.outputs)
            if not self.of_shared.isdisjoint(node.inputs):
                self.of_shared.update(node.outputs)
        if isinstance(node.op, Alloc) and node.inputs[0] in self.uniform:
            self.uniform.update(node.outputs)

    def keeps_low(self, node, values):
        """Return whether a view or a cheap function of these values is bfloat16."""
        size = max((v.size for v in values if _is_low(v)), default=None)
        return size is not None and all(
            _is_low(value) or not _is_floating(variable) or self._is_neutral(variable, value, size)
            for variable, value in zip(node.inputs, values, strict=True)
        )

    def _is_neutral(self, variable, value, size):
        # Constant scalars come as Python numbers.
        return (
            jnp.size(value) == 1
            or variable in self.uniform
            or (variable in self.of_parameters and jnp.size(value) < size)
        )

    def round(self, variable, value):
        """Return the value of a variable that is bfloat16."""
        return Unrounded(value) if variable in self.ends else value.astype(LOW)

    def is_layer(self, node):
        """Return whether a product is that of parameters and something that inputs decide."""
        return not (
            self.of_shared.isdisjoint(node.inputs) or self.of_parameters.issuperset(node.inputs)
        )


class Unrounded:
    """A value on the way from one elementwise function to the next: bfloat16 but for rounding."""

    dtype = jnp.dtype(LOW)

    def __init__(self, value):
        self.value = value

    @property
    def size(self):
        return self.value.size

    def astype(self, dtype):
        return self.value.astype(dtype)


def _repeats_one_value(constant):
    data = getattr(constant, "data", None)
    return _is_single(constant) and data.size > 0 and bool((data == data.flat[0]).all())


def _is_floating(variable):
    return isinstance(variable.type, TensorType) and variable.type.dtype.startswith("float")


def _is_single(variable):
    return isinstance(variable.type, TensorType) and variable.type.dtype == "float32"


def _is_low(value):
    return getattr(value, "dtype", None) == LOW


def _core(op):
    return op.op if isinstance(op, ChannelsLast) else op


def _single(values):
    """Return values, with float32 in the place of bfloat16."""
    return [v.astype(SINGLE) if _is_low(v) else v for v in values]


def _low(values, variables):
    """Return values, with bfloat16 where the graph has float32."""
    return [
        _rounded(value, variable) if _is_single(variable) else value
        for value, variable in zip(values, variables, strict=True)
    ]


def _rounded(value, variable):
    value = jnp.asarray(value)
    is_parameter = variable.owner is None and value.ndim > 1 and value.dtype == SINGLE
    return (in_one_kernel(value) if is_parameter else value).astype(LOW)


def _change(results, change):
    """Return a node's results with `change(position, result)` in their places."""
    if isinstance(results, tuple | list):
        return tuple(change(i, result) for i, result in enumerate(results))
    return change(0, results)


def _cast_outputs_to_single(function, node, facts):
    """Give a node's results that are outputs of its graph the dtype that the graph says."""

    def leave(i, result):
        leaves = node.outputs[i] in facts.outputs and _is_low(result)
        return result.astype(SINGLE) if leaves else result

    return lambda *values: _change(function(*values), leave)


# ------------------------------------------------------------------------------ the rules


# A rule takes a node's function, the node and the `GraphFacts`, and returns the function that shall
# take its place.


def in_single(function, node, facts):
    """Compute everything in float32."""
    return lambda *values: function(*_single(values))


def as_view(function, node, facts):
    """Compute in bfloat16: for Ops that don't round, and don't add."""

    def view(*values):
        low = facts.keeps_low(node, values)
        return function(*(_low(values, node.inputs) if low else _single(values)))

    return view


def as_cheap(function, node, facts):
    """Compute in float32, and round where the inputs were rounded."""

    def rounded(i, result):
        return facts.round(node.outputs[i], result) if _is_single(node.outputs[i]) else result

    def cheap(*values):
        results = function(*_single(values))
        return _change(results, rounded) if facts.keeps_low(node, values) else results

    return cheap


def as_normalization(function, node, facts):
    """Compute in float32; the image, or its gradient, leaves as the image came."""
    is_image = [v.type.ndim == node.inputs[0].type.ndim for v in node.outputs]
    by_kernel = getattr(function, "takes_bfloat16", False)  # and computes in float32 as well

    def normalization(*values):
        low = _is_low(values[0])

        def rounded(i, result):
            return facts.round(node.outputs[i], result) if low and is_image[i] else result

        values = [v.astype(v.dtype) for v in values] if by_kernel else _single(values)
        return _change(function(*values), rounded)

    return normalization


def as_convolution(function, node, facts):
    """Take bfloat16 operands, and return bfloat16; cast gradients of filters to float32."""
    if not all(map(_is_single, (*node.inputs, *node.outputs))):
        return in_single(function, node, facts)
    of_filters = not is_image(_core(node.op))

    def convolution(*values):
        out = function(*_low(values, node.inputs))
        return out.astype(SINGLE if of_filters else LOW)

    return convolution


def as_product(function, node, facts):
    """Take bfloat16 operands where one is, or where parameters meet something else."""
    if not all(map(_is_single, (*node.inputs, *node.outputs))):
        return in_single(function, node, facts)
    (out,) = node.outputs
    layer, leaving = facts.is_layer(node), out in facts.leaving

    def product(*values):
        if not layer and not any(map(_is_low, values)):
            return function(*values)
        values = _low(values, node.inputs)
        if leaving and isinstance(node.op, Dot):
            return jnp.matmul(*values, preferred_element_type=SINGLE)
        return function(*values).astype(SINGLE if leaving else LOW)

    return product


RULES = {
    "single": in_single,
    "view": as_view,
    "cheap": as_cheap,
    "normalization": as_normalization,
    "convolution": as_convolution,
    "product": as_product,
}

# ------------------------------------------------------------------------------ PyTensor's own Ops

for _view in (
    AdvancedSubtensor, Alloc, CheckAndRaise, DimShuffle, Join, Repeat, Reshape, SpecifyShape, Split,
    Subtensor,
):  # fmt: skip
    precision.register(_view, lambda op: "view")

for _cheap in (AdvancedIncSubtensor, IncSubtensor, Pad, *CHEAP):
    precision.register(_cheap, lambda op: "cheap")

for _product in (BatchedDot, Dot, Einsum):
    precision.register(_product, lambda op: "product")


@precision.register(Blockwise)
def _(op):
    # Reshape, Subtensor, ... are the same function of a batch.
    answer = precision(op.core_op)
    return answer if answer in ("product", "view", "cheap") else "single"


@precision.register(Elemwise)
def _(op):
    return precision(op.scalar_op)


@precision.register(ps.Cast)
def _(op):
    return "cheap" if op.o_type.dtype == "float32" else "single"


def _is_transparent(op):
    return isinstance(op, Elemwise | Update) or precision(op) in ("view", "cheap")
