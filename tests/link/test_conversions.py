"""Tables that import conversions when they meet an Op."""

from functools import singledispatch

from pytensor.graph.op import Op
from pytensor.link import conversions
from pytensor.link.conversions import Conversions, import_when_met


class Known(Op):
    """An Op that has a conversion, and one for what is derived from it."""

    def perform(self, node, inputs, output_storage):
        raise NotImplementedError


class Ours(Known):
    pass


def test_conversions_are_found_by_base_classes():
    table = Conversions(lambda op: "none")
    assert table.dispatch(Ours)(None) == "none"
    table.register(Known)(lambda op: "base")
    assert table(Ours()) == "base"
    table.register(Ours, lambda op: "derived")
    assert [table(Known()), table(Ours())] == ["base", "derived"]
    assert {Known, Ours} < set(table.registry)


def test_a_users_conversion_stays_when_ours_is_imported_later(monkeypatch):
    table = Conversions(lambda op: "none")
    table.register(Known, lambda op: "the user's")
    monkeypatch.setattr(conversions, "_being_imported", ["special"])
    table.register(Known, lambda op: "ours")
    assert table(Known()) == "the user's"
    monkeypatch.setattr(conversions, "_being_imported", [])
    table.register(Known, lambda op: "the user's second")
    assert table(Known()) == "the user's second"


def test_a_table_of_pytensors_imports_what_replaces_its_conversions(monkeypatch):
    @singledispatch
    def table(op):
        return "none"

    table.register(Known, lambda op: "PyTensor's")
    imported = []

    def import_all(module):
        imported.append(module)
        table.register(Ours, lambda op: "ours")

    monkeypatch.setattr(conversions, "import_all", import_all)
    import_when_met(table, {f"{__name__}.Ours": "a module"}, Known)
    assert (table(Known()), imported) == ("PyTensor's", [])
    assert (table(Ours()), imported) == ("ours", ["a module"])
    assert table(Known()) == "PyTensor's"


def test_a_users_conversion_stays_when_a_table_of_pytensors_imports_ours(monkeypatch):
    @singledispatch
    def table(op):
        return "none"

    table.register(Known, lambda op: "PyTensor's")
    import_when_met(table, {f"{__name__}.Known": "a module"}, Op)
    table.register(Ours, lambda op: "the user's")

    def import_all(module):
        table.register(Known, lambda op: "ours")
        table.register(Ours, lambda op: "ours")

    monkeypatch.setattr(conversions, "import_all", import_all)
    assert [table(Known()), table(Ours())] == ["ours", "the user's"]
