"""Context and Kernel, and kernels of any number of channels."""
from __future__ import annotations

import ctypes
import html
import json
import math
import operator
import os
import threading
import weakref
from ctypes import byref, c_uint32, sizeof
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _call
from ._call import Code, Error, FbContextOptions, Handle, call, lib
from ._pixels import NAMES, Layout, Pixels, make, pack

Path = Union[str, "os.PathLike[str]"]


def whole(setting: str, value: Any, most: int, code: Code) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if not 0 <= number <= most:
        raise Error("%s is %r, and needs to be a whole number from 0 to %d" % (setting, value, most), code, setting)
    return number


class Context:
    """Devices, threads and a budget of memory, which kernels and what blooms with them share.

    Most programs need none of their own: `Kernel` takes a common one unless it is given another. The common one has
    the defaults, and keeps the kernels that it makes in the cache folder of the program, ~/.cache/fftbloom.

    device      "auto", "cpu", "gpu", "software", an index, a UUID, or a part of a name
    threads     how many work at the same time; 0: as many as the process may use
    mem_limit   the budget in bytes; 0: 80 % of what is available
    vram_limit  the budget in the memory of a GPU; 0: what it has
    cache_dir   a folder that keeps spectra, shaders and made kernels between runs; "": that of the program, if it can
                be used; None: nothing is kept
    cache_size  how many bytes of spectra it keeps; 0: 2e9
    kernels     the folder of the shipped kernels; None: the one that was installed with fftbloom
    messages    whether messages go to the logger "fftbloom" of Python's logging, down to the level that it has now
    """

    def __init__(self, *, device: Optional[str] = None, threads: int = 0, mem_limit: int = 0, vram_limit: int = 0,
                 cache_dir: Optional[Path] = None, cache_size: int = 0, kernels: Optional[Path] = None,
                 messages: bool = True) -> None:
        options = FbContextOptions(size=sizeof(FbContextOptions), log_level=_call.log_level(),
                                   log=ctypes.cast(_call.log, ctypes.c_void_p) if messages else None)
        for name, path in (("device", device), ("cache_dir", cache_dir), ("kernels", kernels)):
            setattr(options, name, None if path is None else os.fsencode(path))
        for name, number, bits in (("threads", threads, 32), ("mem_limit", mem_limit, 64), ("vram_limit", vram_limit, 64),
                                   ("cache_size", cache_size, 64)):
            setattr(options, name, whole(name, number, 2 ** bits - 1, Code.BAD_ARGUMENT))
        self._handle = Handle("context", lib.fb_context_open, byref(options))
        self._given = dict(device=device, threads=threads, mem_limit=mem_limit, vram_limit=vram_limit, cache_dir=cache_dir,
                           cache_size=cache_size, kernels=kernels)
        self._messages, self._silent = messages, None  # type: bool, Optional[Context]

    def silent(self) -> Context:
        """Returns a context like this one that passes no messages on."""
        if self._messages and self._silent is None:
            self._silent = Context(**self._given, messages=False)  # type: ignore[arg-type]
        return self._silent or self

    @property
    def used(self) -> int:
        """How many bytes of the budget are in use."""
        return int(lib.fb_context_used(self._handle.get()))


_common: List[Context] = []  # none or one
_common_lock = threading.Lock()


def _forked() -> None:
    global _common, _common_lock
    _common, _common_lock = [], threading.Lock()


os.register_at_fork(after_in_child=_forked)


def common_context() -> Context:
    """Returns the context of those that are given none: one in each process.

    It keeps made kernels where the program keeps them, but no spectra: most are made faster than a file is written,
    and a run with random kernels would fill the folder.
    """
    with _common_lock:
        if not _common:
            _common.append(Context(cache_dir="", cache_size=1))
        return _common[0]


def size_of(handle: Handle) -> Tuple[int, int, int]:
    size = c_uint32(), c_uint32(), c_uint32()
    lib.fb_kernel_size(handle.get(), *map(byref, size))
    return size[0].value, size[1].value, size[2].value


class Kernel:
    """A point spread function: the picture of one point of light. It never changes.

    source        the name of a shipped kernel, such as "sunstar"; the path of an image or a .spectrum file; or an
                  array (h, w) or (h, w, C). C kernels are for the C channels of an image, of which 3 are R G B
    axes          of an array: its rows and columns, such as (-2, -1)
    channel_axis  of an array: its channels, such as 0; None: there are none
    frame         of a shipped kernel or a recipe: the size (h, w) of the images that it is made for, as the program
                  does; None: it is made as it is, for 1920 pixels
    context       a `Context`; None: the common one
    """

    def __init__(self, source: Any, *, axes: Optional[Sequence[int]] = None,
                 channel_axis: Union[int, str, None] = "auto", frame: Optional[Tuple[int, int]] = None,
                 context: Optional[Context] = None) -> None:
        if isinstance(source, (str, os.PathLike)):
            context, path = context or common_context(), os.fsencode(source)
            size = [whole("frame", n, 2 ** 32 - 1, Code.BAD_SETTING) for n in frame or ()]
            if frame is not None and len(size) != 2:
                raise Error("frame is %r; it has two numbers, (h, w)" % (frame,), Code.BAD_SETTING, "frame")
            made = (Handle("kernel", lib.fb_kernel_open_for, context._handle, path, size[1], size[0]) if size else
                    Handle("kernel", lib.fb_kernel_open, context._handle, path))
            self._set("f", [made], context, source)
            return
        if frame is not None:
            raise Error("frame= is for a shipped kernel or a recipe; an array has one size", Code.BAD_SETTING, "frame")
        every = kernels_of(source, axes, channel_axis, context)
        if len(every) != 1:
            raise Error("there are %d kernels in this array: fftbloom.Bloom takes one for each image of a batch, and "
                        "channel_axis= names an axis of channels" % len(every))
        self.__dict__.update(every[0].__dict__)

    @staticmethod
    def names() -> List[str]:
        """Lists the shipped kernels, which `Kernel` takes by their names."""
        here = os.path.dirname(os.path.realpath(lib._name)) if "/" in lib._name else "/usr/lib"
        for near in "../share/fftbloom/kernels", "../../share/fftbloom/kernels", "kernels", "../kernels":
            folder = os.path.join(here, near)
            if os.path.isdir(folder):
                return sorted({name.rpartition(".")[0] for name in os.listdir(folder) if name.endswith((".json", ".exr"))})
        raise Error("the folder of the shipped kernels is not near the library %r" % lib._name, Code.NOT_FOUND)

    @classmethod
    def make(cls, model: Union[str, Mapping[str, Any]], *, context: Optional[Context] = None,
             **parameters: Any) -> Kernel:
        """Makes a kernel by a model and its parameters, or by a whole recipe. docs/kernels.md describes both.

        model       a name, such as "aperture"; or a recipe: a dict with the keys of a recipe's JSON
        context     a `Context`; None: the common one
        parameters  of the model; lengths are numbers of pixels or text, such as "4um". taps=N or taps="WxH" sets
                    the size

            k = fftbloom.Kernel.make("aperture", blades=7, fnumber=11, pitch="4um", taps=256)
            k = fftbloom.Kernel.make({"taps": 256, "layers": [{"model": "star", "share": 0.7, "blades": 6},
                                                              {"model": "moffat", "share": 0.3}]})
        """
        recipe = {"model": model, **parameters} if isinstance(model, str) else {**model, **parameters}
        try:
            words = json.dumps(recipe, allow_nan=False)
        except (TypeError, ValueError) as e:
            raise Error("the recipe %r cannot be written as JSON: %s" % (recipe, e), Code.BAD_DATA) from None
        kernel = cls.__new__(cls)
        context = context or common_context()
        kernel._set("f", [Handle("kernel", lib.fb_kernel_make, context._handle, words.encode())], context)
        return kernel

    def _set(self, letter: str, handles: List[Handle], context: Context, source: Any = None) -> None:
        w, h, channels = size_of(handles[0])
        channels = channels if len(handles) == 1 else len(handles)
        self._format, self._handles, self._context, self._source = letter, handles, context, source
        #: (h, w) of a grey kernel, (h, w, C) of another
        self.shape: Tuple[int, ...] = (h, w) + ((channels,) if channels > 1 else ())

    def check(self) -> List[str]:
        """Returns what the linter finds in the kernel: sentences on what is wrong and what to do; []: nothing.

        Options in them that begin with -- are the settings of `Bloom` that have the same names.
        """
        room, said = ctypes.create_string_buffer(1 << 14), []
        for handle in self._handles:
            call(lib.fb_kernel_check, handle.get(), room, len(room))
            said += room.value.decode("utf-8", "replace").splitlines()
        return list(dict.fromkeys(said))

    def taps(self) -> Any:
        """Returns the taps as they are, before anything is scaled: in float64 where they came so, else in float32."""
        taps = make(self.shape, self._format)
        planes = Pixels(taps, "taps").images(self._layout())[0]
        for i, handle in enumerate(self._handles):
            call(lib.fb_kernel_taps, handle.get(), pack(planes if len(self._handles) == 1 else planes[i:i + 1]))
        return taps

    def _layout(self) -> Layout:
        return Layout(0, 1, 2 if len(self.shape) > 2 else None, ())

    def _bytes(self) -> bytes:
        return memoryview(self.taps()).tobytes()

    # A kernel goes to another process as its taps; a .spectrum file or a field, which do not show them, as its path.
    def __reduce__(self) -> Any:
        try:
            return _kernel_again, (self._bytes(), self._format, self.shape)
        except Error:
            if self._source is None:
                raise
            return Kernel, (self._source,)

    def __copy__(self, memo: Any = None) -> Kernel:
        return self

    __deepcopy__ = __copy__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Kernel):
            return NotImplemented
        if self is other or self.shape != other.shape:
            return self is other
        try:
            return bool(self._values() == other._values())
        except Error:  # without taps
            return self._source is not None and str(self._source) == str(other._source)

    def __hash__(self) -> int:
        return hash(self.shape)

    def _values(self) -> Any:
        return memoryview(self._bytes()).cast(self._format)

    def __repr__(self) -> str:
        of = " %r" % str(self._source) if self._source is not None else ""
        return "<fftbloom.Kernel%s: %d x %d taps%s, %s>" % (
            of, self.shape[1], self.shape[0], ", %d channels" % self.shape[2] if len(self.shape) > 2 else "",
            NAMES[self._format])

    def _repr_html_(self) -> str:
        try:
            return "<div>%s<br>%s</div>" % (html.escape(repr(self)), _svg(self._values(), self.shape))
        except Error:  # without taps
            return "<div>%s</div>" % html.escape(repr(self))


def _svg(values: Sequence[float], shape: Tuple[int, ...]) -> str:
    """Draws taps (h, w) or (h, w, C), where brightness counts decades below the brightest, and beside them their light by
    the distance from the middle."""
    cells, size = 32, 160
    h, w, channels = shape[0], shape[1], (shape[2] if len(shape) > 2 else 1)
    cell = max(1, math.ceil(max(h, w) / cells))
    brightest = [[0.0] * math.ceil(w / cell) for _ in range(math.ceil(h / cell))]
    rings = [0.0] * (max(h, w) // 2 + 2)
    for y in range(h):
        for x in range(w):
            at = (y * w + x) * channels
            v = sum(values[at:at + channels]) / channels
            row = brightest[y // cell]
            row[x // cell] = max(row[x // cell], abs(v))
            rings[min(len(rings) - 1, round(math.hypot(x - w // 2, y - h // 2)))] += v
    top = max(max(row) for row in brightest) or 1.0
    side = size / max(len(brightest), len(brightest[0]))
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d"><rect width="%d" height="%d"/>'
             % (2 * size + 10, size, size, size)]
    for y, row in enumerate(brightest):
        for x, v in enumerate(row):
            grey = round(255 * max(0.0, 1 + math.log10(v / top) / 5)) if v > 0 else 0
            if grey:
                parts.append('<rect x="%.4g" y="%.4g" width="%.4g" height="%.4g" fill="rgb(%d,%d,%d)"/>'
                             % (x * side, y * side, side, side, grey, grey, grey))
    total, sum_of, line = sum(rings) or 1.0, 0.0, []  # type: float, float, List[str]
    for r, v in enumerate(rings):
        sum_of += v
        line.append("%.4g,%.4g" % (size + 10 + size * r / len(rings), size * (1 - sum_of / total)))
    parts.append('<polyline points="%s" fill="none" stroke="currentColor"/></svg>' % " ".join(line))
    return "".join(parts)


# Kernels of arrays, with the letter of their numbers. A process that is forked needs their taps.
_copies: weakref.WeakKeyDictionary[Handle, Tuple[Handle, str]] = weakref.WeakKeyDictionary()


def _before_fork() -> None:
    while _copies:
        handle, (context, letter) = _copies.popitem()
        w, h, n = size_of(handle)
        handle.kept = Pixels(make((h, w, n), letter), "taps", True)
        planes = pack(handle.kept.images(Layout(0, 1, 2, ()))[0])
        call(lib.fb_kernel_taps, handle.get(), planes)
        handle.arguments = (context, w, h, n, planes)


os.register_at_fork(before=_before_fork)


def _kernel_again(values: bytes, letter: str, shape: Tuple[int, ...]) -> Kernel:
    return Kernel(memoryview(values).cast("B").cast(letter, shape))


def kernels_of(source: Any, axes: Optional[Sequence[int]], channel_axis: Union[int, str, None],
                context: Optional[Context]) -> List[Kernel]:
    """Copies the kernels of an array: the axes that are neither the taps' nor the channels' are a batch."""
    context, pixels, made = context or common_context(), Pixels(source, "the kernel"), []
    n = len(pixels.shape)
    if channel_axis == "auto":
        if axes is None and not 2 <= n <= 3:
            raise Error("the kernel has the shape %s, and needs (h, w) or (h, w, C), or axes=" % (pixels.shape,))
        channel_axis = 2 if axes is None and n == 3 else None
    layout = Layout.of(pixels.shape, axes, channel_axis, "the kernel")
    for planes in pixels.images(layout):
        groups = [planes] if len(planes) in (1, 3) else [[p] for p in planes]
        handles = [Handle("kernel", lib.fb_kernel_copy, context._handle, pixels.shape[layout.x],
                          pixels.shape[layout.y], len(g), pack(g)) for g in groups]
        letter = "d" if pixels.format == "d" else "f"
        for handle in handles:
            handle.arguments = None  # the array may change, or go
            _copies[handle] = context._handle, letter
        if not handles:
            raise Error("the kernel has the shape %s, and no channels" % (pixels.shape,))
        kernel = Kernel.__new__(Kernel)
        kernel._set(letter, handles, context)
        made.append(kernel)
    return made


def kernels(source: Any, axes: Optional[Sequence[int]], channel_axis: Union[int, str, None],
             context: Optional[Context]) -> List[Kernel]:
    """Lists the kernels that a Bloom is given."""
    if isinstance(source, (list, tuple)):
        every = [k for one in source for k in kernels(one, None, "auto", context)]
        if len({k.shape[2:] for k in every}) != 1:
            raise Error("a list of kernels needs one at the least, and all of them as many channels")
        return every
    if isinstance(source, Kernel):
        return [source]
    if isinstance(source, (str, os.PathLike)):
        return [Kernel(source, context=context)]
    n = len(Pixels(source, "the kernel").shape)
    batch = axes is not None and n > 2 + (channel_axis not in (None, "auto"))
    return kernels_of(source, axes if batch else None, channel_axis if batch else "auto", context)


def _mean(taps: Any, channels: int) -> float:
    return float(taps.sum(dtype="f8")) / channels


def scaled(kernel: Kernel) -> Kernel:
    """Returns a kernel of many channels whose channels add up to 1 in the mean."""
    taps = kernel.taps()
    mean = _mean(taps, kernel.shape[2]) if hasattr(taps, "sum") else float("nan")
    if not mean > 0:
        raise Error("the mean sum of the kernel's channels is %g; it must be greater than 0 to be brought to 1%s"
                    % (mean, "" if hasattr(taps, "sum") else ", and this needs numpy"), Code.BAD_DATA)
    return kernels_of(taps.astype("f8") / mean, (0, 1), 2, kernel._context)[0]


def unscale(gradient: Any, kernel: Kernel) -> None:
    """Follows what `scaled` does to the taps: the chain rule, in place."""
    taps = kernel.taps().astype("f8")
    mean = _mean(taps, kernel.shape[2])
    whole = gradient.astype("f8")
    gradient[...] = (whole - (whole * taps).sum() / mean / kernel.shape[2]) / mean
