"""What a step's program for a GPU must not have, seen in StableHLO before XLA optimizes it.

JAX makes that program on a machine without the GPU: the platform's rules are its own.
"""

import re

import jax

from tests.link.jax.tuned.test_precision import equations

IMAGES = ("b, f, 0, 1", "f, b, 0, 1")  # cuDNN's own order; exchanged for gradients of filters
ELEMENTWISE = ("add", "convert", "divide", "multiply", "negate", "reshape", "sqrt", "subtract")
TO_THE_HOST = re.compile("callback|debug|ffi_call|infeed|outfeed")


def traced(function):
    """Trace a compiled function whose inputs have static shapes."""
    inputs = function.maker.fgraph.inputs
    return function.vm.jit_fn.trace(
        *(jax.ShapeDtypeStruct(v.type.shape, v.type.dtype) for v in inputs)
    )


def operations(operation):
    """Yield all operations inside one, in their order."""
    for region in operation.regions:
        for block in region:
            for inner in block:
                yield inner.operation
                yield from operations(inner.operation)


def attribute(operation, name):
    return str(operation.attributes[name])


def double_precision(module):
    """Yield operations on float64, but for those of constants alone, which XLA computes.

    With `jax_enable_x64` each constant without axes is one: see
    ``thoughts/upstream/jax-scalar-constant-dtype.md``.
    """
    constants = set()
    for op in operations(module.operation):
        if op.name == "stablehlo.constant" or (
            len(op.operands) and all(v in constants for v in op.operands)
        ):
            constants.update(op.results)
        elif any("f64>" in str(v.type) for v in (*op.operands, *op.results)):
            yield op.name


def calls_of_the_host(trace):
    """Return callbacks and foreign calls, as our kernels for processors are."""
    names = (equation.primitive.name for equation in equations(trace.jaxpr))
    return [name for name in names if TO_THE_HOST.search(name)]


def wide_products(module):
    """Yield convolutions and matrix products of other operands than bfloat16."""
    for op in operations(module.operation):
        if op.name in ("stablehlo.convolution", "stablehlo.dot_general"):
            yield from (str(v.type) for v in op.operands if "bf16>" not in str(v.type))


def kept_arguments(module, updates):
    """Return those last results, as many as there are updates, that aren't over an argument."""
    main = next(op for op in operations(module.operation) if op.name == "func.func")
    results = len(list(main.attributes["res_attrs"]))
    written = re.findall(r"tf\.aliasing_output = (\d+)", attribute(main, "arg_attrs"))
    return sorted({*range(results - updates, results)} - {*map(int, written)})


def numbers_apart(module, updates):
    """Return where updates of arrays read numbers, if they don't all read one vector.

    A rate or a decay is such a number.  XLA merges updates into few loops because they read one
    vector; of those that read scalars alone, each array gets a kernel of its own.
    """
    main = next(op for op in operations(module.operation) if op.name == "func.func")
    (block,) = main.regions[0]
    returned = list(list(block)[-1].operands)
    read = [_numbers_read(v, {}) for v in returned[len(returned) - updates :] if v.type.shape]
    vectors = {source for sources in read for source in sources if "vector" in source}
    apart = [source for sources in read if not sources & vectors for source in sources]
    return sorted({*apart, *(vectors if len(vectors) > 1 else ())})


def _numbers_read(value, known):
    """Return where the numbers come from that elementwise operations on arrays read."""
    if value not in known:
        known[value] = set()
        op = getattr(value.owner, "operation", value.owner)  # a block for the program's arguments
        name = getattr(op, "name", "argument")
        if name == "stablehlo.broadcast_in_dim" and not op.operands[0].type.shape:
            known[value] = {_origin(op.operands[0])} - {"stablehlo.constant"}
        elif name.removeprefix("stablehlo.") in ELEMENTWISE:
            known[value] = {source for v in op.operands for source in _numbers_read(v, known)}
    return known[value]


def _origin(value):
    op = getattr(value.owner, "operation", value.owner)
    name = getattr(op, "name", "argument")
    if name in ("stablehlo.reshape", "stablehlo.slice"):
        return _origin(op.operands[0])
    if name == "stablehlo.optimization_barrier" and len(value.type.shape) == 1:
        return f"vector {hash(value):x}"  # its name would be looked for in the whole program
    return name


def other_layouts(module):
    """Yield convolutions of images whose channels aren't second, and transpositions of images."""
    for op in operations(module.operation):
        if op.name == "stablehlo.convolution":
            order = attribute(op, "dimension_numbers")
            image, result = re.search(r"\[(.*?)\]x.*->\[(.*?)\]", order).groups()
            if image not in IMAGES or result not in IMAGES:
                yield order
        elif op.name == "stablehlo.transpose" and len(op.operands[0].type.shape) == 4:
            yield f"transpose of {op.operands[0].type}"


def faults(function):
    """Return what is wrong with a step compiled for a GPU, by the name of the check."""
    trace = traced(function)
    if found := calls_of_the_host(trace):  # for a GPU that isn't there JAX can't lower them
        return {"calls_of_the_host": found}
    module = trace.lower(lowering_platforms=("cuda",)).compiler_ir("stablehlo")
    found = {
        check.__name__: list(check(module))
        for check in (double_precision, wide_products, other_layouts)
    }
    updates = len(function.maker.fgraph.update_mapping)
    found |= {check.__name__: check(module, updates) for check in (kept_arguments, numbers_apart)}
    return {name: rows for name, rows in found.items() if rows}
