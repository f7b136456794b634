"""convolve: scipy.signal.fftconvolve, for two axes."""
from __future__ import annotations

import itertools
from typing import Any, Optional, Sequence, Tuple

from ._bloom import Bloom
from ._call import Error, WrongType
from ._kernel import Context, common_context
from ._pixels import given_back, namespace, numpy


def _array(x: Any, name: str) -> Any:
    """Returns an array of numpy."""
    if numpy is None:
        raise Error("convolve needs numpy")
    a = numpy.asarray(x) if namespace(x) is None else numpy.from_dlpack(x)
    if a.dtype.kind not in "biuf" or a.dtype.itemsize > 8:
        raise WrongType("%s has numbers of the type %s; convolve takes real ones of up to 64 bits: of complex ones "
                        "convolve the real and the imaginary part" % (name, a.dtype))
    return a


def _axes(axes: Any, n: int) -> Tuple[int, int]:
    listed = [axes] if isinstance(axes, int) else list(range(n) if axes is None else axes)
    if any(not -n <= a < n for a in listed):
        raise Error("axes are %s, and the arrays have %d dimensions" % (tuple(listed), n))
    listed = [a % n for a in listed]
    if len(set(listed)) != 2 or len(listed) != 2:
        raise Error("axes are %s: convolve works along two, such as axes=(-2, -1); scipy.signal.fftconvolve does so "
                    "along one, three and more" % (tuple(listed),))
    return listed[0], listed[1]


def _good(n: int) -> int:
    """Returns the next length for a transform: even, without prime factors above 7."""
    return next(m for m in itertools.count(n + n % 2, 2) if pow(2 * 3 * 5 * 7, 64, m) == 0)


def convolve(image: Any, kernel: Any, mode: str = "full", axes: Optional[Sequence[int]] = None, *,
             boundary: str = "zero", context: Optional[Context] = None) -> Any:
    """Convolves two arrays along two axes, as scipy.signal.fftconvolve does: nothing is normalised.

    image, kernel  arrays of as many dimensions; along the other axes they broadcast. Integers become float64
    mode           "full", "same" (the middle, of the size of the image) or "valid" (what needs no border)
    axes           the two axes; None: arrays have two
    boundary       what is beyond the image: "zero", or for "same" also "mirror", "clamp" or "wrap"
    context        a `Context`; None: the common one

    To convolve many images with a kernel, `Bloom(kernel, normalize="none")` keeps the kernel's spectrum.
    """
    space, a, k = namespace(image), _array(image, "the image"), _array(kernel, "the kernel")
    if mode not in ("full", "same", "valid"):
        raise Error("mode is %r; it can be 'full', 'same' or 'valid'" % (mode,))
    if a.ndim != k.ndim:
        raise Error("the image has %d dimensions, and the kernel %d" % (a.ndim, k.ndim))
    if a.size == 0 or k.size == 0:
        return given_back(numpy.array([]), space)
    y, x = _axes(axes, a.ndim)
    if boundary != "zero" and mode != "same":
        raise Error("boundary is %r: modes other than 'same' need 'zero'" % (boundary,))
    if all(k.shape[i] == 1 or (a.shape[i] == 1 and boundary == "zero") for i in (y, x)):  # a product, in its own type
        out = a * k
        if mode == "same":
            out = out[tuple(slice((n - m) // 2, (n - m) // 2 + m) for n, m in zip(out.shape, a.shape))]
        return given_back(numpy.ascontiguousarray(out), space)
    kind = numpy.result_type(*("f4" if v.dtype in ("f2", "f4") else "f8" for v in (a, k)))
    a, k = (numpy.moveaxis(v.astype(kind, copy=False), (y, x), (-2, -1)) for v in (a, k))
    (h, w), (kh, kw) = a.shape[-2:], k.shape[-2:]
    if mode == "valid" and not (h >= kh and w >= kw):
        if not ((kh >= h or kh == 1) and (kw >= w or kw == 1)) and not ((h >= kh or h == 1) and (w >= kw or w == 1)):
            raise Error("mode 'valid' needs one array to be as large as the other in both axes")
        if not (kh >= h and kw >= w):  # a row by a column
            out = convolve(a, k, "full", (-2, -1), context=context)[..., min(h, kh) - 1:max(h, kh), min(w, kw) - 1:max(w, kw)]
            return given_back(numpy.ascontiguousarray(numpy.moveaxis(out, (-2, -1), (y, x))), space)
        a, k, h, w, kh, kw = k, a, kh, kw, h, w
    for axis in range(a.ndim - 2):  # as in scipy, the middle of the kernels, too
        if mode == "same" and a.shape[axis] == 1 < k.shape[axis]:
            k = k.take([(k.shape[axis] - 1) // 2], axis)
    # A kernel far from 1 is divided by a power of 2, and its result is multiplied by it.
    far = numpy.frexp(numpy.abs(k).max((-2, -1), keepdims=True))[1] if kind == "f8" else numpy.zeros((), int)
    far = numpy.where(numpy.abs(far) > 60, far, 0)
    k = numpy.ldexp(k, -far) if far.any() else k
    try:
        batch = numpy.broadcast_shapes(a.shape[:-2], k.shape[:-2])
    except ValueError as e:
        raise Error("along the other axes the arrays have the shapes %s and %s: %s" % (a.shape[:-2], k.shape[:-2], e)) from None
    a = numpy.broadcast_to(a, batch + (h, w))
    each = k[(0,) * len(batch)] if k.size == kh * kw else list(numpy.broadcast_to(k, batch + (kh, kw)).reshape(-1, kh, kw))
    if mode == "full":  # a circle that has room for all
        th, tw = h + kh - 1, w + kw - 1
        room = numpy.zeros(batch + (_good(th), _good(tw)), kind)
        room[..., :h, :w] = a
        a, boundary = room, "wrap"
    middle: Any = ((kw - 1) // 2, (kh - 1) // 2) if mode == "same" else (0, 0)
    if mode == "valid":
        boundary, middle = "wrap", (kw - 1, kh - 1)
    b = Bloom(each, axes=(-2, -1), channel_axis=None, padding=boundary, kernel_center=middle, normalize="none", tolerance=1,
              context=context or common_context(messages=False))
    out = b(numpy.ascontiguousarray(a) if a.ndim == 2 else a)
    out = out[..., :th, :tw] if mode == "full" else out[..., :h - kh + 1, :w - kw + 1] if mode == "valid" else out
    out = numpy.ldexp(out, far) if far.any() else out
    return given_back(numpy.ascontiguousarray(numpy.moveaxis(out, (-2, -1), (y, x))), space)
