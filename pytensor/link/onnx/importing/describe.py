"""What an ONNX model has, and what of it PyTensor can't import.

    python -m pytensor.link.onnx MODEL.onnx

The exit code is 1 where `from_onnx` would refuse the model.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence

from pytensor.link.onnx.importing.errors import ImportedOpError
from pytensor.link.onnx.importing.from_onnx import from_onnx
from pytensor.link.onnx.importing.model import read_model


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the inputs, outputs and operators of a model; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m pytensor.link.onnx", description=__doc__.splitlines()[0],
        epilog="To compare what runtimes compute: python -m pytensor.link.onnx compare --help",
    )  # fmt: skip
    parser.add_argument("model", help="an ONNX file")
    path = parser.parse_args(arguments).model
    try:
        model = read_model(path)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    graph = model.graph
    opsets = ", ".join(f"{domain or 'ai.onnx'} {v}" for domain, v in model.opset_imports.items())
    made_by = " ".join(filter(None, (model.producer_name, model.producer_version)))
    print(f"{path}: {opsets}" + (f"; {made_by}" if made_by else ""))
    for title, values in (
        ("inputs", [v for v in graph.inputs if v.name not in graph.initializers]),
        ("outputs", graph.outputs),
    ):
        print(f"{title}:")
        for value in values:
            print(f"  {value.name}: {value.type} {value.shape}")
    initializers = [v.const_value for v in graph.initializers.values()]
    print(f"initializers: {len(initializers)}, {sum(t.nbytes for t in initializers):,} bytes")
    operators = Counter(
        f"{node.domain}.{node.op_type}" if node.domain else node.op_type
        for node in graph.all_nodes()
    )
    print("operators:", ", ".join(f"{n} {name}" for name, n in operators.most_common()))
    try:
        from_onnx(path)
    except (ImportedOpError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    print("PyTensor can import it.")
    return 0
