"""Arrays of others as planes of the library, and new ones. Nothing is copied."""
from __future__ import annotations

import ctypes
from typing import Any, List, Optional, Sequence, Tuple

from ._call import Code, Error, FbPlane

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

#: The letters of the buffer protocol, and what fftbloom.h calls them.
TYPES = {"e": 1, "f": 2, "d": 3}
NAMES = {"e": "float16", "f": "float32", "d": "float64"}
BYTES = {"e": 2, "f": 4, "d": 8}


class _PyBuffer(ctypes.Structure):  # Py_buffer of CPython's API, the same in all versions
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t),
                ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
                ("strides", ctypes.POINTER(ctypes.c_ssize_t)), ("suboffsets", ctypes.c_void_p),
                ("internal", ctypes.c_void_p)]


_WRITABLE, _FORMAT, _STRIDES = 0x1, 0x4, 0x18
_get = ctypes.pythonapi.PyObject_GetBuffer
_get.argtypes, _get.restype = (ctypes.py_object, ctypes.POINTER(_PyBuffer), ctypes.c_int), ctypes.c_int
_release = ctypes.pythonapi.PyBuffer_Release
_release.argtypes, _release.restype = (ctypes.POINTER(_PyBuffer),), None


class Pixels:
    """The samples of an array: of an image (H, W) or (H, W, C), or of a batch (N, H, W, C).

    The array stays where it is for as long as this object lives.
    """
    __slots__ = ("_view", "_held", "data", "format", "shape", "strides")

    def __init__(self, array: Any, what: str, writable: bool = False) -> None:
        self._held = False
        self._view = view = _PyBuffer()
        try:
            _get(array, view, _FORMAT | _STRIDES | (_WRITABLE if writable else 0))
        except (TypeError, BufferError, ValueError) as e:
            array = _by_numpy(array, what, writable, e)
            _get(array, view, _FORMAT | _STRIDES | (_WRITABLE if writable else 0))
        self._held = True
        if numpy is not None and not writable and (view.format or b"B")[:1] in b">!":  # as files of FITS have
            _release(view)
            array = numpy.asarray(array)
            array = array.astype(array.dtype.newbyteorder("="))
            _get(array, view, _FORMAT | _STRIDES)
        letter = (view.format or b"B").decode()
        if letter[0] in "@=<":  # this processor is little-endian, as x86-64 and ARM64 are
            letter = letter[1:]
        if letter not in TYPES:
            raise Error("%s has samples of the type %s; fftbloom takes float16, float32 and float64%s"
                        % (what, _type_name(array, letter), "" if writable else _cure(letter)))
        n = view.ndim
        self.data, self.format = view.buf or 0, letter
        self.shape = tuple(view.shape[:n]) if n else ()
        self.strides = view.strides[:n] if view.strides else _packed(self.shape, BYTES[letter])

    def __del__(self) -> None:
        if self._held:
            _release(self._view)

    def planes(self, index: Optional[int] = None) -> List[Tuple[int, int, int, int, int]]:
        """Lists the planes of the image, or of an image of the batch, as members of FbPlane."""
        at, shape, strides = self.data, self.shape, self.strides
        if index is not None:
            at, shape, strides = at + index * strides[0], shape[1:], strides[1:]
        row, pixel = strides[:2]
        kind = TYPES[self.format]
        if len(shape) == 2:
            return [(at, pixel, row, kind, 0)]
        return [(at + c * strides[2], pixel, row, kind, 0) for c in range(shape[2])]


def _packed(shape: Sequence[int], size: int) -> List[int]:
    """Returns the strides of samples that follow each other."""
    strides = []
    for n in reversed(shape):
        strides.insert(0, size)
        size *= n
    return strides


def lies_over(a: Pixels, b: Pixels) -> bool:
    """Returns whether arrays of one shape may share memory, and are not the same."""
    def span(p: Pixels) -> Tuple[int, int]:
        ends = [(n - 1) * step for n, step in zip(p.shape, p.strides)]
        return p.data + sum(min(e, 0) for e in ends), p.data + sum(max(e, 0) for e in ends) + BYTES[p.format]
    (first, end), (others, others_end) = span(a), span(b)
    same = a.data == b.data and list(a.strides) == list(b.strides)
    return 0 not in a.shape and not same and first < others_end and others < end


def _by_numpy(array: Any, what: str, writable: bool, why: Exception) -> Any:
    """Returns a numpy array of what has no buffer, such as a tensor in the memory of the CPU."""
    if isinstance(why, (BufferError, ValueError)):
        raise Error("%s cannot be used: %s" % (what, why)) from None
    if numpy is not None and hasattr(array, "__array__"):
        made = numpy.asarray(array)
        if not writable or numpy.shares_memory(made, numpy.asarray(array)):  # the same memory each time: no copy
            return made
    cure = " (numpy is not installed)" if numpy is None else ""
    if isinstance(array, (list, tuple)):
        cure = cure or ": numpy.array(x, 'float32') makes one"
    raise Error("%s is of the type %s, and needs to be an array of numpy or anything else that has the buffer "
                "protocol%s" % (what, type(array).__name__, cure)) from None


def _cure(letter: str) -> str:
    """Returns what to do about samples of another type."""
    if letter[0] in ">!":
        return ": x.astype('float32') makes it so"
    if letter in "BH":
        return (": x.astype('float32') / %d makes it so, and what is coded for a display, as most such images are, "
                "has to be decoded to linear light" % (255 if letter == "B" else 65535))
    return ": x.astype('float32') makes it so" if letter in "bhiIlLqQ?g" else ""


def _type_name(array: Any, letter: str) -> str:
    return str(getattr(array, "dtype", "'%s'" % letter))


def pack(planes: Sequence[Tuple[int, int, int, int, int]]) -> Any:
    return (FbPlane * len(planes))(*planes)


def make(shape: Tuple[int, ...], letter: str) -> Any:
    """Makes an array: numpy's, or without numpy a memoryview."""
    if numpy is not None:
        return numpy.empty(shape, NAMES[letter])
    if letter == "e":
        raise Error("a result in float16 needs numpy, or an array that is given as out=")
    size = BYTES[letter]
    for n in shape:
        size *= n
    if not size:
        raise Error("an array of the shape %s has no pixels" % (shape,))
    return memoryview(bytearray(size)).cast(letter, shape)


def check_shape(got: Tuple[int, ...], want: Tuple[int, ...], what: str) -> None:
    if got != want:
        raise Error("%s has the shape %s, and needs %s" % (what, got, want), Code.BAD_ARGUMENT)
