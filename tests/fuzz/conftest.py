from tests import hypothesis_profiles  # noqa: F401  it loads one
