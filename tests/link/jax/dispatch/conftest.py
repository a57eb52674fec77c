import pytest

# Programs optimized in full are tested beside this folder, in tests/tensor and in the demo.


@pytest.fixture(autouse=True, scope="module")
def sooner(compiled_sooner):
    """Use `compiled_sooner` in the whole folder."""
