"""Seeds of a model's draws."""

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.errors import ConversionError
from pytensor.link.onnx.generator_keys import canonical, digest
from pytensor.link.onnx.write.term import Generator, Term
from pytensor.tensor.random.op import AbstractRNGConstructor


def seed_of(*parts):
    """Return an integer from 1 to 2**24, up to which each is a float32, ONNX's type for seeds."""
    return int(digest(*parts)[:6], 16) + 1


@onnx_funcify.register(AbstractRNGConstructor)
def onnx_funcify_AbstractRNGConstructor(op, node, seed):
    if not isinstance(seed, Term):
        # Without a seed it gets the builder.
        return Generator(seed, seed.graph.fresh_name("generator"))
    if seed.data is None:
        raise ConversionError(
            "the seed of a model's draws is part of the model; give a constant one"
        )
    return Generator(seed.builder, digest(op.random_constructor, canonical(seed.data)))
