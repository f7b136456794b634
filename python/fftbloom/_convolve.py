"""convolve: scipy.signal.fftconvolve, for two axes."""
from __future__ import annotations

import dataclasses
import itertools
from typing import Any, List, Optional, Sequence, Tuple

from ._bloom import Bloom, Report
from ._call import Error, WrongType, logger
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


_PRODUCTS = 2 ** 28  # so many may be summed by the definition: less than a second


def _shown(places: Any, n: int, boundary: str) -> Any:
    """Returns which of the n pixels of an axis is shown at each place; n where none is."""
    if boundary == "wrap":
        return places % n
    if boundary == "clamp":
        return places.clip(0, n - 1)
    if boundary == "mirror":
        return numpy.minimum(places % (2 * n), 2 * n - 1 - places % (2 * n))
    return numpy.where((places >= 0) & (places < n), places, n)


def _by_definition(out: Any, a: Any, k: Any, boundary: str, middle: Tuple[int, int], tolerance: float, told: Report) -> Report:
    """Sums those pixels of a convolution by the definition for which the transform's error may be too large."""
    doubtful = numpy.argwhere(abs(out) < told.error_bound * (1 + 1 / tolerance))
    if len(doubtful) * k.size > _PRODUCTS:
        return dataclasses.replace(told, note="%d of %d pixels may be off by more than %g of themselves, by up to %.3g; to sum them "
                                   "would take %.1e products" % (len(doubtful), out.size, tolerance, told.error_bound, len(doubtful) * k.size))
    (h, w), around = a.shape, numpy.pad(a.astype("f8"), ((0, 1), (0, 1)))
    down, right = (m - numpy.arange(n) for m, n in zip(middle[::-1], k.shape))
    for y, x in doubtful:
        out[y, x] = (k * around[numpy.ix_(_shown(y + down, h, boundary), _shown(x + right, w, boundary))]).sum()
    return dataclasses.replace(told, kept=True, allowed=told.error_bound, energy_out=float(out.sum()),
                               note="%d of %d pixels are sums by the definition" % (len(doubtful), out.size))


def convolve(image: Any, kernel: Any, mode: str = "full", axes: Optional[Sequence[int]] = None, *,
             boundary: str = "zero", tolerance: float = 1e-3, report: bool = False, context: Optional[Context] = None) -> Any:
    """Convolves two arrays along two axes, as scipy.signal.fftconvolve does: nothing is normalised.

    image, kernel  arrays of as many dimensions; along the other axes they broadcast. Integers become float64; but where
                   one of the two is a single number along both axes, its products keep their type, as in scipy
    mode           "full", "same" (the middle, of the size of the image) or "valid" (what needs no border)
    axes           the two axes; None: arrays have two
    boundary       what is beyond the image: "zero", or for "same" also "mirror", "clamp" or "wrap"
    tolerance      the promised relative error of a pixel, as that of a `Bloom`. Pixels for which no transform keeps
                   the tolerance are summed by the definition, as long as this takes at most 2^28 products; where it
                   would take more, and where the type of the result does not hold a pixel, the logger "fftbloom" gets
                   a warning
    report         True: returns a `Report`, too, or a list of them for a batch
    context        a `Context`; None: the common one

    To convolve many images with a kernel, `Bloom(kernel, normalize="none")` keeps the kernel's spectrum.
    """
    out, told = _convolved(_array(image, "the image"), _array(kernel, "the kernel"), mode, axes, boundary, tolerance, context)
    missed = [r.note for r in told if not r.kept]
    if missed:
        logger.warning("convolve: the tolerance is not kept in %d of %d arrays: %s", len(missed), len(told), missed[0])
    out = given_back(numpy.ascontiguousarray(out), namespace(image))
    return (out, told[0] if out.ndim == 2 else told) if report else out


def _fitting(told: Report, fits: Any) -> Report:
    """Returns the report of a result in which the pixels of `fits` are in the range of its type."""
    if fits.all():
        return told
    return dataclasses.replace(told, kept=False, note="%d of %d pixels are beyond the range of %s"
                               % (fits.size - fits.sum(), fits.size, told.precision))


def _products(a: Any, k: Any, y: int, x: int) -> Tuple[Any, List[Report]]:
    """Convolves where the kernel, or the image, is one number along each axis: by products, in their own type."""
    out = a * k
    fits = numpy.isfinite(out) if out.dtype.kind == "f" else abs(out - numpy.multiply(a, k, dtype="f8")) <= 1 + 1e-9 * abs(out)
    fits = numpy.moveaxis(fits, (y, x), (-2, -1)).reshape(-1, out.shape[y] * out.shape[x])
    light, made = (numpy.moveaxis(numpy.broadcast_to(v, out.shape), (y, x), (-2, -1)).reshape(-1, out.shape[y] * out.shape[x]).sum(1)
                   for v in (a, out))
    return out, [_fitting(Report(True, 0.0, 0.0, float(i), float(o), 0, 0, 0.0, 0, str(out.dtype), "numpy", ""), f)
                 for i, o, f in zip(light, made, fits)]


def _convolved(a: Any, k: Any, mode: str, axes: Optional[Sequence[int]], boundary: str, tolerance: float,
               context: Optional[Context]) -> Tuple[Any, List[Report]]:
    """Does what `convolve` does, with arrays of numpy. Returns a report for each array of the batch."""
    if mode not in ("full", "same", "valid"):
        raise Error("mode is %r; it can be 'full', 'same' or 'valid'" % (mode,))
    if a.ndim != k.ndim:
        raise Error("the image has %d dimensions, and the kernel %d" % (a.ndim, k.ndim))
    if a.size == 0 or k.size == 0:
        return numpy.zeros(0), []
    y, x = _axes(axes, a.ndim)
    if boundary != "zero" and mode != "same":
        raise Error("boundary is %r: modes other than 'same' need 'zero'" % (boundary,))
    if all(k.shape[i] == 1 or (a.shape[i] == 1 and boundary == "zero") for i in (y, x)):  # a product, in its own type
        out, told = _products(a, k, y, x)
        if mode == "same":
            out = out[tuple(slice((n - m) // 2, (n - m) // 2 + m) for n, m in zip(out.shape, a.shape))]
        return out, told
    kind = numpy.result_type(*("f4" if v.dtype in ("f2", "f4") else "f8" for v in (a, k)))
    a, k = (numpy.moveaxis(v.astype(kind, copy=False), (y, x), (-2, -1)) for v in (a, k))
    (h, w), (kh, kw) = a.shape[-2:], k.shape[-2:]
    if mode == "valid" and not (h >= kh and w >= kw):
        if not ((kh >= h or kh == 1) and (kw >= w or kw == 1)) and not ((h >= kh or h == 1) and (w >= kw or w == 1)):
            raise Error("mode 'valid' needs one array to be as large as the other in both axes")
        if not (kh >= h and kw >= w):  # a row by a column
            out, told = _convolved(a, k, "full", (-2, -1), "zero", tolerance, context)
            return numpy.moveaxis(out[..., min(h, kh) - 1:max(h, kh), min(w, kw) - 1:max(w, kw)], (-2, -1), (y, x)), told
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
    b = Bloom(each, axes=(-2, -1), channel_axis=None, padding=boundary, kernel_center=middle, normalize="none",
              tolerance=tolerance, context=(context or common_context()).silent())
    out, made = b(numpy.ascontiguousarray(a) if a.ndim == 2 else a, report=True)
    told = made if a.ndim > 2 else [made]
    out = out[..., :th, :tw] if mode == "full" else out[..., :h - kh + 1, :w - kw + 1] if mode == "valid" else out
    for i, at in enumerate(numpy.ndindex(*batch)):
        if not told[i].kept:
            taps = numpy.asarray(each[i] if isinstance(each, list) else each, "f8")
            told[i] = _by_definition(out[at], a[at], taps, boundary, middle, tolerance, told[i])
    if far.any():
        with numpy.errstate(over="ignore"):
            out = numpy.ldexp(out, far)
            told = [dataclasses.replace(r, **{n: float(numpy.ldexp(getattr(r, n), f)) for n in ("error_bound", "allowed", "energy_out")})
                    for r, f in zip(told, numpy.broadcast_to(far, batch + (1, 1)).ravel().tolist())]
    told = [r if numpy.isfinite(r.energy_out) else _fitting(r, numpy.isfinite(out[at])) for r, at in zip(told, numpy.ndindex(*batch))]
    return numpy.moveaxis(out, (-2, -1), (y, x)), told
