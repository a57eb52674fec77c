"""Tables that import conversions when they meet an Op."""

from functools import singledispatch

import pytest

from pytensor.graph.op import Op
from pytensor.link import conversions
from pytensor.link.conversions import Conversions, import_when_met


def test_conversions_are_found_by_base_classes():
    class Base(Op):
        def perform(self, node, inputs, output_storage):
            raise NotImplementedError

    class Derived(Base):
        pass

    table = Conversions(lambda op: "none")
    assert table.dispatch(Derived)(None) == "none"
    table.register(Base)(lambda op: "base")
    assert table(Derived()) == "base"
    table.register(Derived, lambda op: "derived")
    assert [table(Base()), table(Derived())] == ["base", "derived"]
    assert {Base, Derived} < set(table.registry)


def test_a_users_conversion_stays_when_ours_is_imported_later(monkeypatch):
    class Rare(Op):
        def perform(self, node, inputs, output_storage):
            raise NotImplementedError

    table = Conversions(lambda op: "none")
    table.register(Rare, lambda op: "the user's")
    monkeypatch.setattr(conversions, "_being_imported", ["special"])
    table.register(Rare, lambda op: "ours")
    assert table(Rare()) == "the user's"
    monkeypatch.setattr(conversions, "_being_imported", [])
    table.register(Rare, lambda op: "the user's second")
    assert table(Rare()) == "the user's second"
