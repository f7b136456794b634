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


def _kernel(handle: Handle, context: Context, letter: str = "f", source: Any = None) -> Kernel:
    kernel = Kernel.__new__(Kernel)
    kernel._set(letter, [handle], context, source)
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
        everywhere = x != x
        w = numpy.ones(shape) if everywhere else numpy.outer(hats[0][places[0].index(y)], hats[1][places[1].index(x)])
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

    Grids are summed by the library, in float32. Transposes and terms are summed here, in
    float64, and so are grids for images of float64 if `precision` is "float64": the errors of the terms add up to the
    report's error_bound. Where terms have both signs its promise
    is that their sum is no farther off than the tolerance's part of what their magnitudes add up to.
    """

    def __init__(self, nodes: Any, *, at: Any = None, common: Optional[Tuple[Any, float]] = None,
                 pixel: Optional[str] = None, context: Optional[Context] = None, **settings: Any) -> None:
        self._context = context or common_context()
        self._settings, self._order = dict(settings, context=self._context), "scatter"
        self._terms: Optional[Callable[[Shape], List[Term]]] = None
        self._blooms: Dict[Shape, Tuple[Optional[Bloom], List[Tuple[Bloom, Any]]]] = {}
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
        field._context = context or common_context()
        field._settings, field._order, field._blooms = dict(settings, context=field._context), order, {}
        if f.ndim == 5:
            field._settings.update(axes=(-2, -1), channel_axis=-3)

        def kernel(k: int) -> Any:
            each = [Kernel(b[0, k], context=field._context.silent()) if len(b) == 1 else
                    Kernel(b[:, k], axes=(-2, -1), channel_axis=0, context=field._context.silent()) for b in f]
            return each if len(each) > 1 else each[0]
        terms = [(f[k] if f.ndim == 3 else kernel(k), m[..., k, :, :].astype("f8")) for k in range(f.shape[-3])]
        field._set_terms(lambda shape: terms)
        return field

    def _set_terms(self, terms: Callable[[Shape], List[Term]]) -> None:
        wrong = set(self._settings) - {"axes", "channel_axis", "padding", "tolerance", "precision", "context"}
        if wrong:
            raise Error("%s: terms are used as they are, and have no such setting" % ", ".join(sorted(wrong)), Code.BAD_SETTING)
        self._terms = terms
        self._settings["normalize"] = "none"

    def _whole(self, shape: Shape) -> Optional[Bloom]:
        """Returns the bloom of the library; None: terms are summed here."""
        if shape not in self._blooms:
            self._blooms[shape] = None if self._terms else Bloom(self._field(shape), **self._settings), []
        return self._blooms[shape][0]

    def _parts(self, shape: Shape) -> List[Tuple[Bloom, Any]]:
        """Lists a bloom and a weight of each pixel for each term."""
        whole = self._whole(shape)
        parts = self._blooms[shape][1]
        if not parts and self._terms:
            settings = dict(self._settings, context=self._context.silent())  # what it says is not true of the sum
            parts += [(Bloom(k, **settings), w) for k, w in self._terms(shape)]
        elif not parts and whole:
            parts += [(Bloom(k, **self._settings), w) for k, w in _nodes(whole.kernel, shape)]
        return parts

    def _layout(self, image: Any) -> Tuple[Layout, Shape]:
        shape = Pixels(image, "the image").shape
        layout = Layout.of(shape, self._settings.get("axes"), self._settings.get("channel_axis", "auto"), "the image")
        return layout, (shape[layout.y], shape[layout.x])

    def __call__(self, image: Any, *, out: Any = None, mask: Any = None, report: bool = False) -> Any:
        """Blooms an image, or a batch of images. The arguments are those of a `Bloom`'s call; terms take no mask."""
        whole = self._whole(self._layout(image)[1])
        if whole and not (self._settings.get("precision") == "float64" and Pixels(image, "the image").format == "d"):
            return whole(image, out=out, mask=mask, report=report)
        return self._sum(image, False, out, mask, report)

    def adjoint(self, image: Any, *, out: Any = None, mask: Any = None, report: bool = False) -> Any:
        """Applies the transpose of what a call does: where that scatters, this gathers. The sum of f(x) * y is that of
        x * f.adjoint(y). The arguments are those of a call."""
        return self._sum(image, True, out, mask, report)

    def _sum(self, image: Any, adjoint: bool, out: Any, mask: Any, report: bool) -> Any:
        """Sums the terms: each of the weighted image, or weighted afterwards."""
        layout, shape = self._layout(image)
        if self._terms and mask is not None:
            raise Error("terms take no mask: their multipliers are some")
        x, first = _array(image, "the image"), (self._order == "scatter") != adjoint
        total, told = numpy.zeros(x.shape), []
        for bloom, w in self._parts(shape):
            check_shape(w.shape[-2:], shape, "a multiplier")
            over = w
            if w.ndim == 2:
                over = (w if layout.y < layout.x else w.T).reshape([n if a in (layout.y, layout.x) else 1 for a, n in enumerate(x.shape)])
            way: Any = bloom.adjoint if adjoint else bloom
            made, r = way(numpy.ascontiguousarray(x * over if first else x, "f8"), mask=mask, report=True)
            total += made if first else over * made
            told.append((w, r if isinstance(r, list) else [r]))
        made = total.astype(x.dtype)
        ins, outs = (numpy.moveaxis(a, layout.batch, range(len(layout.batch))).reshape(
            [math.prod(x.shape[b] for b in layout.batch), -1]) for a in (x, total))
        reports = [self._report(i, told, first, outs[i], float(ins[i].sum(dtype="f8")), made.dtype) for i in range(len(ins))]
        if out is None:
            out = given_back(made, namespace(image))
        else:
            check_shape(Pixels(out, "out", writable=True).shape, x.shape, "out")
            _array(out, "out")[...] = made
        if not all(r.kept for r in reports):
            logger.warning("Field: the tolerance is not kept in %d of %d images", sum(not r.kept for r in reports), len(reports))
        return (out, reports if layout.batch else reports[0]) if report else out

    def _report(self, i: int, told: List[Tuple[Any, List[Report]]], first: bool, made: Any, light: float, kind: Any) -> Report:
        """Adds up the errors of the terms of image i: all of them, or of each pixel those that its weights let through."""
        each = [r[i] for _, r in told]

        def added(name: str) -> float:
            if first:
                return float(sum(getattr(r, name) for r in each))
            planes = [abs(w if w.ndim == 2 else w[i % len(w)]) * getattr(r, name) for (w, _), r in zip(told, each)]
            return float(sum(planes).max())
        rounding, tolerance = float(numpy.finfo(kind).eps) / 2, float(self._settings.get("tolerance", 1e-3))
        error = added("error_bound") + rounding * float(abs(made).max())
        kept = rounding <= tolerance and (all(r.kept for r in each) or bool((abs(made) >= error * (1 + 1 / tolerance)).all()))
        return dataclasses.replace(
            each[0], kept=kept, error_bound=error, allowed=added("allowed"), energy_in=light, energy_out=float(made.sum()),
            bad_pixels=max(r.bad_pixels for r in each), clamped=sum(r.clamped for r in each), seconds=sum(r.seconds for r in each),
            attempts=max(r.attempts for r in each), note="a sum of %d terms" % len(each))

    def __repr__(self) -> str:
        return "<fftbloom.Field: %s>" % ("terms, of which the order is %r" % self._order if self._terms else "a grid of kernels")
