"""Random variables.

A model draws with onnxruntime's generators: each node that draws has one of its own, with a seed
that is made from the state of the PyTensor generator.  The numbers aren't NumPy's, but a
session's are the same whenever the model is loaded.  Each run of a session draws new ones.

Draws from one state of a generator begin with equal seeds.
"""
