import pytest

import pytensor


@pytest.fixture(autouse=True, scope="module")
def sooner(request):
    """Use `compiled_sooner` where it isn't XLA's own work that is looked at."""
    if not request.module.__name__.endswith(("test_normalization", "test_recompute")):
        request.getfixturevalue("compiled_sooner")


@pytest.fixture(autouse=True)
def inner_graphs_without_c(request):
    """Compile no C code: even in Python's mode, inner graphs would be, for seconds each."""
    if request.module.__name__.endswith("test_normalization"):  # kernels are compiled there
        yield
        return
    with pytensor.config.change_flags(cxx=""):
        yield
