"""Large graphs are compiled in parts; nothing of Numba is loaded before a function is compiled."""

from functools import partial

from pytensor.link.numba.linker import NumbaLinker

_convert, _compile = NumbaLinker.fgraph_convert, NumbaLinker.jit_compile


def _compile_whole(linker, fgraph, keywords):
    return _compile(linker, _convert(linker, fgraph, **keywords))


def fgraph_convert(self, fgraph, **keywords):
    # loads Numba, as PyTensor's method does
    from pytensor.link.numba.parts import FunctionInParts, is_large

    if not is_large(fgraph):
        return _convert(self, fgraph, **keywords)
    return FunctionInParts(fgraph, partial(_compile_whole, self, fgraph, keywords))


def jit_compile(self, converted):
    from pytensor.link.numba.parts import FunctionInParts

    return converted if isinstance(converted, FunctionInParts) else _compile(self, converted)


NumbaLinker.fgraph_convert, NumbaLinker.jit_compile = fgraph_convert, jit_compile

__all__ = []
