import sys
from pathlib import Path

# The benchmarks are a folder of scripts too.  They come last: the demo has files of the same names.
sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
