"""The fixture that tests of tensors have: C code would be compiled for inner graphs."""

from tests.tensor.conftest import inner_graphs_without_c  # noqa: F401
