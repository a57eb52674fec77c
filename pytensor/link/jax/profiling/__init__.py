"""PyTensor's names in XLA's programs, and the time that each node takes."""
