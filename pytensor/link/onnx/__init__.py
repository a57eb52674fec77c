"""ONNX backend: export of graphs, and ``mode="ONNX"``.

Needs the package ``onnx`` to build and check models, and ``onnxruntime`` to run them.  Both are
imported at first use: PyTensor itself loads the linker's module to register the mode.
"""

from importlib import import_module

MODULES = {
    "ConversionError": "errors",
    "DroppedCheckWarning": "errors",
    "DroppedPrintWarning": "errors",
    "DroppedRandomStateWarning": "errors",
    "ONNXLinker": "linker",
    "UnsupportedOpError": "errors",
    "VerificationError": "errors",
    "export_onnx": "export",
    "onnx_funcify": "dispatch",
    "quantize_int8": "quantize",
}

__all__ = list(MODULES)


def __getattr__(name):
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{MODULES[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name != "onnx":
            raise
        raise ModuleNotFoundError(
            f"pytensor.link.onnx.{name} needs the package 'onnx': pip install onnx onnxruntime",
            name="onnx",
        ) from error


def __dir__():
    return sorted({*globals(), *MODULES})
