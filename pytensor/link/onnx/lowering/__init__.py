"""The front end: from a PyTensor graph to the calls of converters."""
