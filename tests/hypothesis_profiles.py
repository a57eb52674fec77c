"""How long Hypothesis searches: `dev` by default, `ci` and `thorough` on demand.

``HYPOTHESIS_PROFILE=thorough pytest tests/link/onnx`` compares more than 10,000 random graphs.
"""

import os

from hypothesis import HealthCheck, settings

COMMON = {
    "deadline": None,
    "print_blob": True,
    "suppress_health_check": [HealthCheck.too_slow],
}
settings.register_profile("dev", max_examples=10, derandomize=True, **COMMON)
settings.register_profile("ci", max_examples=100, derandomize=True, **COMMON)
settings.register_profile("thorough", max_examples=1000, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))
