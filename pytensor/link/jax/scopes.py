"""PyTensor's names in XLA's programs, so that a trace can be read."""

import re

import jax

__all__ = ["in_named_scopes", "scope_name"]


def scope_name(op, node=None):
    """Name of a node in XLA's metadata: the Op's, and the name of its first output if it has one."""
    kind = getattr(op, "scalar_op", None)
    name = f"{type(op).__name__}.{type(kind).__name__}" if kind is not None else type(op).__name__
    variable = next((v.name for v in node.outputs if v.name), None) if node is not None else None
    return re.sub(r"[^\w.\[\]-]", "_", f"{name}.{variable}" if variable else name)


def in_named_scopes(convert):
    """Wrap a node conversion, such that what it returns runs within `jax.named_scope`."""

    def converted(op, node=None, **kwargs):
        function = convert(op, node=node, **kwargs)
        if node is None:
            return function
        name = scope_name(op, node)

        def scoped(*args):
            with jax.named_scope(name):
                return function(*args)

        return scoped

    return converted
