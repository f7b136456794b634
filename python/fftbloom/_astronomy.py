"""Fields as astronomers' programs write them. astropy reads the files; docs/fields.md says what is made of them."""
from __future__ import annotations

import ast
import functools
import os
from typing import Any, Callable, List, Tuple

from ._call import Code, Error
from ._pixels import numpy


def _resampled(samples: Any, step: float, mean: bool = False) -> Any:
    """Returns (..., h, w) at pixels that are `step` samples apart, the middle one in the middle: by Lanczos 3 along each
    axis, whose weights add up to 1, and a pixel on a sample is that sample; or the mean over a pixel."""
    for axis in (-2, -1):
        n = samples.shape[axis]
        reach = int((n / 2 + 3) / step)
        at = numpy.arange(-reach, reach + 1)[:, None] * step + (n - 1) / 2
        d = abs(at - numpy.arange(-8, n + 8))
        weights = numpy.clip((step + 1) / 2 - d, 0, 1) if mean else numpy.where(d < 3, numpy.sinc(d) * numpy.sinc(d / 3), 0)
        weights = (weights / weights.sum(1, keepdims=True))[:, 8:-8]
        samples = numpy.moveaxis(numpy.tensordot(weights, samples, (1, axis)), 0, axis)
    return samples


def _reader(read: Callable[..., Any]) -> Callable[..., Any]:
    """Opens a file of FITS for a reader, and makes an Error of what that misses in it."""
    @functools.wraps(read)
    def checked(path: str, *more: Any) -> Any:
        try:
            from astropy.io import fits  # type: ignore
        except ImportError:
            raise Error("'%s' needs astropy, which is not installed" % path) from None
        if not os.path.exists(path):
            raise Error("there is no file '%s'" % path, Code.NOT_FOUND)
        try:
            with fits.open(path) as file:
                return read(path, file, *more)
        except Error:
            raise
        except (OSError, LookupError, TypeError, ValueError, SyntaxError, ZeroDivisionError) as e:
            raise Error("'%s' cannot be read: %s" % (path, e), Code.BAD_DATA) from e
    return checked


@_reader
def psfex(path: str, file: Any) -> Callable[[Tuple[int, int]], List[Tuple[Any, Any]]]:
    """Reads a model of PSFEx: kernels that are added with monomials of x and y as their weights."""
    h = file[-1].header
    cube = numpy.array(file[-1].data[0][0], "f8") if "POLNAXIS" in h else numpy.zeros(0)
    if cube.ndim != 3 or cube.shape[1] % 2 == 0 or cube.shape[2] % 2 == 0:
        raise Error("'%s' is no model of PSFEx: it needs a table with PSF_MASK, of odd sizes, and POLNAXIS" % path, Code.BAD_DATA)
    names = [str(h["POLNAME%d" % (i + 1)]).strip() for i in range(h["POLNAXIS"])]
    if names and (names != ["X_IMAGE", "Y_IMAGE"] or h["POLNGRP"] != 1 or h["POLGRP1"] != h["POLGRP2"]):
        raise Error("'%s' varies with %s in %d groups; X_IMAGE and Y_IMAGE in one group can be used" % (path, ", ".join(names), h["POLNGRP"]),
                    Code.BAD_DATA)
    degree = h["POLDEG1"] if names else 0
    powers = [(i, j) for j in range(degree + 1) for i in range(degree + 1 - j)]  # 1, x, x^2, y, x y, y^2
    if len(powers) != len(cube):
        raise Error("'%s' has %d planes, and its degree of %d needs %d" % (path, len(cube), degree, len(powers)), Code.BAD_DATA)
    kernels = _resampled(cube, 1 / h["PSF_SAMP"])
    places = [(h["POLZERO%d" % a], h["POLSCAL%d" % a]) for a in (1, 2)] if names else [(0, 1)] * 2

    def terms(shape: Tuple[int, int]) -> List[Tuple[Any, Any]]:
        x, y = ((numpy.arange(n) + 1 - zero) / scale for (zero, scale), n in zip(places, shape[::-1]))
        return [(k, numpy.outer(y ** j, x ** i)) for k, (i, j) in zip(kernels, powers)]
    return terms


@_reader
def grid(path: str, file: Any, included: bool) -> Tuple[Any, List[List[float]]]:
    """Reads a grid of STPSF or photutils: kernels (gy, gx, h, w), and the pixels (y, x) that they are for."""
    h, cube = file[0].header, file[0].data
    if cube is None or cube.ndim != 3 or "OVERSAMP" not in h or "DET_YX%d" % (len(cube) - 1) not in h:
        raise Error("'%s' is no grid of kernels: it needs an image (n, h, w) with OVERSAMP and DET_YX0 to DET_YX(n-1)" % path, Code.BAD_DATA)
    over = int(h["OVERSAMP"])
    at = [ast.literal_eval(str(h["DET_YX%d" % i])) for i in range(len(cube))]
    places = [sorted({float(p[a]) for p in at}) for a in (0, 1)]
    order = {(float(y), float(x)): i for i, (y, x) in enumerate(at)}
    if len(order) != len(cube) or len(cube) != len(places[0]) * len(places[1]):
        raise Error("the %d kernels of '%s' are at %d places of y and %d of x, which is no grid" % (len(cube), path, len(places[0]), len(places[1])), Code.BAD_DATA)
    kernels = _resampled(numpy.asarray(cube, "f8"), over, not included)
    return kernels[[[order[y, x] for x in places[1]] for y in places[0]]], places
