# What type checkers and editors see of `pytensor.link.jax`: PyTensor's own name, and those that
# `__extend__.py` adds.

from pytensor.link.generators import reseed as reseed
from pytensor.link.jax.linker import JAXLinker as JAXLinker
from pytensor.link.jax.mode import jax_mode as jax_mode
from pytensor.link.jax.xla_guard import guard_xla as guard_xla
