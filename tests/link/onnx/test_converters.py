import pytest

from pytensor.link.onnx.converters import OperatorConverters


def test_two_converters_of_one_operator_are_an_error():
    table = OperatorConverters()
    table.register("Add", before=13)("first")
    with pytest.raises(ValueError, match="two converters of Add"):
        table.register("Add", before=13)("second")
