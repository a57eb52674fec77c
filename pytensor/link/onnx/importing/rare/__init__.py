"""ONNX operators that few models have: recurrent networks, attention, sequences, signals."""
