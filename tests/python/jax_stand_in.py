"""What the page's example uses of jax, for machines without it: custom_vjp, pure_callback and grad, on numpy's arrays.

Values that are differentiated are wrapped, and remember how they were made: so `grad` calls the two functions of
`defvjp` as jax does. Shapes and types are checked against what is promised to pure_callback.
"""
import collections
import sys
import types

import numpy as np

ShapeDtypeStruct = collections.namedtuple("ShapeDtypeStruct", "shape dtype")


class Value:
    def __init__(self, array, back=None):
        self.array, self.back, self.gradient = array, back, np.zeros_like(array)
        self.shape, self.dtype = array.shape, array.dtype

    def sum(self):
        def back(g):
            self.gradient += g
            if self.back:
                self.back(self.gradient)
        return Value(self.array.sum(), back)


def pure_callback(host, shape, *arrays):
    made = host(*arrays)
    assert made.shape == tuple(shape.shape) and made.dtype == shape.dtype, (made.shape, made.dtype, shape)
    return made


class custom_vjp:
    def __init__(self, function):
        self.function = function

    def defvjp(self, forward, backward):
        self.forward, self.backward = forward, backward

    def __call__(self, *given):
        plain = [v.array if isinstance(v, Value) else v for v in given]
        if not any(isinstance(v, Value) for v in given):
            return self.function(*plain)
        made, saved = self.forward(*plain)

        def back(y):
            for v, g in zip(given, self.backward(saved, y)):
                if isinstance(v, Value):
                    v.gradient += g
        return Value(made, back)


def grad(function):
    def by_first(array):
        value = Value(array)
        made = function(value)
        made.back(np.ones_like(made.array))
        return value.gradient
    return by_first


def install():
    module = types.ModuleType("jax")
    for name in "ShapeDtypeStruct", "pure_callback", "custom_vjp", "grad":
        setattr(module, name, globals()[name])
    module.numpy = np
    sys.modules["jax"] = module
