"""Field: kernels that vary over the frame."""
from __future__ import annotations

import dataclasses
import math
import os
from ctypes import byref, c_double, c_uint32, c_void_p, sizeof
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from ._bloom import Bloom, Report
from ._call import Code, Error, FbField, Handle, lib, logger
from ._convolve import _array
from ._kernel import Context, Kernel, common_context
from ._pixels import Layout, Pixels, check_shape, given_back, namespace, numpy

Shape = Tuple[int, int]
Term = Tuple[Any, Any]  #: what `Kernel` takes, and how much of each pixel's light is the kernel's


def _open_field(to: Any, context: c_void_p, y: Sequence[float], x: Sequence[float], share: float, *more: Any) -> int:
    """Calls fb_kernel_field with the handles of its nodes, the common one behind them, and an fb_error."""
    nodes = [None if h is None else h.value for h in more[:-1]]
    field = FbField(sizeof(FbField), len(x), len(y), (c_double * len(x))(*x), (c_double * len(y))(*y),
                    (c_void_p * len(nodes))(*nodes), nodes[-1], share)
    return int(lib.fb_kernel_field(to, context, byref(field), more[-1]))


def _kernel(handle: Handle, context: Context, letter: str) -> Kernel:
    kernel = Kernel.__new__(Kernel)
    kernel._set(letter, [handle], context)
    return kernel


def _grid(nodes: Any, at: Any, common: Optional[Tuple[Any, float]], context: Context) -> Kernel:
    """Makes a kernel of the library of nodes [gy][gx], which are kernels, or arrays whose channels come first."""
    ndim = getattr(nodes, "ndim", 0)
    if ndim not in (0, 4, 5):
        raise Error("the nodes have the shape %s, and need (gy, gx, h, w) or (gy, gx, C, h, w)" % (nodes.shape,))
    array: Dict[str, Any] = dict(axes=(-2, -1), channel_axis=0 if ndim == 5 else None) if ndim else {}
    rows = [[k if isinstance(k, Kernel) else Kernel(k, context=context, **array) for k in row] for row in nodes]
    every = [k for row in rows for k in row]
    places = [[float(v) for v in p] for p in at]
    if not every or [len(r) for r in rows] != len(places[0]) * [len(places[1])]:
        raise Error("there are %d rows of %s nodes, and at= has %d places along y and %d along x"
                    % (len(rows), [len(r) for r in rows], len(places[0]), len(places[1])))
    several = next((k for k in every if len(k._handles) > 1), None)
    if several:
        raise Error("a node has %d channels; those of a field have 1 or 3, and Field.from_terms takes any number"
                    % several.shape[2])
    last = None if common is None else Kernel(common[0], context=context)._handles[0]
    handle = Handle("kernel", _open_field, context._handle, *places, common[1] if common else 0.0,
                    *(k._handles[0] for k in every), last)
    return _kernel(handle, context, max((k._format for k in every), key="fd".index))


def _nodes(field: Kernel, shape: Shape) -> Iterator[Tuple[Kernel, Any]]:
    """Yields the nodes of a field, each with its weight of each pixel: docs/inside/math.md, "Kernels that vary over the frame"."""
    found: List[Tuple[Handle, Any]] = []  # with x, y, and the share of the light
    try:
        while True:
            at = (c_double * 3)()
            found.append((Handle("kernel", lib.fb_kernel_node, field._handles[0], len(found), at), at))
    except Error as e:
        if e.code is not Code.NOT_FOUND:
            raise
    places = [sorted({float(at[a]) for _, at in found if at[a] == at[a]}) for a in (1, 0)]
    hats = [[numpy.interp((numpy.arange(n) + 0.5) / n, p, one) for one in numpy.eye(len(p))] for p, n in zip(places, shape)]
    for handle, (x, y, share) in found:
        w = numpy.ones(shape) if x != x else numpy.outer(hats[0][places[0].index(y)], hats[1][places[1].index(x)])
        if w.any():
            yield _kernel(handle, field._context, field._format), share * w


class Field:
    """A kernel that varies over the frame: each pixel's light goes out by the kernel of its own place.

    nodes     kernels on a grid: an array (gy, gx, h, w) or (gy, gx, C, h, w), where C is 1 or 3, or rows of what
              `Kernel` takes. Or a path: of a field as EXR or JSON (docs/fields.md), of a model of PSFEx ("x.psf"), or of
              a grid of STPSF or photutils ("x.fits"); these two need astropy
    at        (y, x): the places of the rows and of the columns of nodes, in shares of the frame, of which 0, 0 is the
              corner of its first pixel. They increase. None: from edge to edge. Between nodes kernels are mixed in
              proportion to the distance, along each axis, and beyond the outer ones they stay
    common    (kernel, share): one more, which is the same everywhere and spreads this share of the light
    pixel     of a ".fits" alone: whether its samples are "included", convolved with the detector's pixel as STPSF
              writes them, or "excluded"
    settings  those of `Bloom`. Fields have their kernels' centres in their middles. Terms, of PSFEx and of from_terms,
              are used as they are, and only have axes, channel_axis, padding, tolerance, precision and context

    Grids are summed by the library, in float32; transposes and terms here, in float64, and so are grids for images of
    float64 if `precision` is "float64". docs/fields.md says what the report's error_bound counts.
    """

    def __init__(self, nodes: Any, *, at: Any = None, common: Optional[Tuple[Any, float]] = None,
                 pixel: Optional[str] = None, context: Optional[Context] = None, **settings: Any) -> None:
        self._begin(context, settings, "scatter")
        name = os.fspath(nodes) if isinstance(nodes, (str, os.PathLike)) else ""
        fits = name.endswith(".fits")
        if (pixel is not None) != fits or (fits and pixel not in ("included", "excluded")):
            raise Error("pixel is %r; a grid of .fits needs 'included' or 'excluded': whether its samples are convolved "
                        "with the pixel. Nothing else has it" % (pixel,))
        if name and (at is not None or common is not None):
            raise Error("at= and common= are for nodes in memory; a file says both itself")
        if name.endswith(".psf"):
            from ._astronomy import psfex
            self._set_terms(psfex(name))
        elif fits:
            from ._astronomy import grid
            samples, pixels = grid(name, pixel == "included")
            self._settings.setdefault("normalize", "none")
            self._field: Callable[[Shape], Kernel] = lambda shape: _grid(
                samples, [(numpy.array(p) + 0.5) / n for p, n in zip(pixels, shape)], None, self._context)
        else:
            rows, columns = (0, 0) if name else (len(nodes), len(nodes[0]) if len(nodes) else 0)
            at = [numpy.linspace(0, 1, n) if n > 1 else [0.5] for n in (rows, columns)] if at is None and not name else at
            one = Kernel(name, context=self._context) if name else _grid(nodes, at, common, self._context)
            self._field = lambda shape: one

    @classmethod
    def from_terms(cls, filters: Any, multipliers: Any, order: str = "scatter", *, context: Optional[Context] = None,
                   **settings: Any) -> Field:
        """Makes a field of terms: the sum over k of filters[k] * (multipliers[k] image), or, with the order "gather", of
        multipliers[k] (filters[k] * image).

        filters, multipliers  arrays (K, h, w) and (K, H, W); or (B, C, K, h, w) and (B, C, K, H, W), as those of
                              deepinv, for images (B, C, H, W): B and C may be 1. Convolutions, whose centres are the
                              middles, tap floor(n / 2) of n. Nothing is normalised
        """
        f, m = _array(filters, "filters"), _array(multipliers, "multipliers")
        if f.ndim != m.ndim or f.ndim not in (3, 5) or f.shape[-3] != m.shape[-3] or not f.shape[-3]:
            raise Error("filters have the shape %s and multipliers %s; they need (K, h, w) and (K, H, W), or (B, C, K, h, w) "
                        "and (B, C, K, H, W)" % (f.shape, m.shape))
        if order not in ("scatter", "gather"):
            raise Error("order is %r; it can be 'scatter' or 'gather'" % (order,), Code.BAD_SETTING)
        field = cls.__new__(cls)
        field._begin(context, dict(settings, axes=(-2, -1), channel_axis=-3) if f.ndim == 5 else settings, order)

        def kernel(k: int) -> Any:
            each = [Kernel(b[0, k], context=field._context.silent()) if len(b) == 1 else
                    Kernel(b[:, k], axes=(-2, -1), channel_axis=0, context=field._context.silent()) for b in f]
            return each if len(each) > 1 else each[0]
        terms = [(f[k] if f.ndim == 3 else kernel(k), m[..., k, :, :].astype("f8")) for k in range(f.shape[-3])]
        field._set_terms(lambda shape: terms)
        return field

    def _begin(self, context: Optional[Context], settings: Dict[str, Any], order: str) -> None:
        self._context = context or common_context()
        self._settings, self._order = dict(settings, context=self._context), order
        self._terms: Optional[Callable[[Shape], List[Term]]] = None
        self._wholes: Dict[Shape, Optional[Bloom]] = {}  # both grow by setdefault: of two threads the first one's stay
        self._summed: Dict[Tuple[Shape, bool], List[Tuple[Bloom, Any]]] = {}

    def _set_terms(self, terms: Callable[[Shape], List[Term]]) -> None:
        wrong = set(self._settings) - {"axes", "channel_axis", "padding", "tolerance", "precision", "context"}
        if wrong:
            raise Error("%s: terms are used as they are, and have no such setting" % ", ".join(sorted(wrong)), Code.BAD_SETTING)
        self._terms = terms
        self._settings["normalize"] = "none"

    def _whole(self, shape: Shape) -> Optional[Bloom]:
        """Returns the bloom of the library; None: terms are summed here."""
        if shape not in self._wholes:
            self._wholes.setdefault(shape, None if self._terms else Bloom(self._field(shape), **self._settings))
        return self._wholes[shape]

    def _parts(self, shape: Shape, coloured: bool) -> List[Tuple[Bloom, Any]]:
        """Lists a bloom, of images whose last axes are [channels,] rows and columns, and a weight of each pixel for each term."""
        whole, key = self._whole(shape), (shape, coloured)
        if key not in self._summed:
            silent = self._context.silent() if self._terms else self._context  # it is no message of the sum
            settings = dict(self._settings, context=silent, axes=(-2, -1), channel_axis=-3 if coloured else None)
            terms = self._terms(shape) if self._terms else _nodes(whole.kernel, shape) if whole else []
            self._summed.setdefault(key, [(Bloom(k, **settings), w) for k, w in terms])
        return self._summed[key]

    def _layout(self, image: Any) -> Tuple[Layout, Shape]:
        shape = Pixels(image, "the image").shape
        layout = Layout.of(shape, self._settings.get("axes"), self._settings.get("channel_axis", "auto"), "the image")
        return layout, (shape[layout.y], shape[layout.x])

    def __call__(self, image: Any, *, out: Any = None, mask: Any = None, report: bool = False) -> Any:
        """Blooms an image, or a batch of images. The arguments are those of a `Bloom`'s call; terms take no mask."""
        whole = self._whole(self._layout(image)[1])
        linear = not self._settings.get("threshold") and self._settings.get("nan") != "interpolate"  # else no sum of terms
        if whole and not (linear and self._settings.get("precision") == "float64" and Pixels(image, "the image").format == "d"):
            return whole(image, out=out, mask=mask, report=report)
        return self._sum(image, False, out, mask, report)

    def adjoint(self, image: Any, *, out: Any = None, mask: Any = None, report: bool = False) -> Any:
        """Applies the transpose of what a call does: where that scatters, this gathers. The sum of f(x) * y is that of
        x * f.adjoint(y). The arguments are those of a call."""
        return self._sum(image, True, out, mask, report)

    def solve(self, image: Any, **_: Any) -> Any:
        """Is refused: docs/fields.md says why, and what to do."""
        raise Error("a field cannot be solved: the steps of solve stay on one plan, and a field has a kernel for each place",
                    Code.BAD_SETTING)

    def _sum(self, image: Any, adjoint: bool, out: Any, mask: Any, report: bool) -> Any:
        """Sums the terms: each of the weighted image, or weighted afterwards."""
        layout, shape = self._layout(image)
        if self._terms and mask is not None:
            raise Error("terms take no mask: multiply their multipliers with it")
        given, first, coloured = _array(image, "the image"), (self._order == "scatter") != adjoint, layout.channel is not None
        if out is not None:
            check_shape(Pixels(out, "out", writable=True).shape, given.shape, "out")
        to = given if out is None else _array(out, "out")
        axes = [a for a in (*layout.batch, layout.channel, layout.y, layout.x) if a is not None]
        x = given.transpose(axes)
        total, told = numpy.zeros(x.shape), []
        for bloom, w in self._parts(shape, coloured):
            check_shape(w.shape[-2:], shape, "a multiplier")
            made, reports = self._apart(bloom.adjoint if adjoint else bloom, bloom, x * w if first else x, coloured, mask)
            total += made if first else w * made
            told.append((w, reports))
        most = float(numpy.finfo(to.dtype).max)
        clamped, made = abs(total) > most, numpy.clip(total, -most, most).astype(to.dtype)
        if clamped.any() and self._settings.get("half_overflow") == "error":
            raise Error("%d results are beyond %g in %s; half_overflow has to clamp them, or `out` to be wider"
                        % (clamped.sum(), most, to.dtype), Code.BAD_DATA)
        images = math.prod(x.shape[:len(layout.batch)])
        ins, outs, cut = (a.reshape(images, x.shape[-3] if coloured else 1, -1) for a in (x, made, clamped))
        every = [dataclasses.replace(self._report(i, told, first, outs[i]), energy_in=float(ins[i].sum(dtype="f8")),
                                     energy_out=float(outs[i].sum(dtype="f8")), clamped=int(cut[i].sum())) for i in range(images)]
        made = made.transpose(numpy.argsort(axes))
        if out is None:
            out = given_back(numpy.ascontiguousarray(made), namespace(image))
        else:
            to[...] = made
        if not all(r.kept for r in every):
            logger.warning("Field: the tolerance is not kept in %d of %d images", sum(not r.kept for r in every), len(every))
        return (out, every if layout.batch else every[0]) if report else out

    def _apart(self, way: Any, bloom: Bloom, x: Any, coloured: bool, mask: Any) -> Tuple[Any, List[List[Report]]]:
        """Applies a bloom to each channel alone, since a report bounds the one nearest to breaking the promise. Returns the
        reports [channel][image]; one for all channels where the bloom itself takes them one by one."""
        made, told, n = numpy.zeros(x.shape), [], x.shape[-3] if coloured else 1
        alone = n == 3 and len(bloom.kernel.shape) == 2 and self._settings.get("tint") is None  # the others are to be 0 beside it
        every: List[Optional[int]] = [*range(n)] if n in (3, 4) else [None]
        for c in every:
            own: Any = ... if c is None else (..., slice(c, c + 1), slice(None), slice(None))
            part = x[own] if alone or c is None else numpy.where(numpy.arange(n)[:, None, None] == c, x, 0)
            y, r = way(numpy.ascontiguousarray(part, "f8"), mask=mask, report=True)
            made[own] = y if alone else y[own]
            told.append(r if isinstance(r, list) else [r])
        return made, told

    def _report(self, i: int, told: List[Tuple[Any, List[List[Report]]]], first: bool, made: Any) -> Report:
        """Adds up the errors of the terms of image i, channel by channel: all of them, or of each pixel those that its
        weights let through. The channel that is farthest off has the bound."""
        kind, tolerance = numpy.finfo(made.dtype), float(self._settings.get("tolerance", 1e-3))
        rounding, kept, bounds, channels = float(kind.eps) / 2, True, [], range(len(told[0][1]))
        for c in channels:
            each = [r[c][i] for _, r in told]

            def added(name: str) -> float:
                if first:
                    return float(sum(getattr(r, name) for r in each))
                weights = [w if w.ndim == 2 else w[i % len(w)][c % w.shape[1] if len(channels) > 1 else ...] for w, _ in told]
                return float(sum(abs(w) * numpy.where(w, getattr(r, name), 0) for w, r in zip(weights, each)).max())  # inf: of black
            own = abs((made[c] if len(channels) > 1 else made).astype("f8"))
            error = added("error_bound") + rounding * float(own.max()) + rounding * float(kind.tiny)
            kept = kept and rounding <= tolerance and (all(r.kept for r in each) or bool((own >= error * (1 + 1 / tolerance)).all()))
            bounds.append((error, added("allowed")))
        every = [r[c][i] for _, r in told for c in channels]
        return dataclasses.replace(
            every[0], kept=kept, error_bound=max(bounds)[0], allowed=max(bounds)[1],
            bad_pixels=max(sum(r[c][i].bad_pixels for c in channels) for _, r in told), seconds=sum(r.seconds for r in every),
            attempts=max(r.attempts for r in every), note="a sum of %d terms" % len(told))

    def __repr__(self) -> str:
        return "<fftbloom.Field: %s>" % ("terms, of which the order is %r" % self._order if self._terms else "a grid of kernels")
