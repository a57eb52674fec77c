"""Operators that can't be imported, with reasons."""

from pytensor.link.onnx.importing.registry import ML, Refused, operator_funcify

STRINGS = "PyTensor has no strings; do this before the model, and give it the resulting numbers"
MAPS = "PyTensor has no dictionaries; give the model the numbers as tensors"
REFUSED = {
    ("", "ImageDecoder"): "PyTensor decodes no files; decode the image before, and give its pixels",
    ("", "RegexFullMatch"): STRINGS,
    ("", "StringConcat"): STRINGS,
    ("", "StringNormalizer"): STRINGS,
    ("", "StringSplit"): STRINGS,
    ("", "TfIdfVectorizer"): "it counts n-grams of text; count them before the model",
    (ML, "CastMap"): MAPS,
    (ML, "DictVectorizer"): MAPS,
}


def _refuses(reason):
    def refuse(node, *inputs):
        raise Refused(reason)

    return refuse


for (_domain, _name), _reason in REFUSED.items():
    operator_funcify.register(_name, domain=_domain)(_refuses(_reason))
