"""Classical models of ai.onnx.ml."""
