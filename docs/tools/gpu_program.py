"""The tables of ``docs/what_the_gpu_runs.md``, from what ``benchmarks/gpu/program.py`` found.

python -m docs.tools.gpu_program
"""

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "gpu_program_cuda.json"
PAGE = ROOT / "docs" / "what_the_gpu_runs.md"
BEGIN, END = "<!-- tables -->", "<!-- end of tables -->"
TITLES = {
    "step": "The training step, images from the host",
    "sync-step": "The training step with `--sync-batchnorm`",
    "drawn": "The training step that draws its images on the device",
    "inference": "Inference: images to boxes",
}
SIDES = {"PyTensor": "PyTensor", "NHWC": "plain JAX", "NCHW": "plain JAX, NCHW"}
COLUMNS = (
    "GPU", "precision", "side", "kernels", "under 2 MB", "GB", "copies", "cuDNN calls",
    "temporary MB", "donated MB", "memory, ms", "bound, ms", "with launches, ms",
)  # fmt: skip
LAUNCH = 1e-6, 5e-6  # seconds that a kernel's launch may take


def milliseconds(row, name):
    estimated = row["estimated seconds"]
    return f"{1e3 * estimated[name]:.2f}" if estimated else "–"


def with_launches(row):
    """Return the bound, with a launch of each kernel: from and to."""
    if (estimated := row["estimated seconds"]) is None:
        return "–"
    least, most = (estimated["bytes and operations"] + row["kernels"] * each for each in LAUNCH)
    return f"{1e3 * least:.2f} to {1e3 * most:.2f}"


def cells(row):
    """Return the cells of a program in the order of `COLUMNS`."""
    took = row["memory"]
    cudnn = sum(count for kind, count in row["kinds"].items() if kind.startswith("cuDNN"))
    return [
        row["device"].removeprefix("NVIDIA "), row["precision"], SIDES[row["side"]],
        f"{row['kernels']:,}", f"{row['kernels under 2 MB']:,}", f"{row['bytes'] / 1e9:.2f}",
        str(row["copies"]), str(cudnn), f"{took['temporary'] / 1e6:,.0f}",
        f"{took['donated'] / 1e6:.1f}", milliseconds(row, "bytes alone"),
        milliseconds(row, "bytes and operations"), with_launches(row),
    ]  # fmt: skip


def table(columns, rows):
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def tables(programs):
    """Return all tables, as Markdown."""
    groups = {}
    for row in programs:
        groups.setdefault((row["devices"], row["what"], row["batch size"]), []).append(row)
    parts = []
    for (devices, what, batch), rows in sorted(groups.items(), key=lambda item: item[0][0]):
        on = f", {devices} devices (figures of each)" if devices > 1 else ""
        parts.append(f"## {TITLES[what]}{on}: batch {batch}, {rows[0]['image size']} px")
        rows = sorted(rows, key=lambda r: (r["device"], r["precision"], r["side"] != "PyTensor"))
        parts.append(table(COLUMNS, map(cells, rows)))
        parts += ratios(rows)
        if devices > 1:
            parts.append("\n".join(f"- {communication(row, programs)}." for row in rows))
    found = [row for row in programs if "largest batch" in row]
    if found:
        parts.append("## The largest batch that fits")
        parts.append(
            table(("GPU", "precision", "side", "batch", "how it is known"), map(fit, found))
        )
    return "\n\n".join(parts)


def communication(row, programs):
    """Return what a program of several devices sends, and its kernels beside one device's."""
    device, precision = row["device"].removeprefix("NVIDIA "), row["precision"]
    megabytes = row["bytes of all-reduces"] / 1e6
    text = f"{device}, {precision}: {row['all-reduces']} all-reduces of {megabytes:.1f} MB together"
    alike = "device", "side", "precision", "image size"
    for one in programs:
        if (
            one["devices"] == 1
            and one["what"] == "step"
            and one["batch size"] * row["devices"] == row["batch size"]
            and all(one[name] == row[name] for name in alike)
        ):
            ratio = row["kernels"] / one["kernels"]
            text += f"; {ratio:.2f} of the kernels of one device with {one['batch size']} images"
    return text


def ratios(rows):
    """Yield sentences: what PyTensor's program takes of plain JAX's, by device and precision."""
    found = {(row["device"], row["precision"], row["side"]): row for row in rows}
    for (device, precision, side), ours in found.items():
        theirs = found.get((device, precision, "NHWC"))
        if side == "PyTensor" and theirs is not None:
            kernels, moved = (ours[name] / theirs[name] for name in ("kernels", "bytes"))
            temporary = ours["memory"]["temporary"] / theirs["memory"]["temporary"]
            yield (
                f"{device}, {precision}: of plain JAX's, PyTensor's program has {kernels:.2f} of "
                f"the kernels, {moved:.2f} of the bytes, {temporary:.2f} of the temporary memory."
            )


def fit(row):
    largest = row["largest batch"]
    compiled = "bytes by a compilation" in largest
    state = "compiled, fits" if compiled else "estimated, linear in the batch"
    return [*cells(row)[:3], f"{largest['batch']:,}", state]


def page():
    """Return the page with the tables of the results that are there now."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    programs = json.loads(RESULTS.read_text())["programs"]
    return f"{before}{BEGIN}\n\n{tables(programs)}\n\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page())
