"""API pages from docstrings: ``python -m tests.tensor.api`` writes pytensor/tensor/docs."""

import inspect
import re
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytensor.tensor as pt

DOCS = Path(__file__).parents[2] / "pytensor" / "tensor" / "docs"
HAND_WRITTEN = {"migration.md"}
EXTENDED = import_module("pytensor.tensor.__extend__")
NAMES = [n for n in EXTENDED.__all__ if inspect.isfunction(getattr(EXTENDED, n))]
# Modules of Theano's paths, each with a page of its functions
COMPATIBLE = [
    "conv.abstract_conv",
    "nnet.basic",
    "nnet.bn",
    "nnet.conv",
    "nnet.neighbours",
    "signal.pool",
    "signal.downsample",
]

SECTIONS = ["Parameters", "Returns", "Raises", "See Also", "Notes", "References", "Examples"]
REQUIRED = {"Parameters", "Returns", "Raises", "Examples"}
NEVER_RAISES = {"hard_swish", "mish", "prelu", "relu", "relu6", "selu", "silu", "softsign"}

# Theano, PyTensor 2, torch.nn.functional, ONNX; None where there is none
ELSEWHERE = {
    "conv1d": (
        "nnet.abstract_conv.causal_conv1d",
        "conv.abstract_conv.causal_conv1d",
        "conv1d",
        "Conv",
    ),
    "conv2d": ("nnet.conv2d", "conv.abstract_conv.conv2d", "conv2d", "Conv"),
    "conv3d": ("nnet.conv3d", "conv.abstract_conv.conv3d", "conv3d", "Conv"),
    "conv1d_transpose": (None, None, "conv_transpose1d", "ConvTranspose"),
    "conv2d_transpose": (
        "nnet.abstract_conv.conv2d_transpose",
        "conv.abstract_conv.conv2d_transpose",
        "conv_transpose2d",
        "ConvTranspose",
    ),
    "conv3d_transpose": (
        "nnet.abstract_conv.conv3d_grad_wrt_inputs",
        "conv.abstract_conv.conv3d_grad_wrt_inputs",
        "conv_transpose3d",
        "ConvTranspose",
    ),
    "pool_nd": (None, None, None, "MaxPool, AveragePool"),
    "pool_2d": ("signal.pool.pool_2d", "signal.pool.pool_2d", None, "MaxPool, AveragePool"),
    "pool_3d": ("signal.pool.pool_3d", "signal.pool.pool_3d", None, "MaxPool, AveragePool"),
    "max_pool1d": (None, None, "max_pool1d", "MaxPool"),
    "max_pool2d": ("signal.pool.pool_2d", "signal.pool.pool_2d", "max_pool2d", "MaxPool"),
    "max_pool3d": ("signal.pool.pool_3d", "signal.pool.pool_3d", "max_pool3d", "MaxPool"),
    "avg_pool1d": (None, None, "avg_pool1d", "AveragePool"),
    "avg_pool2d": ("signal.pool.pool_2d", "signal.pool.pool_2d", "avg_pool2d", "AveragePool"),
    "avg_pool3d": ("signal.pool.pool_3d", "signal.pool.pool_3d", "avg_pool3d", "AveragePool"),
    "lp_pool1d": (None, None, "lp_pool1d", "LpPool"),
    "lp_pool2d": (None, None, "lp_pool2d", "LpPool"),
    "lp_pool3d": (None, None, "lp_pool3d", "LpPool"),
    "max_unpool1d": (None, None, "max_unpool1d", "MaxUnpool"),
    "max_unpool2d": (None, None, "max_unpool2d", "MaxUnpool"),
    "max_unpool3d": (None, None, "max_unpool3d", "MaxUnpool"),
    "global_max_pool": (None, None, "adaptive_max_pool2d(x, 1)", "GlobalMaxPool"),
    "global_average_pool": (None, None, "adaptive_avg_pool2d(x, 1)", "GlobalAveragePool"),
    "global_lp_pool": (None, None, None, "GlobalLpPool"),
    "adaptive_avg_pool1d": (None, None, "adaptive_avg_pool1d", None),
    "adaptive_avg_pool2d": (None, None, "adaptive_avg_pool2d", None),
    "adaptive_avg_pool3d": (None, None, "adaptive_avg_pool3d", None),
    "adaptive_max_pool1d": (None, None, "adaptive_max_pool1d", None),
    "adaptive_max_pool2d": (None, None, "adaptive_max_pool2d", None),
    "adaptive_max_pool3d": (None, None, "adaptive_max_pool3d", None),
    "resize": (
        "nnet.abstract_conv.bilinear_upsampling",
        "conv.abstract_conv.bilinear_upsampling",
        "interpolate",
        "Resize",
    ),
    "batch_normalization": (
        "nnet.bn.batch_normalization_test",
        "nnet.batchnorm.batch_normalization_test",
        "batch_norm(training=False)",
        "BatchNormalization",
    ),
    "batch_normalization_train": (
        "nnet.bn.batch_normalization_train",
        "nnet.batchnorm.batch_normalization_train",
        "batch_norm(training=True)",
        "BatchNormalization with training_mode=1",
    ),
    "layer_normalization": (None, None, "layer_norm", "LayerNormalization"),
    "group_normalization": (None, None, "group_norm", "GroupNormalization"),
    "instance_normalization": (None, None, "instance_norm", "InstanceNormalization"),
    "rms_normalization": (None, None, "rms_norm", "RMSNormalization"),
    "elu": ("nnet.elu", "nnet.elu", "elu", "Elu"),
    "gelu": (None, None, "gelu", "Gelu"),
    "hard_sigmoid": ("nnet.hard_sigmoid", "nnet.hard_sigmoid", "hardsigmoid", "HardSigmoid"),
    "hard_swish": (None, None, "hardswish", "HardSwish"),
    "leaky_relu": ("nnet.relu(x, alpha)", "nnet.relu(x, alpha)", "leaky_relu", "LeakyRelu"),
    "mish": (None, None, "mish", "Mish"),
    "prelu": ("nnet.relu(x, alpha)", "nnet.relu(x, alpha)", "prelu", "PRelu"),
    "relu": ("nnet.relu", "nnet.relu", "relu", "Relu"),
    "relu6": (None, None, "relu6", "Clip"),
    "selu": ("nnet.selu", "nnet.selu", "selu", "Selu"),
    "silu": (None, None, "silu", "Swish"),
    "softsign": ("nnet.softsign", "nnet.softsign", "softsign", "Softsign"),
    "topk": ("topk_and_argtopk", "sort.topk_and_argtopk", "torch.topk", "TopK"),
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
    ("Theano", "theano.tensor."),
    ("PyTensor 2", "pytensor.tensor."),
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
    return f"| {header} |\n| --- | --- | --- | --- |\n| {' | '.join(cells)} |"


def page(name):
    function = getattr(pt, name)
    return (
        f"# pytensor.tensor.{name}\n\n{describe(function, 2)}\n\n"
        f"## Elsewhere\n\n{elsewhere(name)}\n\n"
        f"What differs is in [the migration tables](migration.md); [all operators](README.md).\n"
    )


def functions(module):
    module = import_module(f"pytensor.tensor.{module}")
    here = [getattr(module, name) for name in module.__all__]
    return [f for f in here if inspect.isfunction(f) and f.__module__ == module.__name__]


def compatible_page(module):
    parts = [
        f"# pytensor.tensor.{module}",
        f"{import_module(f'pytensor.tensor.{module}').__doc__.strip()} [All pages](README.md).",
    ]
    for function in functions(module):
        parts += [f"## {function.__name__}", describe(function, 3)]
    return "\n\n".join(parts) + "\n"


def first_sentence(function):
    paragraph = inspect.cleandoc(function.__doc__).split("\n\n")[0]
    return escape(" ".join(paragraph.split()))


def index():
    lines = [
        "# Operators",
        "",
        "What this distribution adds to `pytensor.tensor`, a page each. Coming from Theano, an "
        "older PyTensor, PyTorch or ONNX: [migration tables](migration.md).",
        "",
        'To compile for JAX on a CPU, take `jax_mode()`: in `mode="JAX"`, '
        "[XLA gets some sums wrong](../../docs/wrong_numbers_from_xla.md).",
    ]
    left = sorted(NAMES)
    for topic, pattern in TOPICS.items():
        names = [name for name in left if re.match(pattern, name)]
        left = [name for name in left if name not in names]
        lines += ["", f"## {topic}", "", "| function | |", "| --- | --- |"]
        lines += [f"| [{n}]({n}.md) | {first_sentence(getattr(pt, n))} |" for n in names]
    lines += ["", "## Theano's paths", "", "| module | functions |", "| --- | --- |"]
    for module in COMPATIBLE:
        names = ", ".join(f"`{f.__name__}`" for f in functions(module))
        lines.append(f"| [{module}]({module}.md) | {names} |")
    lines += [
        "",
        "The pages are written by `python -m tests.tensor.api` from the docstrings, whose examples "
        "are tests.",
    ]
    return "\n".join(lines) + "\n"


def pages():
    """All generated files: name and text."""
    made = {f"{name}.md": page(name) for name in NAMES}
    made |= {f"{module}.md": compatible_page(module) for module in COMPATIBLE}
    return made | {"README.md": index()}


def missing_sections(function):
    """Sections that a function's docstring should have and doesn't."""
    _, sections = split_sections(function.__doc__)
    required = REQUIRED - {"Raises"} if function.__name__ in NEVER_RAISES else REQUIRED
    return sorted(required - set(sections))


def main():
    DOCS.mkdir(exist_ok=True)
    made = pages()
    for path in DOCS.glob("*.md"):
        if path.name not in made.keys() | HAND_WRITTEN:
            path.unlink()
    for name, text in made.items():
        (DOCS / name).write_text(text)
    for name in NAMES:
        for section in missing_sections(getattr(pt, name)):
            print(f"{name}: no {section}")


if __name__ == "__main__":
    main()
