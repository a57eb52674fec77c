import pytest


@pytest.fixture(autouse=True, scope="module")
def sooner(compiled_sooner):
    """Use `compiled_sooner` in the whole folder."""
