"""Context, Kernel, Bloom and Report: what people use."""
from __future__ import annotations

import collections
import concurrent.futures
import ctypes
import dataclasses
import json
import operator
import os
import threading
from ctypes import byref, c_uint32, sizeof
from typing import Any, Deque, Iterable, Iterator, List, Mapping, Optional, Tuple, Union

from . import _call
from ._call import Code, Error, FbContextOptions, FbImage, FbReport, FbSettings, Handle, call, lib
from ._pixels import Pixels, check_shape, lies_over, make, pack

Path = Union[str, "os.PathLike[str]"]


# --- context ---------------------------------------------------------------------------------------

class Context:
    """Devices, threads and a budget of memory, which kernels and what blooms with them share.

    Most programs need none of their own: `Kernel` takes a common one unless it is given another. The common one has
    the defaults, and keeps the kernels that it makes in the cache folder of the program, ~/.cache/fftbloom.

    device      "auto", "cpu", "gpu", "software", an index, a UUID, or a part of a name
    threads     how many work at the same time; 0: as many as the process may use
    mem_limit   the budget in bytes; 0: 80 % of what is available
    vram_limit  the budget in the memory of a GPU; 0: what it has
    cache_dir   a folder that keeps spectra, shaders and made kernels between runs; None: nothing is kept
    cache_size  how many bytes of spectra it keeps; 0: 2e9
    kernels     the folder of the shipped kernels; None: the one that was installed with fftbloom

    Messages go to the logger "fftbloom" of Python's logging, down to the level that it has now.
    """

    def __init__(self, *, device: Optional[str] = None, threads: int = 0, mem_limit: int = 0, vram_limit: int = 0,
                 cache_dir: Optional[Path] = None, cache_size: int = 0, kernels: Optional[Path] = None) -> None:
        def text(value: Optional[Path]) -> Optional[bytes]:
            return None if value is None else os.fsencode(value)

        def count(name: str, value: int, most: int) -> int:
            return _count(name, value, most, Code.BAD_ARGUMENT)

        options = FbContextOptions(size=sizeof(FbContextOptions), threads=count("threads", threads, 2 ** 32 - 1),
                                   mem_limit=count("mem_limit", mem_limit, 2 ** 64 - 1),
                                   vram_limit=count("vram_limit", vram_limit, 2 ** 64 - 1),
                                   cache_size=count("cache_size", cache_size, 2 ** 64 - 1), device=text(device),
                                   cache_dir=text(cache_dir), kernels=text(kernels),
                                   log=ctypes.cast(_call.log, ctypes.c_void_p), log_level=_call.log_level())
        self._handle = Handle("context", lib.fb_context_open, byref(options))

    @property
    def used(self) -> int:
        """How many bytes of the budget are in use."""
        return int(lib.fb_context_used(self._handle.get()))


_common: Optional[Context] = None
_common_lock = threading.Lock()


def _forked() -> None:
    global _common, _common_lock
    _common, _common_lock = None, threading.Lock()


os.register_at_fork(after_in_child=_forked)


def _programs_cache() -> Optional[str]:
    """Makes the cache folder of the program, and returns it where it can be used."""
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    folder = os.environ.get("FFTBLOOM_CACHE_DIR") or os.path.join(
        xdg if xdg.startswith("/") else os.path.expanduser("~/.cache"), "fftbloom")
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def _common_context() -> Context:
    """Returns the context of those that are given none: one in each process.

    It keeps made kernels where the program keeps them, but no spectra: most are made faster than a file is written,
    and a run with random kernels would fill the folder.
    """
    global _common
    with _common_lock:
        if _common is None:
            _common = Context(cache_dir=_programs_cache(), cache_size=1)
        return _common


# --- kernel ----------------------------------------------------------------------------------------

class Kernel:
    """A point spread function: the picture of one point of light. It never changes.

    source   the name of a shipped kernel, such as "sunstar"; the path of an image or a .spectrum file; or an array
             (H, W) or (H, W, 3)
    context  a `Context`; None: the common one

        k = fftbloom.Kernel("sunstar")
        k = fftbloom.Kernel("lens.exr")
        k = fftbloom.Kernel(numpy.outer(bell, bell))
    """

    def __init__(self, source: Any, *, context: Optional[Context] = None) -> None:
        context = context or _common_context()
        self._format = "f"
        if isinstance(source, (str, os.PathLike)):
            self._handle = Handle("kernel", lib.fb_kernel_open, context._handle.get(), os.fsencode(source))
        else:
            pixels = Pixels(source, "the kernel")
            if len(pixels.shape) not in (2, 3):
                raise Error("the kernel has the shape %s, and needs (H, W) or (H, W, 3)" % (pixels.shape,))
            planes = pixels.planes()
            self._format = "d" if pixels.format == "d" else "f"
            self._handle = Handle("kernel", lib.fb_kernel_copy, context._handle.get(), pixels.shape[1],
                                  pixels.shape[0], len(planes), pack(planes))
        self._measure()

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
        kernel._format = "f"
        kernel._handle = Handle("kernel", lib.fb_kernel_make, (context or _common_context())._handle.get(),
                                words.encode())
        kernel._measure()
        return kernel

    def _measure(self) -> None:
        size = c_uint32(), c_uint32(), c_uint32()
        lib.fb_kernel_size(self._handle.get(), *map(byref, size))
        #: (H, W) of a grey kernel, (H, W, 3) of a coloured one
        self.shape: Tuple[int, ...] = (size[1].value, size[0].value) + ((size[2].value,) if size[2].value > 1 else ())

    def check(self) -> List[str]:
        """Returns what the linter finds in the kernel: sentences on what is wrong and what to do; []: nothing.

        Options in them that begin with -- are the settings of `Bloom` that have the same names.
        """
        room = ctypes.create_string_buffer(1 << 14)
        call(lib.fb_kernel_check, self._handle.get(), room, len(room))
        return room.value.decode("utf-8", "replace").splitlines()

    def taps(self) -> Any:
        """Returns the taps as they are, before anything is scaled: in float64 where they came so, else in float32."""
        taps = make(self.shape, self._format)
        call(lib.fb_kernel_taps, self._handle.get(), pack(Pixels(taps, "taps").planes()))
        return taps

    def __repr__(self) -> str:
        return "<fftbloom.Kernel %s>" % (self.shape,)


# --- bloom -----------------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Report:
    """What became of one image."""
    kept: bool  #: whether the promise is kept: no pixel is off by more than the tolerance
    error_bound: float  #: no pixel is farther off than this,
    allowed: float  #: and the tolerance allows this much, in the channel that is nearest to breaking it
    energy_in: float  #: the sum of all pixels that are spread, of all channels,
    energy_out: float  #: and of the result
    bad_pixels: int  #: NaN and infinite ones
    clamped: int  #: results that the type of `out` could not hold
    seconds: float  #: of the call
    attempts: int  #: transforms until the promise was kept
    precision: str  #: "float32" or "float64": of the last of them,
    device: str  #: and where it ran
    note: str  #: what else you should know; "": nothing

    @property
    def energy(self) -> float:
        """The light of the result, as a share of the light that came in."""
        return self.energy_out / self.energy_in if self.energy_in else float("nan")


_WORDS = {
    "padding": ("mirror", "zero", "clamp", "wrap"),
    "kernel_center": ("middle", "peak", "centroid", "corner"),
    "normalize": ("luminance", "channel", "sum", "none"),
    "precision": ("auto", "float32", "float64"),
    "nan": ("error", "zero", "interpolate"),
    "half_overflow": ("clamp", "error"),
    "alpha": ("keep", "convolve"),
}
_CENTER_AT = 4


def _word(setting: str, value: Any) -> int:
    words = _WORDS[setting]
    if value not in words:
        raise Error("%s is %r; it can be '%s' or '%s'" % (setting, value, "', '".join(words[:-1]), words[-1]),
                    Code.BAD_SETTING, setting)
    return words.index(value)


def _pair(setting: str, value: Any) -> Tuple[Any, Any]:
    try:
        x, y = value
    except (TypeError, ValueError):
        raise Error("%s is %r, and needs to be a word or two values, for x and y" % (setting, value),
                    Code.BAD_SETTING, setting) from None
    return x, y


def _number(setting: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise Error("%s is %r, and needs to be a number" % (setting, value), Code.BAD_SETTING, setting) from None


def _amount(value: Any) -> float:
    if isinstance(value, str) and value.strip().endswith("%"):
        return _number("amount", value.strip()[:-1]) / 100
    return _number("amount", value)


def _count(setting: str, value: Any, most: int, code: Code) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if not 0 <= number <= most:
        raise Error("%s is %r, and needs to be a whole number from 0 to %d" % (setting, value, most), code, setting)
    return number


def _report(raw: FbReport) -> Report:
    return Report(bool(raw.kept), raw.error, raw.allowed, raw.energy_in, raw.energy_out, raw.bad_pixels, raw.clamped,
                  raw.seconds, raw.attempts, _WORDS["precision"][raw.precision], raw.device.decode("utf-8", "replace"),
                  raw.note.decode("utf-8", "replace"))


_CHANNELS = (1, 3, 4)


def _cure(shape: Tuple[int, ...]) -> str:
    """Returns what to do with an image whose last axis has no channels."""
    if shape[-3] in _CHANNELS:
        return "numpy.moveaxis(x, %d, -1) puts the channels last" % (len(shape) - 3)
    if len(shape) == 3 and shape[-1] > 8:
        return "a batch of grey images is x[..., None]"
    return "bloom the planes of others one by one"


class Bloom:
    """A kernel with settings. It keeps plans, spectra and buffers, and blooms images of any sizes.

        b = fftbloom.Bloom("sunstar", padding="mirror", amount=0.5)
        out = b(image)
        out, report = b(image, report=True)
        for out in b.map(frames): ...
        g = b.adjoint(y)

    kernel         a `Kernel`, or what `Kernel` takes
    padding        what is beyond the borders: "mirror", "zero", "clamp" or "wrap", or two of these for x and y
    amount         the share of the light that the kernel spreads: 0 to 1, or "0%" to "100%"
    tolerance      the promised relative error of a pixel
    threshold      only light above this is spread; 0: all of it
    knee           how softly that begins
    kernel_scale   the size of the kernel; 1 is one tap per pixel
    kernel_center  the tap that stays where it is: "middle", "peak", "centroid", "corner", or (x, y)
    normalize      what of the kernel becomes 1: "luminance", "channel", "sum", or "none" for the taps as they are
    correlate      whether the kernel is turned by half a turn
    precision      of the transforms: "auto" is what the tolerance needs, or "float32", "float64"
    nan            what becomes of NaN and infinite pixels: "error", "zero", "interpolate"
    half_overflow  what becomes of results that float16 cannot hold: "clamp", "error"
    alpha          the fourth channel: "keep", "convolve"
    verify         how many pixels to recompute by the definition
    context        a `Context` for a kernel that is made here; None: the common one

    Images are arrays of numpy, or anything else with the buffer protocol, of float16, float32 or float64, as
    (H, W), (H, W, C) or a batch (N, H, W, C). C is 1, 3 (R G B) or 4 (R G B A). They are linear light. Any strides
    work, also below zero. Results have the type and shape of the image; without numpy they are memoryviews. Images
    of float64 are bloomed in float64, and 48 bits of their pixels and of a float64 kernel's taps count, unless there
    is a threshold or `precision` is "float32"; pixels then need to be within the range of float32.

    Calls may be made from several threads at the same time; Python's lock is free while the library works. A
    forked process needs a Bloom of its own.
    """

    def __init__(self, kernel: Any, *, padding: Union[str, Tuple[str, str]] = "mirror", amount: Union[float, str] = 1.0,
                 tolerance: float = 1e-3, threshold: float = 0.0, knee: float = 0.0, kernel_scale: float = 1.0,
                 kernel_center: Union[str, Tuple[float, float]] = "middle", normalize: str = "luminance",
                 correlate: bool = False, precision: str = "auto", nan: str = "error", half_overflow: str = "clamp",
                 alpha: str = "keep", verify: int = 0, context: Optional[Context] = None, **others: Any) -> None:
        for name in others:
            if name in Context.__init__.__kwdefaults__:  # type: ignore[operator]
                raise TypeError("%s belongs to a Context: fftbloom.Bloom(kernel, context=fftbloom.Context(%s=%r))"
                                % (name, name, others[name]))
            raise TypeError("Bloom has no setting %r; help(fftbloom.Bloom) lists them" % name)
        #: The kernel
        self.kernel: Kernel = kernel if isinstance(kernel, Kernel) else Kernel(kernel, context=context)
        s = FbSettings()
        lib.fb_settings_init(byref(s), sizeof(s))
        x, y = (padding, padding) if isinstance(padding, str) else _pair("padding", padding)
        s.padding_x, s.padding_y = _word("padding", x), _word("padding", y)
        if isinstance(kernel_center, str):
            s.kernel_center = _word("kernel_center", kernel_center)
        else:
            s.kernel_center = _CENTER_AT
            s.center_x, s.center_y = (_number("kernel_center", v) for v in _pair("kernel_center", kernel_center))
        s.amount, s.tolerance = _amount(amount), _number("tolerance", tolerance)
        s.threshold, s.knee = _number("threshold", threshold), _number("knee", knee)
        s.kernel_scale, s.correlate = _number("kernel_scale", kernel_scale), bool(correlate)
        s.verify = _count("verify", verify, 2 ** 32 - 1, Code.BAD_SETTING)
        s.normalize, s.precision, s.nan = _word("normalize", normalize), _word("precision", precision), _word("nan", nan)
        s.half_overflow, s.alpha = _word("half_overflow", half_overflow), _word("alpha", alpha)
        self._handle = Handle("session", lib.fb_session_open, self.kernel._handle.get(), byref(s))

    def __call__(self, image: Any, *, out: Any = None, report: bool = False) -> Any:
        """Blooms an image, or a batch of images.

        image   (H, W), (H, W, C) or (N, H, W, C)
        out     an array of the same shape for the result, which may be the image itself; None: a new one
        report  True: returns the result and a `Report`, or a list of them for a batch
        """
        return self._run(lib.fb_bloom, image, out, report)

    def adjoint(self, image: Any, *, out: Any = None, report: bool = False) -> Any:
        """Applies the transpose of what a call does: the sum of b(x) * y is that of x * b.adjoint(y).

        This is the gradient that deconvolution and learning need. A threshold has no transpose. The arguments are
        those of a call.
        """
        return self._run(lib.fb_apply_adjoint, image, out, report)

    def map(self, frames: Iterable[Any], *, report: bool = False, ahead: int = 4) -> Iterator[Any]:
        """Blooms frames one after the other, several at a time, and yields the results in order.

        frames  images or batches: a list, or an iterator, from which the next frame is taken while others are
                bloomed. A frame must not change until its result is there
        report  True: yields results with their reports
        ahead   how many frames are under way at the same time
        """
        if ahead < 1:
            raise Error("ahead is %d, and needs to be 1 or more" % ahead)
        return self._map(frames, report, ahead)

    def _map(self, frames: Iterable[Any], report: bool, ahead: int) -> Iterator[Any]:
        waiting: Deque[concurrent.futures.Future[Any]] = collections.deque()
        with concurrent.futures.ThreadPoolExecutor(ahead, "fftbloom") as pool:
            try:
                for frame in frames:
                    waiting.append(pool.submit(self, frame, report=report))
                    if len(waiting) >= ahead:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()

    def _run(self, function: Any, image: Any, out: Any, report: bool) -> Any:
        source = Pixels(image, "the image")
        dimensions = len(source.shape)
        if not 2 <= dimensions <= 4:
            raise Error("the image has the shape %s, and needs (H, W), (H, W, C), or (N, H, W, C) for a batch"
                        % (source.shape,))
        if dimensions > 2 and source.shape[-1] not in _CHANNELS:
            raise Error("the image has the shape %s, and the last of %s can be 1, 3 or 4: %s"
                        % (source.shape, "(N, H, W, C)" if dimensions == 4 else "(H, W, C)", _cure(source.shape)))
        if out is None:
            out = make(source.shape, source.format)
        to = Pixels(out, "out", writable=True)
        check_shape(to.shape, source.shape, "out")
        if dimensions == 4:
            reports = self._run_batch(function, source, to, report)
            return (out, reports) if report else out
        raw = FbReport(size=sizeof(FbReport)) if report else None
        ins = source.planes()
        given, taken = pack(ins), pack(to.planes())
        one = FbImage(sizeof(FbImage), source.shape[1], source.shape[0], len(ins), ctypes.addressof(given),
                      ctypes.addressof(taken))
        call(function, self._handle.get(), byref(one), raw and byref(raw))
        return (out, _report(raw)) if raw else out

    def _run_batch(self, function: Any, source: Pixels, to: Pixels, report: bool) -> List[Report]:
        n, height, width, channels = source.shape
        reports = (FbReport * n)(*[(sizeof(FbReport),)] * n)
        given = pack([p for i in range(n) for p in source.planes(i)])
        taken = pack([p for i in range(n) for p in to.planes(i)])
        step = sizeof(_call.FbPlane) * channels
        images = (FbImage * n)(*[(sizeof(FbImage), width, height, channels, ctypes.addressof(given) + i * step,
                                  ctypes.addressof(taken) + i * step) for i in range(n)])
        if function is lib.fb_bloom:
            call(lib.fb_bloom_all, self._handle.get(), images, n, reports if report else None)
        else:
            if lies_over(to, source):
                raise Error("out lies over another image of the batch; it may be the batch itself, or an array of its own")
            for i in range(n):
                call(function, self._handle.get(), byref(images[i]), byref(reports[i]))
        return [_report(r) for r in reports] if report else []

    def __repr__(self) -> str:
        return "<fftbloom.Bloom with %r>" % (self.kernel,)
