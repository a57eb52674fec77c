"""Run before the program, in the place of the ``.pth`` file."""

import pytensor_vision  # noqa: F401
