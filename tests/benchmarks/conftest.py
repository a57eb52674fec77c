import pytest


@pytest.fixture(autouse=True, scope="module")
def sooner(compiled_sooner):
    """Use `compiled_sooner` in the whole folder: programs run a few times, and on little."""
