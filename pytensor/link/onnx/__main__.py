import sys

from pytensor.link.onnx import load

# A module is loaded when its command is asked for
compares = sys.argv[1:2] == ["compare"]
module = load(
    "compare.command" if compares else "importing.describe", "python -m pytensor.link.onnx"
)
sys.exit(module.main(sys.argv[2:] if compares else None))
