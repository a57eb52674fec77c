"""API pages from docstrings: ``python -m docs.tools.api`` writes docs/operators."""

import inspect
import re
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytensor.tensor as pt

OPERATORS = Path(__file__).parents[1] / "operators"
EXTENDED = import_module("pytensor.tensor.__extend__")
NAMES = [n for n in EXTENDED.__all__ if inspect.isfunction(getattr(EXTENDED, n))]
SECTIONS = ["Parameters", "Returns", "Raises", "See Also", "Notes", "References", "Examples"]
REQUIRED = {"Parameters", "Returns", "Raises", "Examples"}
NEVER_RAISES = {"hard_swish", "mish", "prelu", "relu", "relu6", "selu", "silu", "softsign"}

# torch.nn.functional, ONNX; None where there is none
ELSEWHERE = {
    "conv1d": ("conv1d", "Conv"),
    "conv2d": ("conv2d", "Conv"),
    "conv3d": ("conv3d", "Conv"),
    "conv1d_transpose": ("conv_transpose1d", "ConvTranspose"),
    "conv2d_transpose": ("conv_transpose2d", "ConvTranspose"),
    "conv3d_transpose": ("conv_transpose3d", "ConvTranspose"),
    "pool_nd": (None, "MaxPool, AveragePool"),
    "pool_2d": (None, "MaxPool, AveragePool"),
    "pool_3d": (None, "MaxPool, AveragePool"),
    "max_pool1d": ("max_pool1d", "MaxPool"),
    "max_pool2d": ("max_pool2d", "MaxPool"),
    "max_pool3d": ("max_pool3d", "MaxPool"),
    "avg_pool1d": ("avg_pool1d", "AveragePool"),
    "avg_pool2d": ("avg_pool2d", "AveragePool"),
    "avg_pool3d": ("avg_pool3d", "AveragePool"),
    "lp_pool1d": ("lp_pool1d", "LpPool"),
    "lp_pool2d": ("lp_pool2d", "LpPool"),
    "lp_pool3d": ("lp_pool3d", "LpPool"),
    "max_unpool1d": ("max_unpool1d", "MaxUnpool"),
    "max_unpool2d": ("max_unpool2d", "MaxUnpool"),
    "max_unpool3d": ("max_unpool3d", "MaxUnpool"),
    "global_max_pool": ("adaptive_max_pool2d(x, 1)", "GlobalMaxPool"),
    "global_average_pool": ("adaptive_avg_pool2d(x, 1)", "GlobalAveragePool"),
    "global_lp_pool": (None, "GlobalLpPool"),
    "adaptive_avg_pool1d": ("adaptive_avg_pool1d", None),
    "adaptive_avg_pool2d": ("adaptive_avg_pool2d", None),
    "adaptive_avg_pool3d": ("adaptive_avg_pool3d", None),
    "adaptive_max_pool1d": ("adaptive_max_pool1d", None),
    "adaptive_max_pool2d": ("adaptive_max_pool2d", None),
    "adaptive_max_pool3d": ("adaptive_max_pool3d", None),
    "resize": ("interpolate", "Resize"),
    "batch_normalization": ("batch_norm(training=False)", "BatchNormalization"),
    "batch_normalization_train": (
        "batch_norm(training=True)",
        "BatchNormalization with training_mode=1",
    ),
    "layer_normalization": ("layer_norm", "LayerNormalization"),
    "group_normalization": ("group_norm", "GroupNormalization"),
    "instance_normalization": ("instance_norm", "InstanceNormalization"),
    "rms_normalization": ("rms_norm", "RMSNormalization"),
    "elu": ("elu", "Elu"),
    "gelu": ("gelu", "Gelu"),
    "hard_sigmoid": ("hardsigmoid", "HardSigmoid"),
    "hard_swish": ("hardswish", "HardSwish"),
    "leaky_relu": ("leaky_relu", "LeakyRelu"),
    "mish": ("mish", "Mish"),
    "prelu": ("prelu", "PRelu"),
    "relu": ("relu", "Relu"),
    "relu6": ("relu6", "Clip"),
    "selu": ("selu", "Selu"),
    "silu": ("silu", "Swish"),
    "softsign": ("softsign", "Softsign"),
    "topk": ("torch.topk", "TopK"),
}
TOPICS = {
    "Convolution": r"conv",
    "Pooling": r".*pool",
    "Resizing": r"resize",
    "Normalization": r".*normalization",
    "Selection": r"topk",
    "Activation": r".*",
}
LIBRARIES = [
    ("PyTorch", "torch.nn.functional."),
    ("ONNX", ""),
]


def split_sections(docstring):
    """Return a numpydoc text's lead and a dict of its sections, all without indentation."""
    lines = inspect.cleandoc(docstring).splitlines()
    starts = [
        i
        for i, (line, rule) in enumerate(pairwise(lines))
        if line.strip() and re.fullmatch(r"-{3,}", rule) and len(line) == len(rule)
    ]
    lead = "\n".join(lines[: starts[0]] if starts else lines).strip()
    ends = [*starts[1:], len(lines)][: len(starts)]
    sections = {
        lines[a]: "\n".join(lines[a + 2 : b]).strip() for a, b in zip(starts, ends, strict=True)
    }
    return lead, sections


def escape(text):
    """Keep asterisks outside of code from being read as emphasis."""
    parts = re.split(r"(`+[^`]+`+)", text)
    return "".join(p if p.startswith("`") else p.replace("*", r"\*") for p in parts)


def entries(section):
    """A list with an item per ``name : type`` line and its indented description."""
    items = []
    for line in section.splitlines():
        if not line.strip():
            items.append("")
        elif line.startswith(" "):
            items.append("  " + escape(line.strip()))
        else:
            name, _, kind = line.partition(" : ")
            if items:
                items.append("")
            items.append(f"- **{escape(name)}**" + (f": {escape(kind)}" if kind else ""))
            items.append("")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(items)).strip()


def code(text):
    return f"```python\n{text}\n```"


def describe(function, level):
    """Markdown of one function's docstring, with headings of `level`."""
    lead, sections = split_sections(function.__doc__)
    signature = f"{function.__name__}{inspect.signature(function)}"
    if len(signature) > 88:
        parameters = inspect.signature(function).parameters.values()
        inner = "".join(f"    {parameter},\n" for parameter in parameters)
        signature = f"{function.__name__}(\n{inner})"
    parts = [code(signature), escape(lead)]
    for title in SECTIONS:
        if title not in sections:
            continue
        body = sections[title]
        if title in ("Parameters", "Returns", "Raises", "See Also"):
            body = entries(body)
        else:
            body = code(body) if title == "Examples" else escape(body)
        parts += ["#" * level + " " + title, body]
    return "\n\n".join(parts)


def elsewhere(name):
    """The row of an operator's names in other libraries."""
    cells = [
        f"`{prefix}{other}`" if other else "–"
        for (_, prefix), other in zip(LIBRARIES, ELSEWHERE[name], strict=True)
    ]
    # A function of torch itself
    cells = [cell.replace("torch.nn.functional.torch.", "torch.") for cell in cells]
    header = " | ".join(library for library, _ in LIBRARIES)
    return f"| {header} |\n| --- | --- |\n| {' | '.join(cells)} |"


def page(name):
    function = getattr(pt, name)
    return (
        f"# pytensor.tensor.{name}\n\n{describe(function, 2)}\n\n"
        f"## Elsewhere\n\n{elsewhere(name)}\n\n"
        f"What differs is in [the migration tables](../migration.md); [all operators](README.md).\n"
    )


def first_sentence(function):
    paragraph = inspect.cleandoc(function.__doc__).split("\n\n")[0]
    return escape(" ".join(paragraph.split()))


def index():
    lines = [
        "# Operators",
        "",
        "What this distribution adds to `pytensor.tensor`, a page each. Coming from PyTorch or "
        "ONNX: [migration tables](../migration.md).",
        "",
        'To compile for JAX on a CPU, take `jax_mode()`: in `mode="JAX"`, '
        "[XLA gets some sums wrong](../wrong_numbers_from_xla.md).",
    ]
    left = sorted(NAMES)
    for topic, pattern in TOPICS.items():
        names = [name for name in left if re.match(pattern, name)]
        left = [name for name in left if name not in names]
        lines += ["", f"## {topic}", "", "| function | |", "| --- | --- |"]
        lines += [f"| [{n}]({n}.md) | {first_sentence(getattr(pt, n))} |" for n in names]
    lines += [
        "",
        "The pages are written by `python -m docs.tools.api` from the docstrings, whose examples "
        "are tests.",
    ]
    return "\n".join(lines) + "\n"


def pages():
    """All generated files: name and text."""
    return {f"{name}.md": page(name) for name in NAMES} | {"README.md": index()}


def missing_sections(function):
    """Sections that a function's docstring should have and doesn't."""
    _, sections = split_sections(function.__doc__)
    required = REQUIRED - {"Raises"} if function.__name__ in NEVER_RAISES else REQUIRED
    return sorted(required - set(sections))


def main():
    OPERATORS.mkdir(exist_ok=True)
    made = pages()
    for path in OPERATORS.glob("*.md"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (OPERATORS / name).write_text(text)
    for name in NAMES:
        for section in missing_sections(getattr(pt, name)):
            print(f"{name}: no {section}")


if __name__ == "__main__":
    main()
