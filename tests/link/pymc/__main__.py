"""Compare PyMC's models in all linkers.

    python -m tests.link.pymc [--guard] [--linkers JAX,ONNX] [--out FILE.json] [name ...]

Prints a line for each model, and counts.  With --guard, `guard_xla` is called first, which guards
mode JAX.
"""

import argparse
import json
import warnings
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="all by default")
    parser.add_argument("--guard", action="store_true")
    parser.add_argument("--linkers")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    from pytensor.link.jax import guard_xla

    if arguments.guard:
        guard_xla()  # before anything starts JAX
    warnings.simplefilter("ignore")
    from tests.catalogue.pymc_models import names_of
    from tests.link.pymc.compare import LINKERS, compare

    linkers = arguments.linkers.split(",") if arguments.linkers else LINKERS
    verdicts = {}
    for name in arguments.names or names_of("large"):
        try:
            verdict = verdicts[name] = compare(name, linkers)
        except ModuleNotFoundError as error:
            print(f"{name}  left out, for it needs {error.name}", flush=True)
            continue
        print(name, "WRONG" * bool(verdict.wrong), verdict.wrong or "right", verdict.refused or "",
              {k: round(v, 1) for k, v in verdict.seconds.items()}, flush=True)  # fmt: skip
        if arguments.out:
            text = json.dumps({k: vars(v) for k, v in verdicts.items()}, indent=1)
            arguments.out.write_text(text + "\n")
    for label in dict.fromkeys(label for v in verdicts.values() for label in v.seconds):
        wrong = [name for name, v in verdicts.items() if label in v.wrong]
        refused = [name for name, v in verdicts.items() if label in v.refused]
        compared = len(verdicts) - len(refused)
        print(f"{label}: {len(wrong)} wrong of {compared}, {len(refused)} refused", *wrong)


if __name__ == "__main__":
    main()
