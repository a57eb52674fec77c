"""Write weights to start from: the filters in 16 bits, all else as it was.

    python -m tools.half_weights runs/yolo11n/best.safetensors weights/NAME.safetensors

A file of half the size, which `--weights` takes as any other. What a filter loses is less than
one part in 2,000 of each weight, or 3e-8; biases, gammas and statistics keep their 32 bits.
"""

import sys
from argparse import Namespace
from typing import Any

from commandline import Parser, existing, output_file


def parse_arguments(arguments: list[str] | None = None) -> Namespace:
    """Parse the command line; see ``--help``."""
    parser = Parser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("weights", type=existing, help="best.safetensors, or last.safetensors for its averages")
    add("half", type=output_file, help="file to write")
    add("--trained-on", metavar="TEXT", help="what the model has seen, in words")
    return parser.parse_args(arguments)


if __name__ == "__main__":  # a mistake is answered before the imports below, which take seconds
    parse_arguments()

import numpy as np
from training.checkpoint import CheckpointError, save_weights
from training.weights import read_arrays

KEPT = ("architecture", "classes", "class_width", "image_size", "trained_on")


def halved(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the arrays, float32, with filters (four axes) as float16.

    ValueError names a filter whose weights are beyond float16's range, 65,504.
    """
    found = {}
    for name, value in arrays.items():
        with np.errstate(over="ignore"):
            found[name] = value.astype(np.float16) if value.ndim == 4 else value
        if not np.isfinite(found[name]).all():
            raise ValueError(f"{name} has weights beyond 65,504, which 16 bits can't hold")
    return found


def main(arguments: list[str] | None = None) -> int:
    """Write the file that the command line asks for; the exit code."""
    options = parse_arguments(arguments)
    try:
        arrays, info = read_arrays(options.weights)
        kept: dict[str, Any] = {name: info[name] for name in KEPT if name in info}
        if options.trained_on:
            kept["trained_on"] = options.trained_on
        options.half.parent.mkdir(parents=True, exist_ok=True)
        save_weights(options.half, halved(arrays), kept)
    except (CheckpointError, ValueError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    print(f"wrote {options.half}: {options.half.stat().st_size / 1e6:.2f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
