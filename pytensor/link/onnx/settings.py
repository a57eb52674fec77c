"""Operator sets that models may have, rewrites that prepare graphs for them, and their runtime."""

from importlib import import_module
from types import ModuleType

# Fusion, BLAS calls and in-place work are for the backends that run the graph themselves.
# Lifting a slice above the nodes before it computes those once per slice instead of once.
INCOMPATIBLE_REWRITES = (
    "inplace",
    "fusion",
    "BlasOpt",
    "cxx_only",
    "add_mul_fusion",
    "local_careduce_fusion",
    "compile_inner_graph",
    "specialize_matmul_to_batched_dot",
    # `local_reduce_one_integer` does it where no NaN can get lost.
    "local_reduce_broadcastable",
    # Its sizes of -1 can't be told where another size is 0.
    # thoughts/upstream/matmul-of-nothing-reshape.md
    "local_batched_matmul_to_core_matmul_with_reshape",
    # Buffers for the states of a scan of which only the last is used.
    "scan_save_mem_prealloc",
    # It keeps only one product of a sum of several, as compiled functions have them.
    # thoughts/upstream/scan-pushout-add.md
    "scan_pushout_add",
    # A solver of the transposed matrix reads the other triangle: see
    # thoughts/upstream/solve-triangle.md.
    "useless_symmetric_transpose",
)
REQUIRED_REWRITES = (
    "minimum_compile", "corrections", "keep_recurrent", "scan_save_mem_no_prealloc",
)  # fmt: skip

# From 18 on the axes of reductions are inputs; what comes after 24 onnxruntime doesn't run yet.
OPSETS = range(18, 25)


def require_onnxruntime(what: str) -> ModuleType:
    """Import onnxruntime, and onnx, or say for what they are needed."""
    try:
        import_module("onnx")
        return import_module("onnxruntime")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{what} needs the package {error.name!r}: pip install onnx onnxruntime",
            name=error.name,
        ) from error
