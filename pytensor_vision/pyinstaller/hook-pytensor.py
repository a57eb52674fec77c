"""A program that imports PyTensor has all of ours, for nothing says which backends it uses."""

import os

from PyInstaller.utils.hooks import collect_data_files

from pytensor_vision import HOME


def modules_in(folder):
    """Yield our modules by their own places, such as `pytensor_vision.pytensor.tensor.topk`."""
    for path, _, files in os.walk(os.path.join(folder, "pytensor")):
        package = os.path.relpath(path, folder).replace(os.sep, ".")
        for file in files:
            if file.endswith(".py"):
                name = f"pytensor_vision.{package}.{file.removesuffix('.py')}"
                yield name.removesuffix(".__init__")


GRAFT = ("pytensor_vision", "pytensor_vision.extending", "pytensor_vision.modes")
hiddenimports = [*GRAFT, *modules_in(HOME)]
datas = collect_data_files("pytensor")  # C code that PyTensor compiles
