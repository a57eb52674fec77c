# What type checkers and editors see of the names that `__init__.py` imports at first use.

from typing import Any

from pytensor.link.onnx.compare.expected import rounding_error as rounding_error
from pytensor.link.onnx.dispatch import onnx_funcify as onnx_funcify
from pytensor.link.onnx.errors import ConversionError as ConversionError
from pytensor.link.onnx.errors import DroppedCheckWarning as DroppedCheckWarning
from pytensor.link.onnx.errors import DroppedPrintWarning as DroppedPrintWarning
from pytensor.link.onnx.errors import DroppedRandomStateWarning as DroppedRandomStateWarning
from pytensor.link.onnx.errors import MixedRowsWarning as MixedRowsWarning
from pytensor.link.onnx.errors import UnsupportedOpError as UnsupportedOpError
from pytensor.link.onnx.errors import VerificationError as VerificationError
from pytensor.link.onnx.export import export_onnx as export_onnx
from pytensor.link.onnx.importing.errors import ImportedModelError as ImportedModelError
from pytensor.link.onnx.importing.errors import ImportedOpError as ImportedOpError
from pytensor.link.onnx.importing.errors import ImportedShapeWarning as ImportedShapeWarning
from pytensor.link.onnx.importing.from_onnx import ImportedModel as ImportedModel
from pytensor.link.onnx.importing.from_onnx import from_onnx as from_onnx
from pytensor.link.onnx.linker import ONNXLinker as ONNXLinker
from pytensor.link.onnx.quantize import half_weights as half_weights
from pytensor.link.onnx.quantize import optimized_graph as optimized_graph
from pytensor.link.onnx.quantize import quantize_int8 as quantize_int8

MODULES: dict[str, str]

def load(module: str, what: str) -> Any: ...
