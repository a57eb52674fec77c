"""How fast the YOLO11n demo prepares training batches, without a model that uses them.

    python -m benchmarks.training.pipeline [--workers 0 1 2] [--image-size 320]
        [--copy-paste P] [--record]

The pictures are drawn (data.synthetic), with mosaic, scaling, shifting, flipping and change of
colours. The numbers of workers take turns; figures are medians, with the lowest and the highest.
CPU time counts all threads; other work on the machine disturbs it less than images per second.
"""

import argparse
import sys
import tempfile
import time

import numpy as np

from benchmarks.common import results
from benchmarks.common.machine import machine, machine_line
from benchmarks.common.step_sides import DEMO
from benchmarks.common.timing import summarize

sys.path.insert(0, str(DEMO))

from data.augment import Augment, make_plan, stack_plans
from data.drawing import render
from data.loader import AHEAD_PLANNED, BatchLoader
from data.synthetic.generate import generate_dataset
from dataset import load_split

WARMUP = AHEAD_PLANNED + 1  # batches: more than the workers prepare ahead


def augmentation(options):
    return Augment(mosaic=1.0, copy_paste=options.copy_paste)


def open_data(folder, options):
    generate_dataset(folder, options.pictures, 1, jobs=1)
    return load_split(folder, "train", ["person", "cell phone"], options.image_size)


def batches(loader):
    """Yield batches without end, epoch after epoch."""
    epoch = 0
    while True:
        yield from loader.epoch(epoch)
        epoch += 1


def measure(dataset, workers, draw, options):
    """Return (images per second, CPU microseconds per image) of one loader."""
    number = options.batches if draw else 10 * options.batches
    with BatchLoader(
        dataset, options.batch_size, augment=augmentation(options), workers=workers, render=draw
    ) as loader:
        stream = batches(loader)
        for _ in range(max(WARMUP, 4 * workers)):
            next(stream)
        start, cpu = time.perf_counter(), time.process_time()
        for _ in range(number):
            next(stream)
        seconds = time.perf_counter() - start
        cpu = time.process_time() - cpu
    images = number * options.batch_size
    return images / seconds, 1e6 * cpu / images


def loaders(dataset, options):
    """Return results by what is made and by the number of workers."""
    cases = [(draw, workers) for draw in (True, False) for workers in options.workers]
    found = {case: [] for case in cases}
    for _ in range(options.rounds):
        for case in cases:
            found[case].append(measure(dataset, case[1], case[0], options))
    result = {"images": {}, "plans": {}}
    for (draw, workers), values in found.items():
        speeds, cpu = zip(*values, strict=True)
        row = {"per_s": summarize(speeds), "cpu_us_each": summarize(cpu)}
        result["images" if draw else "plans"][workers] = row
    return result


def steps(dataset, options):
    """Return CPU microseconds per image, of planning and of drawing only, in this process."""
    times, augment = {"planning": [], "drawing": []}, augmentation(options)
    size, count = options.image_size, options.batch_size
    out = np.empty((count, 3, size, size), np.uint8)
    for batch in range(options.batches + 2):
        marks = [time.process_time()]
        plans = [
            make_plan(dataset, k % len(dataset), augment, np.random.default_rng([0, batch, k]))[0]
            for k in range(count)
        ]
        plan = stack_plans(plans)
        marks.append(time.process_time())
        render(plan, dataset.squares, out=out)
        marks.append(time.process_time())
        if batch >= 2:  # compiled code has been loaded
            for values, taken in zip(times.values(), np.diff(marks), strict=True):
                values.append(1e6 * float(taken) / count)
    return {name: summarize(values) for name, values in times.items()}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--image-size", type=int, default=320)
    parser.add_argument("--copy-paste", type=float, default=0.0, help="probability, as in training")
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--batches", type=int, default=30, help="of images, in each measurement")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pictures", type=int, default=64, help="in the data set")
    results.add_options(parser, json=False)
    return parser.parse_args()


def main():
    options = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        dataset = open_data(folder, options)
        facts = machine()  # the load before
        result = {"cpu_us_per_image": steps(dataset, options)} | loaders(dataset, options)
    print(f"{options.image_size} px, batches of {options.batch_size}; {machine_line(facts)}")
    for name, row in result["cpu_us_per_image"].items():
        print(f"  {name}: {row['median']:.0f} us of CPU per image "
              f"({row['min']:.0f} to {row['max']:.0f})")  # fmt: skip
    for what in ("images", "plans"):
        for workers, row in result[what].items():
            speed, cpu = row["per_s"], row["cpu_us_each"]
            print(f"  {what}, {workers} workers: {speed['median']:.0f}/s ({speed['min']:.0f} to "
                  f"{speed['max']:.0f}), {cpu['median']:.0f} us of CPU each")  # fmt: skip
    results.save(options, None, result, facts)


if __name__ == "__main__":
    main()
