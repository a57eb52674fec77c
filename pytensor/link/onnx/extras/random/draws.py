"""Random numbers that the samplers are made of."""

from functools import partial
from math import pi

import numpy as np

from pytensor.graph.basic import Constant
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.scalar.basic import any_of
from pytensor.link.onnx.extras.random.hash import counters, hashed_uniform, mix, random_start
from pytensor.link.onnx.extras.random.seed import seed_of
from pytensor.link.onnx.generator_keys import digest
from pytensor.link.onnx.write.builder import as_tuple
from pytensor.link.onnx.write.term import Term, cos, log, maximum, sqrt

HALF_ULP = 2.0**-54
# onnxruntime has no kernel for RandomUniform and its like of operator set 22.
# thoughts/upstream/onnxruntime-missing-kernels.md
LAST_WITH_KERNELS = 21


class Draws:
    """Independent random numbers in double precision, all of one shape.

    Single precision would be too coarse: its uniform numbers are multiples of 2**-24, so the
    largest exponential one would be 17.  Seeds are made from `key`; `sizes` are what is known of
    the int64 vector `shape`.
    """

    hashed = False  # even where the runtime could draw

    def __init__(self, builder, key, shape, sizes):
        self.builder = builder
        self.key = key
        self.shape = shape
        self.sizes = tuple(sizes)
        self._count = 0
        self.hashed = self.hashed or builder.opset > LAST_WITH_KERNELS
        # Here and not at the first draw, which may be in the body of a loop.
        self._template = self._make_template()

    def _make_template(self):
        if self.hashed:
            return counters(self.builder, self.shape)
        if self.sizes and None not in self.sizes:
            return None
        return self.builder.add("ConstantOfShape", self.shape, value=np.zeros(1, dtype="uint8"))

    def uniform(self):
        """Draw from 0, included, to 1, excluded."""
        if self.hashed:
            return hashed_uniform(self.builder, self._template, self._start())
        return self._draw("RandomUniform")

    def open_uniform(self):
        """Draw between 0 and 1: the logarithms of it and of its complement are finite."""
        return maximum(self.uniform(), HALF_ULP)

    def normal(self):
        if self.hashed:
            # Box & Muller 1958.
            return sqrt(2.0 * self.exponential()) * cos(2 * pi * self.uniform())
        return self._draw("RandomNormal")

    def exponential(self):
        return -log(1.0 - self.uniform())

    def full(self, value):
        """Return a value in the shape of the draws."""
        return self.expand(Term(self.builder, self.builder.constant(value, "float64")))

    def expand(self, term):
        if 0 in self.sizes and None not in self.sizes:
            # onnxruntime takes an Expand from 1 to 0 for one that does nothing.
            # thoughts/upstream/onnxruntime-empty-tensors.md
            return Term(self.builder, self.builder.constant(np.zeros(self.sizes), "float64"))
        return Term(self.builder, self.builder.add("Expand", term.name, self.shape))

    def _start(self):
        """Return where the counter of hashed numbers starts, another one for each draw."""
        return mix(Term(self.builder, random_start(self.builder, self._seed())))

    def _seed(self):
        self._count += 1
        return seed_of(self.key, str(self._count))

    def _draw(self, op_type):
        settings = {"dtype": np.dtype("float64"), "seed": float(self._seed())}
        if self._template is None:
            name = self.builder.add(op_type, shape=list(self.sizes), **settings)
        else:
            name = self.builder.add(f"{op_type}Like", self._template, **settings)
        return Term(self.builder, name)


def draw_by_input(builder, variable, draws, source):
    """Let draws depend on a further input, which a variable stands for; returns both, by its name.

    `draws` is a class of them, whose first argument is what `source` makes of builder and input.
    """
    name = builder.graph.fresh_name(variable.name)
    builder.draws = partial(draws, source(builder, name))
    for number, node in enumerate(builder.graph.nodes):
        node.name = f"{name}/{node.op_type.lower()}_{number}"
    return variable, name


def batch_shape(node, builder, size, params):
    """Name of the int64 vector of a RandomVariable's batch axes, and what is known of it."""
    op = node.op
    known = node.outputs[1].type.shape[: op.batch_ndim(node)]
    if None not in known:
        return builder.int64s(known), known
    if size:
        return builder.cast(size, op.size_param(node).type.dtype, "int64"), known
    one = builder.constant(1, "int64")
    result = None
    for name, core_ndim in zip(params, op.ndims_params, strict=True):
        shape = builder.add("Shape", name, end=-core_ndim if core_ndim else None)
        if result is not None:
            # Not the larger one: 0 and 1 make 0.
            shape = builder.add("Where", builder.add("Equal", result, one), shape, result)
        result = shape
    return result, known


def terms_of(node, builder, params):
    """Return the parameters in double precision."""
    return [
        Term(builder, builder.cast(name, variable.type.dtype, "float64"))
        for name, variable in zip(params, node.op.dist_params(node), strict=True)
    ]


def draws_of(node, builder, key, size, params, core=(), core_sizes=()):
    """Return draws in a node's batch shape, with further axes: names of vectors, and sizes."""
    shape, known = batch_shape(node, builder, size, params)
    if core:
        shape = builder.add("Concat", shape, *core, axis=0)
    return (builder.draws or Draws)(builder, key, shape, (*known, *core_sizes))


def next_key(node, key):
    """Return the key of the generator's state after a draw."""
    # Neither names nor numbers of nodes: the seeds shan't change with other parts of the graph.
    constants = [str(v.data.tolist()) for v in node.inputs[2:] if isinstance(v, Constant)]
    root, colon, _ = key.rpartition(":")
    return root + colon + digest(key, str(node.op), str(node.outputs[1].type), *constants)


def sampler(op_class):
    """Register ``function(draws, *terms) -> term`` for a RandomVariable of numbers.

    The term may have fewer axes, or smaller ones, than the draws.
    """

    def register(function):
        @onnx_funcify.register(op_class)
        def converter(op, node, builder, key, size, *params):
            draws = draws_of(node, builder, key, size, params)
            result = function(draws, *terms_of(node, builder, params))
            return next_key(node, key), builder.cast(result.name, "float64", op.dtype)

        return function

    return register


def repeat_while(draws, step, condition, state, dtype="float64"):
    """Repeat ``state = step(*state)`` of terms in the shape of the draws; return the last ones.

    It goes on while any entry of ``condition(*state)`` is true.
    """
    builder = draws.builder
    start = any_of(builder, condition(*state).name)
    with builder.subgraph() as body:
        body.add_input("step", "int64", ())
        body.add_input("condition", "bool", ())
        names = [body.add_input("state", dtype, draws.sizes) for _ in state]
        after = step(*(Term(builder, name) for name in names))
        builder.output(any_of(builder, condition(*after).name), "bool", ())
        for term in after:
            builder.output(term.name, dtype, draws.sizes)
    inputs = [term.name for term in state]
    outputs = builder.add("Loop", "", start, *inputs, n_outputs=len(state), body=body)
    return [Term(builder, name) for name in as_tuple(outputs)]
