"""Times of sides that take turns, and their quartiles."""

import statistics
import time

import numpy as np


def alternate(runs, rounds, warmup=5):
    """Return the median and the least milliseconds of each callable; they take turns."""
    times = {name: [] for name in runs}
    for k in range(warmup + rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            if k >= warmup:
                times[name].append(time.perf_counter() - start)
    return {
        name: {"median_ms": 1e3 * statistics.median(t), "min_ms": 1e3 * min(t)}
        for name, t in times.items()
    }


def summarize(values):
    """Return the median, the lowest and the highest."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def quartiles(values):
    """Return the lower quartile, the median and the upper quartile."""
    return np.quantile(values, [0.25, 0.5, 0.75]).tolist()
