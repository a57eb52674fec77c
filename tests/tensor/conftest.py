from importlib.util import find_spec

import pytest

import pytensor


@pytest.fixture(scope="module", autouse=True)
def programs_compiled_sooner(request):
    """Have JAX compile sooner: each program runs once, and on little."""
    if find_spec("jax"):
        request.getfixturevalue("compiled_sooner")


@pytest.fixture(autouse=True)
def inner_graphs_without_c(request):
    """Compile no C code: even in Python's mode, inner graphs would be, for seconds each."""
    if request.module.__name__.endswith("nn.test_activations"):
        yield
        return
    with pytensor.config.change_flags(cxx=""):
        yield
