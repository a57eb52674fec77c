"""Make ``mode="ONNX"`` known, and the rewrites of mode JAX.

Nothing else of either is loaded before a function is compiled.
"""

import pytensor.link.jax.rewriting
from pytensor.compile.mode import (
    Mode,
    RewriteDatabaseQuery,
    fast_run_linkers_to_mode,
    register_linker,
    register_mode,
)
from pytensor.link.onnx.linker import ONNXLinker

register_linker("onnx", ONNXLinker())
ONNX = Mode(ONNXLinker(), RewriteDatabaseQuery(include=["fast_run"]))
register_mode("ONNX", ONNX)
# FAST_RUN with config.linker="onnx"
fast_run_linkers_to_mode["onnx"] = ONNX

__all__ = []
