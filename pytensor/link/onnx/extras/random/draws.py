"""Random numbers that the samplers are made of."""

from functools import partial
from math import pi

import numpy as np

from pytensor.graph.basic import Constant
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.extras.random.hash import counters, hashed_uniform, mix, random_start
from pytensor.link.onnx.extras.random.seed import seed_of
from pytensor.link.onnx.generator_keys import digest
from pytensor.link.onnx.write.formula import cos, log, sqrt
from pytensor.link.onnx.write.term import Generator, Term, concat, maximum, where

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

    def __init__(self, key, shape, sizes):
        self.builder = shape.builder
        self.key = key
        self.shape = shape
        self.sizes = tuple(sizes)
        self._count = 0
        self.hashed = self.hashed or self.builder.opset > LAST_WITH_KERNELS
        # Here and not at the first draw, which may be in the body of a loop.
        self._template = self._make_template()

    def _make_template(self):
        if self.hashed:
            return counters(self.shape)
        if self.sizes and None not in self.sizes:
            return None
        zero = np.zeros(1, "uint8")
        return self.builder.node("ConstantOfShape", self.shape, result="uint8", value=zero)

    def uniform(self):
        """Draw from 0, included, to 1, excluded."""
        if self.hashed:
            return hashed_uniform(self._template, self._start())
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
        return self.expand(self.builder.constant(value, "float64"))

    def expand(self, term):
        if 0 in self.sizes and None not in self.sizes:
            # onnxruntime takes an Expand from 1 to 0 for one that does nothing.
            # thoughts/upstream/onnxruntime-empty-tensors.md
            return term.lift(np.zeros(self.sizes))
        return term.expand(self.shape)

    def _start(self):
        """Return where the counter of hashed numbers starts, another one for each draw."""
        return mix(random_start(self.builder, self._seed()))

    def _seed(self):
        self._count += 1
        return seed_of(self.key, str(self._count))

    def _draw(self, op_type):
        settings = {"dtype": np.dtype("float64"), "seed": float(self._seed())}
        if self._template is None:
            shape = list(self.sizes)
            return self.builder.node(op_type, result="float64", shape=shape, **settings)
        return self.builder.node(f"{op_type}Like", self._template, result="float64", **settings)


def draw_by_input(builder, variable, draws, source):
    """Let draws depend on a further input, which a variable stands for; returns both, by its name.

    `draws` is a class of them, whose first argument is what `source` makes of builder and input.
    """
    name = builder.graph.fresh_name(variable.name)
    value = Term(builder, name, variable.type.dtype, variable.type.shape)
    builder.draws = partial(draws, source(builder, value))
    for number, node in enumerate(builder.graph.nodes):
        node.name = f"{name}/{node.op_type.lower()}_{number}"
    return variable, name


def batch_shape(node, builder, size, params):
    """Return a RandomVariable's batch axes as an int64 vector, and what is known of them."""
    op = node.op
    known = node.outputs[1].type.shape[: op.batch_ndim(node)]
    if None not in known:
        return builder.vector(known), known
    if size is not None:
        return size.cast("int64"), known
    result = None
    for x, core_ndim in zip(params, op.ndims_params, strict=True):
        shape = x.sizes(end=-core_ndim if core_ndim else None)
        # Not the larger one: 0 and 1 make 0.
        result = shape if result is None else where(result == 1, shape, result)
    return result, known


def doubles(params):
    """Return the parameters in double precision."""
    return [x.cast("float64") for x in params]


def draws_of(node, generator, size, params, core=(), core_sizes=()):
    """Return draws in a node's batch shape, with further axes: their lengths, and what is known."""
    builder = generator.builder
    shape, known = batch_shape(node, builder, size, params)
    return (builder.draws or Draws)(
        generator.key, concat([shape, *core]), (*known, *core_sizes)
    )


def after_draw(node, generator):
    """Return the generator's state after a draw."""
    # Neither names nor numbers of nodes: the seeds shan't change with other parts of the graph.
    key = generator.key
    constants = [str(v.data.tolist()) for v in node.inputs[2:] if isinstance(v, Constant)]
    root, colon, _ = key.rpartition(":")
    text = root + colon + digest(key, str(node.op), str(node.outputs[1].type), *constants)
    return Generator(generator.builder, text)


def sampler(op_class):
    """Register ``function(draws, *terms) -> term`` for a RandomVariable of numbers.

    The term may have fewer axes, or smaller ones, than the draws.
    """

    def register(function):
        @onnx_funcify.register(op_class)
        def converter(op, node, generator, size, *params):
            draws = draws_of(node, generator, size, params)
            result = function(draws, *doubles(params))
            return after_draw(node, generator), result.cast(op.dtype)

        return function

    return register


def repeat_while(draws, step, condition, state):
    """Repeat ``state = step(*state)`` of terms in the shape of the draws; return the last ones.

    It goes on while any entry of ``condition(*state)`` is true.
    """

    def body(k, *before):
        after = step(*before)
        return condition(*after).any(), *after

    start, shapes = condition(*state).any(), [draws.sizes] * len(state)
    return draws.builder.loop(body, state, condition=start, shapes=shapes)
