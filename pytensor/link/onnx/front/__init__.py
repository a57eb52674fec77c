"""From a PyTensor graph to the calls of converters."""
