"""Our modules are files: the graft looks for them, and kernels are named by their source."""

import os

from pytensor_vision import HOME

module_collection_mode = "py"
_KERNELS = os.path.join("pytensor", "link", "jax", "kernels")
datas = [(os.path.join(HOME, _KERNELS), os.path.join("pytensor_vision", _KERNELS))]
