"""ONNX operators that few models have: of trees, recurrent, contributed by onnxruntime."""
