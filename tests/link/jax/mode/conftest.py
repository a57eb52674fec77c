"""How tests of `jax_mode` are compiled."""

import pytest

# What these say is about programs as users have them: threads, memory, kernels, training, files.
AS_USERS_HAVE_THEM = (
    "test_host_memory", "test_precision", "test_program_store", "test_program_store_draws",
    "test_program_store_files",
)  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def sooner(request):
    """Use `compiled_sooner` in the other modules."""
    if request.module.__name__.rpartition(".")[2] not in AS_USERS_HAVE_THEM:
        request.getfixturevalue("compiled_sooner")
