"""A way from Numba to Python for many results."""

import numba
from numba.core import cgutils, types


@numba.extending.intrinsic
def keep(typingctx, address, place, value):
    """Put a value, as a Python object, into the Python list at `address`.

    Results that a function returns as a tuple take LLVM time of the square of their number.  An
    address is passed because Numba would convert the list itself.
    """
    if not (isinstance(address, types.Integer) and isinstance(place, types.Integer)):
        raise numba.TypingError(f"keep({address}, {place}, ...): both must be integers")

    def codegen(context, builder, signature, arguments):
        address, place, value = arguments
        python = context.get_python_api(builder)
        if context.enable_nrt:
            context.nrt.incref(builder, signature.args[2], value)
        made = python.from_native_value(signature.args[2], value, context.get_env_manager(builder))
        with builder.if_then(cgutils.is_null(builder, made), likely=False):
            context.call_conv.return_user_exc(
                builder, MemoryError, ("a result could not be made a Python object",)
            )
        values = builder.inttoptr(address, python.pyobj)
        python.list_setitem(values, place, made)
        return context.get_dummy_value()

    return types.none(types.intp, types.intp, value), codegen
