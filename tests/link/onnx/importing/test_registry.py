import pytest

from pytensor.link.onnx.importing.registry import OperatorConverters


def test_two_converters_of_one_operator_are_an_error():
    table = OperatorConverters({})
    table.register("Add", before=13)(lambda x, y: x)
    with pytest.raises(ValueError, match="two converters of Add"):
        table.register("Add", before=13)(lambda x, y: y)
