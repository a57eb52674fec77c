"""ONNX backend: export of graphs, and ``mode="ONNX"``.

Needs the package ``onnx`` to build and check models, and ``onnxruntime`` to run them.  Both are
imported at first use: PyTensor itself loads the linker's module to register the mode.
"""

from importlib import import_module

from pytensor_vision import explain

MODULES = {
    "ConversionError": "errors",
    "DroppedCheckWarning": "errors",
    "DroppedPrintWarning": "errors",
    "DroppedRandomStateWarning": "errors",
    "ImportedModel": "importing.from_onnx",
    "ImportedModelError": "importing.errors",
    "ImportedOpError": "importing.errors",
    "ImportedShapeWarning": "importing.errors",
    "MixedRowsWarning": "errors",
    "ONNXLinker": "linker",
    "UnsupportedOpError": "errors",
    "VerificationError": "errors",
    "export_onnx": "export",
    "from_onnx": "importing.from_onnx",
    "half_weights": "quantize",
    "onnx_funcify": "dispatch",
    "optimized_graph": "quantize",
    "quantize_int8": "quantize",
    "rounding_error": "compare.expected",
}

__all__ = list(MODULES)


def __getattr__(name):
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(load(MODULES[name], f"pytensor.link.onnx.{name}"), name)


def load(module, what):
    """Import a module of this package; where that fails, say why `what` isn't to be had.

    That is without the package ``onnx``, or with a PyTensor that is too old or too new.
    """
    try:
        return import_module(f"{__name__}.{module}")
    except ModuleNotFoundError as error:
        if error.name not in ("onnx", "onnx_ir"):
            raise
        raise ModuleNotFoundError(
            f"{what} needs the package {error.name!r}: pip install onnx onnxruntime onnx-ir",
            name=error.name,
        ) from error
    except (ImportError, AttributeError) as error:
        raise ImportError(f"{what}: {explain(__name__, error)}", name=__name__) from error


def __dir__():
    return sorted({*globals(), *MODULES})
