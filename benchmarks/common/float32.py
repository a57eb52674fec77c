"""Sets ``floatX=float32``: import it before pytensor, which reads its flags once."""

import os

os.environ["PYTENSOR_FLAGS"] = ",".join(
    filter(None, ["floatX=float32", os.environ.get("PYTENSOR_FLAGS")])
)
