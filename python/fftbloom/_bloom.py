"""Bloom and Report: what people use."""
from __future__ import annotations

import collections
import concurrent.futures
import ctypes
import dataclasses
import math
from ctypes import byref, sizeof
from typing import Any, Deque, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

from ._call import Code, Error, FbImage, FbReport, FbSettings, Handle, call, lib
from ._kernel import Context, Kernel, kernels, scaled, unscale, whole
from ._pixels import Layout, Pixels, check_shape, given_back, lies_over, make, pack


@dataclasses.dataclass(frozen=True)
class Report:
    """What became of one image."""
    kept: bool  #: whether the promise is kept: no pixel is off by more than the tolerance
    error_bound: float  #: no pixel of the channel nearest to breaking the promise is farther off than this,
    allowed: float  #: and the tolerance allows this much there
    energy_in: float  #: the sum of all pixels that are spread, of all channels,
    energy_out: float  #: and of the result
    bad_pixels: int  #: NaN and infinite ones
    clamped: int  #: results that the type of `out` could not hold
    seconds: float  #: of the call
    attempts: int  #: transforms until the promise was kept
    precision: str  #: "float32" or "float64": of the last of them,
    device: str  #: and where it ran
    note: str  #: what else you should know; "": nothing
    steps: int = 0  #: of `solve`, whose error_bound and allowed are those of one pixel:
    worst: Tuple[int, int, int] = (0, 0, 0)  #: row, column and channel of that nearest to breaking the promise

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
    "emit": ("none", "glare", "additive", "source"),
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
    percent = setting == "amount" and isinstance(value, str) and value.strip().endswith("%")
    try:
        return float(value.strip()[:-1]) / 100 if percent else float(value)
    except (TypeError, ValueError):
        raise Error("%s is %r, and needs to be a number" % (setting, value), Code.BAD_SETTING, setting) from None


def _report(parts: Sequence[FbReport]) -> Report:
    """Returns the report of an image, whose channels may have been spread one by one."""
    worst = max(parts, key=lambda r: (not r.kept, r.error / r.allowed if r.allowed else r.error))
    return Report(all(r.kept for r in parts), (worst.error if worst.steps else max(r.error for r in parts)), worst.allowed,
                  sum(r.energy_in for r in parts), sum(r.energy_out for r in parts),
                  sum(r.bad_pixels for r in parts), sum(r.clamped for r in parts), sum(r.seconds for r in parts),
                  max(r.attempts for r in parts), _WORDS["precision"][max(r.precision for r in parts)],
                  worst.device.decode("utf-8", "replace"), worst.note.decode("utf-8", "replace"),
                  max(r.steps for r in parts), (worst.worst[1], worst.worst[0], worst.worst[2] or parts.index(worst)))


class Bloom:
    """A kernel with settings. It keeps plans, spectra and buffers, and blooms images of any sizes.

    kernel         a `Kernel`, or what `Kernel` takes; a list of these is one for each image of a batch, and so is an
                   array with `axes` that has an axis more than these and `channel_axis`
    axes           the axes of images that are rows and columns, such as (-2, -1)
    channel_axis   the axis of channels, such as -3 or -1; None: there is none. "auto" takes the last one where it
                   has 1, 3 or 4 entries and `axes` is not given. All other axes are a batch
    padding        what is beyond the borders: "mirror", "zero", "clamp" or "wrap", or two of these for x and y
    amount         the share of the light that the kernel spreads: 0 to 1, or "0%" to "100%"; or a list or an array
                   of these, for each image of a batch
    tint           what the glare of R, G and B is multiplied with, such as (1, 0.5, 0); that of other channels is
                   multiplied with the tint's luminance
    core           the light of the kernel within this many taps stays in its pixel; "auto": as far as the kernel's
                   tail does not go
    tolerance      the promised relative error of a pixel
    threshold      only light above this is spread; 0: all of it
    knee           how softly that begins
    kernel_scale   the size of the kernel; 1 is one tap per pixel
    kernel_turn    by how many degrees the kernel is turned, clockwise
    kernel_center  the tap that stays where it is: "middle", "peak", "centroid", "corner", or (x, y)
    normalize      what of the kernel becomes 1: "luminance", "channel", "sum", or "none" for the taps as they are.
                   Luminance is for R G B; of other numbers of channels it is the mean, as "sum" is
    correlate      whether the kernel is turned by half a turn
    precision      of the transforms: "auto" is what the tolerance needs, or "float32", "float64"
    nan            what becomes of NaN and infinite pixels: "error", "zero", "interpolate"
    half_overflow  what becomes of results that float16 cannot hold: "clamp", "error"
    alpha          the fourth channel: "keep", "convolve"
    emit           what a call returns in place of the image: "glare" (all light that left its pixel), "additive"
                   (the result minus the image) or "source" (what mask and threshold let spread)
    verify         how many pixels to recompute by the definition
    context        a `Context` for a kernel that is made here; None: the common one

    Images are arrays with the buffer protocol, as numpy's, or with DLPack, as tensors of torch, in the memory of the
    host, of float16, float32 or float64 and in linear light. Any strides work. Three channels are R G B, four R G B
    A; those of any other number are spread one by one. Results have the type and shape of the image; without numpy
    they are memoryviews. Images of float64 are bloomed in float64, and 48 bits of their pixels and of a float64
    kernel's taps count, unless `precision` is "float32". Where there is a mask or a threshold they are rounded to
    float32, which the report counts, unless the tolerance is below 1e-5 or `precision` is "float64"; pixels then need
    to be within the range of float32, as under any threshold. A mask counts as float32.

    Calls may be made from several threads at the same time, and in a process that was forked.
    """

    def __init__(self, kernel: Any, *, axes: Optional[Sequence[int]] = None,
                 channel_axis: Union[int, str, None] = "auto", padding: Union[str, Tuple[str, str]] = "mirror",
                 amount: Any = 1.0, tint: Optional[Sequence[float]] = None, core: Union[str, float] = 0.0,
                 tolerance: float = 1e-3, threshold: float = 0.0, knee: float = 0.0,
                 kernel_scale: float = 1.0, kernel_turn: float = 0.0,
                 kernel_center: Union[str, Tuple[float, float]] = "middle",
                 normalize: str = "luminance", correlate: bool = False, precision: str = "auto", nan: str = "error",
                 half_overflow: str = "clamp", alpha: str = "keep", emit: str = "none", verify: int = 0,
                 context: Optional[Context] = None, **others: Any) -> None:
        for name in others:
            if name in Context.__init__.__kwdefaults__:
                raise TypeError("%s belongs to a Context: fftbloom.Bloom(kernel, context=fftbloom.Context(%s=%r))"
                                % (name, name, others[name]))
            raise TypeError("Bloom has no setting %r; help(fftbloom.Bloom) lists them" % name)
        s = FbSettings()
        lib.fb_settings_init(byref(s), sizeof(s))
        x, y = (padding, padding) if isinstance(padding, str) else _pair("padding", padding)
        s.padding_x, s.padding_y = _word("padding", x), _word("padding", y)
        if isinstance(kernel_center, str):
            s.kernel_center = _word("kernel_center", kernel_center)
        else:
            s.kernel_center = _CENTER_AT
            s.center_x, s.center_y = (_number("kernel_center", v) for v in _pair("kernel_center", kernel_center))
        for name, number in (("tolerance", tolerance), ("threshold", threshold), ("knee", knee), ("kernel_turn", kernel_turn),
                             ("kernel_scale", kernel_scale), ("core", math.nan if core == "auto" else core)):
            setattr(s, name, _number(name, number))
        for name, word in (("normalize", normalize), ("precision", precision), ("nan", nan), ("alpha", alpha),
                           ("half_overflow", half_overflow), ("emit", emit)):
            setattr(s, name, _word(name, word))
        if tint is not None:
            if len(tint) != 3 or not any(v != 0 for v in tint):
                raise Error("tint is %r; it has three numbers, for R, G and B, and not all are 0" % (tint,),
                            Code.BAD_SETTING, "tint")
            s.tint[:] = [_number("tint", v) for v in tint]
        s.correlate, s.verify = bool(correlate), whole("verify", verify, 2 ** 32 - 1, Code.BAD_SETTING)
        self._axes, self._channel_axis, self._settings = axes, channel_axis, s
        self._last: Optional[Tuple[Tuple[int, int], FbReport]] = None  # the size of an image, and its report
        #: The kernels: one, or one for each image of a batch
        self.kernels: List[Kernel] = kernels(kernel, axes, channel_axis, context)
        self.kernel: Kernel = self.kernels[0]
        several = not isinstance(amount, (int, float, str)) and hasattr(amount, "__len__")
        amounts = [_number("amount", a) for a in (amount if several else [amount])]
        self._count = max(len(self.kernels), len(amounts))
        if min(len(self.kernels), len(amounts)) not in (1, self._count):
            raise Error("there are %d kernels and %d amounts" % (len(self.kernels), len(amounts)), Code.BAD_SETTING,
                        "amount")
        self._several = several or isinstance(kernel, (list, tuple)) or len(self.kernels) > 1
        self._scaled = len(self.kernel._handles) > 1 and normalize in ("luminance", "sum")
        #: Of each kernel: its session, or that of each channel
        self._sessions: List[List[Handle]] = []
        for i in range(self._count):
            s.amount = amounts[i % len(amounts)]
            self._sessions.append(self._open(self.kernels[i % len(self.kernels)], s))

    def _open(self, kernel: Kernel, s: FbSettings) -> List[Handle]:
        handles = kernel._handles
        if self._scaled:
            handles, s.normalize = scaled(kernel)._handles, _word("normalize", "none")
        return [Handle("session", lib.fb_session_open, h, FbSettings.from_buffer_copy(s)) for h in handles]

    def __call__(self, image: Any, *, out: Any = None, mask: Any = None, beside: bool = False,
                 report: bool = False) -> Any:
        """Blooms an image, or a batch of images.

        image   an array of the layout that `axes` and `channel_axis` describe
        out     an array of the same shape for the result, which may be the image itself; None: a new one
        mask    how much of each pixel's light is spread, 0 to 1: (H, W), or one for each image of the batch
        beside  True: returns the bloomed image, and beside it what `emit` says
        report  True: returns a `Report`, too, or a list of them for a batch
        """
        return self._run(lib.fb_bloom, image, out, mask, beside, report)

    def adjoint(self, image: Any, *, out: Any = None, mask: Any = None, report: bool = False) -> Any:
        """Applies the transpose of what a call does: the sum of b(x) * y is that of x * b.adjoint(y).

        This is the gradient by the image, which deconvolution and learning need. A threshold has no transpose. The
        arguments are those of a call.
        """
        return self._run(lib.fb_apply_adjoint, image, out, mask, False, report)

    def solve(self, image: Any, *, out: Any = None, mask: Any = None, report: bool = False) -> Any:
        """Takes the glare of a lens away: returns x with b(x) = image, as `fftbloom deglare` does.

        `core` says how far the lens is sharp: Bloom(lens, core="auto"). A kernel that spreads more than it keeps is
        refused. Arrays of float64 are solved in float64. The arguments are those of a call; where a mask is 0 the
        result is the image.
        """
        return self._run(lib.fb_solve, image, out, mask, False, report)

    def solve_adjoint(self, image: Any, *, out: Any = None, mask: Any = None, report: bool = False) -> Any:
        """Applies the transpose of `solve`, in float64: the sum of b.solve(x) * y is that of x * b.solve_adjoint(y)."""
        return self._run(lib.fb_solve_adjoint, image, out, mask, False, report)

    def kernel_adjoint(self, x: Any, y: Any, *, mask: Any = None, report: bool = False) -> Any:
        """Returns the gradient of the sum of b(x) * y by the kernel's taps, added up over a batch.

        Normalisation and amount are part of it. It has the shape of the kernel, (h, w) or (h, w, C), and its type;
        where there is a kernel for each image of the batch, (N, h, w) or (N, h, w, C). No number of it is off by
        more than the report's error_bound, and the tolerance allows a part of the largest one.
        """
        source, back = Pixels(x, "x"), Pixels(y, "y")
        check_shape(back.shape, source.shape, "y")
        images = self._images(source, back, None, mask)
        several, k = int(self._several), self.kernel
        made = make((self._count,) * several + k.shape, k._format, source.namespace)
        coloured = several + 2 if len(k.shape) > 2 else None
        to = Pixels(made, "the gradient", True).images(Layout(several, several + 1, coloured, (0,) * several))
        reports = []
        for planes, sessions in zip(to, self._sessions):
            for c, session in enumerate(sessions):
                own = [image for image in images if image.handle is session]
                raw = FbReport(size=sizeof(FbReport))
                call(lib.fb_kernel_adjoint, session.get(), (FbImage * len(own))(*own), len(own),
                     pack(planes if len(sessions) == 1 else planes[c:c + 1]), byref(raw))
                reports.append(raw)
        if self._scaled:
            for i in range(self._count):
                unscale(made[i] if several else made, self.kernels[i % len(self.kernels)])
        result = given_back(made, source.namespace)
        return (result, _report(reports)) if report else result

    def map(self, frames: Iterable[Any], *, report: bool = False, ahead: int = 4, solve: bool = False) -> Iterator[Any]:
        """Blooms frames one after the other, several at a time, and yields the results in order.

        frames  images or batches: a list, or an iterator, from which the next frame is taken while others are
                bloomed. A frame must not change until its result is there
        report  True: yields results with their reports
        ahead   how many frames are under way at the same time
        solve   True: takes glare away, as `solve` does
        """
        if ahead < 1:
            raise Error("ahead is %d, and needs to be 1 or more" % ahead)
        return self._map(self.solve if solve else self, frames, report, ahead)

    def _map(self, way: Any, frames: Iterable[Any], report: bool, ahead: int) -> Iterator[Any]:
        waiting: Deque[concurrent.futures.Future[Any]] = collections.deque()
        with concurrent.futures.ThreadPoolExecutor(ahead, "fftbloom") as pool:
            try:
                for frame in frames:
                    waiting.append(pool.submit(way, frame, report=report))
                    if len(waiting) >= ahead:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()

    def _images(self, source: Pixels, to: Pixels, emit: Optional[Pixels], mask: Any) -> List[FbImage]:
        """Lists the images of the library that an array is: those of the batch, and of each the channels where
        these are spread one by one."""
        layout = Layout.of(source.shape, self._axes, self._channel_axis, "the image")
        height, width = source.shape[layout.y], source.shape[layout.x]
        each, outs = source.images(layout), to.images(layout)
        emits = emit.images(layout) if emit else None
        if self._several and len(each) != self._count:
            raise Error("the image has the shape %s, a batch of %d, and there are %d kernels or amounts"
                        % (source.shape, len(each), self._count))
        channels = self.kernel.shape[2] if len(self.kernel.shape) > 2 else 1
        count = source.shape[layout.channel] if layout.channel is not None else 1
        if channels > 1 and count != channels and not (channels == 3 and (count == 4 or len(source.shape) == 2)):
            raise Error("the kernel has %d channels, and the image of the shape %s has %s: channel_axis= names their axis"
                        % (channels, source.shape, count if layout.channel is not None else "no axis of these"))
        masks: List[Tuple[Any, Optional[Pixels]]] = [(None, None)]
        if mask is not None:
            m = Pixels(mask, "the mask")
            n, batch = len(m.shape), tuple(source.shape[a] for a in layout.batch)
            check_shape(m.shape, (height, width) if n == 2 else batch + (height, width), "the mask")
            masks = [(pack(p), m) for p in m.images(Layout(n - 2, n - 1, None, tuple(range(n - 2))))]
        images: List[FbImage] = []
        for i, planes in enumerate(each):
            sessions = self._sessions[i % self._count]
            single = len(sessions) > 1 or len(planes) not in (1, 3, 4)
            step = 1 if single else len(planes)
            for c in range(0, len(planes), step):
                kept = [pack(p[i][c:c + step]) if p else None for p in (each, outs, emits)] + [masks[i % len(masks)][0]]
                given, taken, emitted, masked = (None if p is None else ctypes.addressof(p) for p in kept)
                handle = sessions[c % len(sessions)]
                images.append(FbImage(sizeof(FbImage), width, height, step, given, taken, None, None, masked, emitted,
                                      handle.get()))
                images[-1].kept, images[-1].handle, images[-1].number = (kept, masks), handle, i
        return images

    def _run(self, function: Any, image: Any, out: Any, mask: Any, beside: bool, report: bool) -> Any:
        source = Pixels(image, "the image")
        space = source.namespace if out is None else None
        emits = self._settings.emit > 0 and function is lib.fb_bloom
        if beside and not emits:
            raise Error("beside=True needs a Bloom with emit='glare', 'additive' or 'source'", Code.BAD_SETTING, "emit")
        if out is None:
            out = make(source.shape, source.format, space)
        other = make(source.shape, source.format, space, True) if emits else None
        to = Pixels(out, "out", writable=True)
        check_shape(to.shape, source.shape, "out")
        more = Pixels(other, "emit", writable=True) if emits else None
        images = self._images(source, *((more, to) if more and not beside else (to, more)), mask)
        reports = (FbReport * len(images))(*[FbReport(size=sizeof(FbReport)) for _ in images])
        every = lib.fb_bloom_all if function is lib.fb_bloom else lib.fb_solve_all if function is lib.fb_solve else None
        if every and len(images) > 1:
            call(every, images[0].handle.get(), (FbImage * len(images))(*images), len(images), reports)
        elif len(images) > 1 and lies_over(to, source):
            raise Error("out lies over another image of the batch; it may be the batch itself, or an array of its own")
        else:
            for one, raw in zip(images, reports):
                call(function, one.handle.get(), byref(one), byref(raw))
        if images:
            self._last = (images[-1].width, images[-1].height), reports[-1]
        results = [given_back(out, space)] + ([given_back(other, space)] if beside else [])
        if report:
            batch = Layout.of(source.shape, self._axes, self._channel_axis, "the image").batch
            each = len(images) // (images[-1].number + 1) if images else 1
            told = [_report(reports[i:i + each]) for i in range(0, len(images), each)]
            results.append(told if batch else told[0])
        return tuple(results) if results[1:] else results[0]

    def __repr__(self) -> str:
        of = "%d kernels, the first is " % len(self.kernels) if len(self.kernels) > 1 else ""
        plan = "no plan before the first image"
        if self._last:
            (w, h), r = self._last
            plan = "%d x %d pixels by transforms of %d x %d in %s, %d tile%s, on %s; %.1f MB are in use" % (
                w, h, *r.lengths, _WORDS["precision"][r.precision], r.tiles, "s" * (r.tiles != 1),
                r.device.decode("utf-8", "replace"), self.kernel._context.used / 1e6)
        return "<fftbloom.Bloom of %s%r: %s>" % (of, self.kernel, plan)
