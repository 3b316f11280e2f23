"""Sixteen sums at once, in vector registers: Numba does not vectorise loops this short itself."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16
SIDE = 5


def _add_products(
    typing: Any, into: Any, to: Any, step: Any, values: Any, starts: Any, count: Any, of: Any,
    shift: Any, stride: Any,
) -> Any:  # fmt: skip
    """Add values[e] · of[starts[e] + shift + k · stride + lane] to into[to + k · step + lane].

    For all k < SIDE and lane < LANES, in the order of e; each product and sum is rounded once. All
    arrays are one-dimensional, and no bounds are checked.
    """
    index = types.intp
    signature = types.void(into, index, index, values, starts, index, of, index, index)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector, whole = ir.VectorType(ir.FloatType(), LANES), ir.IntType(32)
        _, to, step, _, _, count, _, shift, stride = arguments
        into, values, starts, of = (
            context.make_array(signature.args[i])(context, builder, arguments[i]).data
            for i in (0, 3, 4, 6)
        )

        def lanes(array: Any, start: Any, k: int, by: Any) -> Any:
            first = builder.add(start, builder.mul(by, ir.Constant(by.type, k)))
            return builder.bitcast(builder.gep(array, [first]), vector.as_pointer())

        fused = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(vector, [vector] * 3), f"llvm.fma.v{LANES}f32"
        )
        sums = [cgutils.alloca_once(builder, vector) for _ in range(SIDE)]
        for k, total in enumerate(sums):
            builder.store(builder.load(lanes(into, to, k, step), align=4), total)
        with cgutils.for_range(builder, count) as loop:
            start = builder.add(builder.load(builder.gep(starts, [loop.index])), shift)
            value = builder.load(builder.gep(values, [loop.index]))
            one = builder.insert_element(
                ir.Constant(vector, ir.Undefined), value, ir.Constant(whole, 0)
            )
            everywhere = ir.Constant(ir.VectorType(whole, LANES), [0] * LANES)
            scale = builder.shuffle_vector(one, one, everywhere)
            for k, total in enumerate(sums):
                factor = builder.load(lanes(of, start, k, stride), align=4)
                builder.store(builder.call(fused, [scale, factor, builder.load(total)]), total)
        for k, total in enumerate(sums):
            builder.store(builder.load(total), lanes(into, to, k, step), align=4)
        return context.get_dummy_value()

    return signature, generate


add_products: Any = intrinsic(_add_products)
