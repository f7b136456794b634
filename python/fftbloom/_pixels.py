"""Arrays of others as planes of the library, and new ones. Nothing is copied."""
from __future__ import annotations

import ctypes
import math
import sys
from ctypes import (POINTER, c_char_p, c_int, c_int32, c_int64, c_ssize_t, c_uint8, c_uint16, c_uint32, c_uint64,
                    c_void_p)
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple, Union

from ._call import Error, FbPlane, WrongType, fields

try:
    import numpy as numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

Plane = Tuple[int, int, int, int, int]  # the members of FbPlane

#: The letters of the buffer protocol, and what fftbloom.h calls them.
TYPES = {"e": 1, "f": 2, "d": 3}
NAMES = {"e": "float16", "f": "float32", "d": "float64"}
BYTES = {"e": 2, "f": 4, "d": 8}


class _PyBuffer(ctypes.Structure):  # Py_buffer of CPython's API, the same in all versions
    _fields_ = fields((c_void_p, "buf obj"), (c_ssize_t, "len itemsize"), (c_int, "readonly ndim"), (c_char_p, "format"),
                      (POINTER(c_ssize_t), "shape strides"), (c_void_p, "suboffsets internal"))


_WRITABLE, _FORMAT, _STRIDES = 0x1, 0x4, 0x18
_get, _release = ctypes.pythonapi.PyObject_GetBuffer, ctypes.pythonapi.PyBuffer_Release
_get.argtypes, _get.restype = (ctypes.py_object, POINTER(_PyBuffer), c_int), c_int
_release.argtypes, _release.restype = (POINTER(_PyBuffer),), None


class _DLTensor(ctypes.Structure):
    _fields_ = fields((c_void_p, "data"), (c_int32 * 2, "device"), (c_int32, "ndim"), (c_uint8, "code bits"),
                      (c_uint16, "lanes"), (POINTER(c_int64), "shape strides"), (c_uint64, "offset"))


class _DLVersioned(ctypes.Structure):
    _fields_ = fields((c_uint32 * 2, "version"), (c_void_p, "context deleter"), (c_uint64, "flags"), (_DLTensor, "tensor"))


_pointer, _is_valid = ctypes.pythonapi.PyCapsule_GetPointer, ctypes.pythonapi.PyCapsule_IsValid
_pointer.argtypes = _is_valid.argtypes = (ctypes.py_object, c_char_p)
_pointer.restype, _is_valid.restype = c_void_p, c_int
_CPU, _FLOAT, _READ_ONLY = (1, 3, 11), 2, 1  # CPU, and memory of the host that a GPU also knows


def _by_dlpack(array: Any, what: str, writable: bool) -> Tuple[Any, _DLTensor]:
    """Returns a capsule and the tensor in it. The capsule stays unused, so its end gives the memory back."""
    device = array.__dlpack_device__()[0]
    if device not in _CPU:
        raise Error("%s is on a GPU or another device (DLPack's type %d): x.cpu() brings it to the host" % (what, device))
    try:
        try:
            capsule = array.__dlpack__(max_version=(1, 0))
        except TypeError:  # older than DLPack 1
            capsule = array.__dlpack__()
    except (RuntimeError, BufferError, ValueError) as e:
        cure = ": x.detach() is without it" if getattr(array, "requires_grad", False) else ""
        raise Error("%s cannot be used: %s%s" % (what, e, cure)) from None
    if not _is_valid(capsule, b"dltensor_versioned"):
        return capsule, _DLTensor.from_address(_pointer(capsule, b"dltensor"))
    versioned = _DLVersioned.from_address(_pointer(capsule, b"dltensor_versioned"))
    if writable and versioned.flags & _READ_ONLY:
        raise Error("%s is read-only" % what)
    return capsule, versioned.tensor


def namespace(array: Any) -> Any:
    """Returns the module whose from_dlpack makes arrays like this one; None: results are numpy's or memoryviews."""
    if (numpy is not None and isinstance(array, numpy.ndarray)) or not hasattr(array, "__dlpack__"):
        return None
    if hasattr(array, "__array_namespace__"):
        return array.__array_namespace__()
    module = sys.modules.get(type(array).__module__.split(".")[0])
    return module if hasattr(module, "from_dlpack") else None


class Layout(NamedTuple):
    """Which axes of an array are the image's rows, its columns and its channels; all others are a batch."""
    y: int
    x: int
    channel: Optional[int]
    batch: Tuple[int, ...]

    @classmethod
    def of(cls, shape: Tuple[int, ...], axes: Optional[Sequence[int]], channel_axis: Union[int, str, None],
           what: str) -> Layout:
        n = len(shape)

        def place(name: str, axis: Any) -> int:
            if not isinstance(axis, int) or not -n <= axis < n:
                raise Error("%s is %r, and %s has the shape %s" % (name, axis, what, shape))
            return axis % n

        if n < 2:
            raise Error("%s has the shape %s, and needs (H, W) or more" % (what, shape))
        if channel_axis == "auto":
            channel_axis = n - 1 if axes is None and n > 2 and shape[-1] in (1, 3, 4) else None
            if channel_axis is None and axes is None and n == 3 and shape[-1] < min(64, *shape[:-1]):
                raise Error("%s has the shape %s: channel_axis=-1 takes the last axis for its channels, and "
                            "channel_axis=None takes all of it for a batch of %d" % (what, shape, shape[0]))
        channel = None if channel_axis is None else place("channel_axis", channel_axis)
        if axes is None:
            axes = [a for a in range(n) if a != channel][-2:]
        if len(axes) != 2 or len({*(place("axes", a) for a in axes), channel}) != 3:
            raise Error("axes are %r and channel_axis is %r: an image has two axes of its own, and its channels another"
                        % (tuple(axes), channel_axis))
        y, x = (place("axes", a) for a in axes)
        return cls(y, x, channel, tuple(a for a in range(n) if a not in (y, x, channel)))


class Pixels:
    """The samples of an array, which stays where it is for as long as this object lives."""
    __slots__ = ("_view", "_held", "data", "format", "shape", "strides", "namespace")

    def __init__(self, array: Any, what: str, writable: bool = False) -> None:
        self._held = False
        self._view: Any = _PyBuffer()
        self.namespace = namespace(array)
        flags = _FORMAT | _STRIDES | (_WRITABLE if writable else 0)
        try:
            _get(array, self._view, flags)
        except (TypeError, BufferError, ValueError) as e:
            if isinstance(e, TypeError) and hasattr(array, "__dlpack__"):
                self._take_tensor(array, what, writable)
                return
            array = _by_numpy(array, what, writable, e)
            _get(array, self._view, flags)
        self._held = True
        if numpy is not None and not writable and (self._view.format or b"B")[:1] in b">!":  # as files of FITS have
            _release(self._view)
            array = numpy.asarray(array)
            array = array.astype(array.dtype.newbyteorder("="))
            _get(array, self._view, flags)
        view, letter = self._view, (self._view.format or b"B").decode()
        if letter[0] in "@=<":  # this processor is little-endian, as x86-64 and ARM64 are
            letter = letter[1:]
        if letter not in TYPES:
            raise WrongType("%s has samples of the type %s; fftbloom takes float16, float32 and float64%s"
                            % (what, _type_name(array, letter), "" if writable else _cure(letter)))
        n = view.ndim
        self.data, self.format = view.buf or 0, letter
        self.shape = tuple(view.shape[:n]) if n else ()
        self.strides = view.strides[:n] if view.strides else _packed(self.shape, BYTES[letter])

    def _take_tensor(self, array: Any, what: str, writable: bool) -> None:
        self._view, t = _by_dlpack(array, what, writable)
        kind = {16: "e", 32: "f", 64: "d"}.get(t.bits) if t.code == _FLOAT and t.lanes == 1 else None
        if kind is None:
            raise WrongType("%s has samples of the type %s; fftbloom takes float16, float32 and float64"
                            % (what, _type_name(array, "?")))
        self.data, self.format, self.shape = (t.data or 0) + t.offset, kind, tuple(t.shape[:t.ndim])
        self.strides = ([n * BYTES[kind] for n in t.strides[:t.ndim]] if t.strides else
                        _packed(self.shape, BYTES[kind]))

    def __del__(self) -> None:
        if self._held:
            _release(self._view)

    def images(self, layout: Layout) -> List[List[Plane]]:
        """Lists the planes of each image of the batch."""
        starts = [self.data]
        for axis in layout.batch:
            starts = [at + i * self.strides[axis] for at in starts for i in range(self.shape[axis])]
        c, kind = layout.channel, TYPES[self.format]
        steps = [0] if c is None else [i * self.strides[c] for i in range(self.shape[c])]
        return [[(at + step, self.strides[layout.x], self.strides[layout.y], kind, 0) for step in steps]
                for at in starts]


def _packed(shape: Sequence[int], size: int) -> List[int]:
    """Returns the strides of samples that follow each other."""
    return [size * math.prod(shape[axis + 1:]) for axis in range(len(shape))]


def lies_over(a: Pixels, b: Pixels) -> bool:
    """Returns whether arrays may share memory, and are not the same."""
    def span(p: Pixels) -> Tuple[int, int]:
        ends = [(n - 1) * step for n, step in zip(p.shape, p.strides)]
        return p.data + sum(min(e, 0) for e in ends), p.data + sum(max(e, 0) for e in ends) + BYTES[p.format]
    (first, end), (others, others_end) = span(a), span(b)
    same = a.data == b.data and list(a.strides) == list(b.strides)
    return 0 not in a.shape and not same and first < others_end and others < end


def _by_numpy(array: Any, what: str, writable: bool, why: Exception) -> Any:
    """Returns a numpy array of what has neither a buffer nor DLPack."""
    if isinstance(why, (BufferError, ValueError)):
        raise Error("%s cannot be used: %s" % (what, why)) from None
    if numpy is not None and hasattr(array, "__array__"):
        made = numpy.asarray(array)
        if not writable or numpy.shares_memory(made, numpy.asarray(array)):  # the same memory each time: no copy
            return made
    cure = " (numpy is not installed)" if numpy is None else ""
    if isinstance(array, (list, tuple)):
        cure = cure or ": numpy.array(x, 'float32') makes one"
    raise WrongType("%s is of the type %s, and needs to be an array of numpy or anything else that has the buffer "
                    "protocol or DLPack%s" % (what, type(array).__name__, cure)) from None


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


def pack(planes: Sequence[Plane]) -> Any:
    return (FbPlane * len(planes))(*planes)  # type: ignore[misc]


def make(shape: Tuple[int, ...], letter: str, space: Any = None, zeros: bool = False) -> Any:
    """Makes an array: numpy's, or without numpy that of a namespace, or a memoryview."""
    if numpy is not None:
        return (numpy.zeros if zeros else numpy.empty)(shape, NAMES[letter])
    if space is not None:
        return space.zeros(shape, dtype=getattr(space, NAMES[letter]))
    if letter == "e":
        raise Error("a result in float16 needs numpy, or an array that is given as out=")
    if 0 in shape:
        raise Error("an array of the shape %s has no pixels" % (shape,))
    return memoryview(bytearray(BYTES[letter] * math.prod(shape))).cast(letter, shape)


def given_back(made: Any, space: Any) -> Any:
    """Returns an array that was made as the caller has arrays."""
    return space.from_dlpack(made) if space is not None and numpy is not None else made


def check_shape(got: Tuple[int, ...], want: Tuple[int, ...], what: str) -> None:
    if got != want:
        raise Error("%s has the shape %s, and needs %s" % (what, got, want))
