"""Programs of compiled functions, and what a step's program for a GPU must not have.

That is seen in StableHLO before XLA optimizes it.  JAX makes that program on a machine without the
GPU: the platform's rules are its own.
"""

import re

import pytest

jax = pytest.importorskip("jax")

IMAGES = ("b, f, 0, 1", "f, b, 0, 1")  # cuDNN's own order; exchanged for gradients of filters
TO_THE_HOST = re.compile("callback|debug|ffi_call|infeed|outfeed")


def inputs_of(function):
    """Return the shapes and dtypes of a compiled function's inputs, whose shapes are static."""
    inputs = function.maker.fgraph.inputs
    return [jax.ShapeDtypeStruct(v.type.shape, v.type.dtype) for v in inputs]


def nodes_of(function, op_class):
    """Return a compiled function's nodes of a kind."""
    return [n for n in function.maker.fgraph.apply_nodes if isinstance(n.op, op_class)]


def traced(function):
    """Trace a compiled function whose inputs have static shapes."""
    return function.vm.jit_fn.trace(*inputs_of(function))


def lowered(function):
    """Lower a compiled function whose inputs have static shapes."""
    return function.vm.jit_fn.lower(*inputs_of(function))


def program_text(function):
    """Return what XLA gets of a compiled function whose inputs have static shapes."""
    return lowered(function).as_text()


def equations(program):
    """Yield the equations of a program, and of the programs in it."""
    for equation in program.eqns:
        yield equation
        for parameter in equation.params.values():
            for nested in parameter if isinstance(parameter, tuple | list) else [parameter]:
                nested = getattr(nested, "jaxpr", nested)
                if hasattr(nested, "eqns"):
                    yield from equations(nested)


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


def numbers_apart(module):
    """Yield rates and other numbers among the arguments that arrays are computed with.

    XLA merges updates into few loops because they read their numbers from one vector; of those that
    read scalars, each array gets a kernel of its own.
    """
    main = next(op for op in operations(module.operation) if op.name == "func.func")
    (block,) = main.regions[0]
    for op in operations(main):
        if op.name == "stablehlo.broadcast_in_dim" and op.results[0].type.shape != [1]:
            (number,) = op.operands
            yield from (str(v) for v in block.arguments if v == number and not v.type.shape)


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
        for check in (double_precision, wide_products, other_layouts, numbers_apart)
    }
    updates = len(function.maker.fgraph.update_mapping)
    found["kept_arguments"] = kept_arguments(module, updates)
    return {name: rows for name, rows in found.items() if rows}
