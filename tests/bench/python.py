#!/usr/bin/env python3
"""python.py [PART...]: the Python module beside scipy, torch and OpenCV: CPU time (user and system) of a grey image or a
batch, in milliseconds. Needs LIBFFTBLOOM and PYTHONPATH, as `make bench-python` sets them. Parts: 512, 1080p, 4k (one
frame, one thread), batch (32 frames of 512 and 1080p), threads (all of the machine's), call, solve; without one, all.

"once" convolves a frame with a kernel that is new: fb.convolve, scipy's fftconvolve and oaconvolve, OpenCV's filter2D,
torch's conv2d (the smallest case) and its FFT. "kept" has the kernel ready: Bloom, and real FFTs at the next fast length with
the kernel's spectrum made before, of scipy and torch. Borders are zero, results have the size of the image. The time
of a library is that of its fastest way; the ratio is ours to the fastest of the others. Each number is the median of
three rounds in turn, after one that does not count. cupy needs a GPU, and is not here.

"solve" takes the glare of mist-4 away from a plate of 1080p that was made in float64, on one thread: the time of each
way, and the largest error of a pixel, relative to it or to what is dark.
"""
import os
import statistics
import sys
import time

import numpy as np
import scipy.fft
import scipy.signal

import fftbloom as fb

try:
    import cv2
except ImportError:
    cv2 = None
try:
    import torch
except ImportError:
    torch = None

SIZES = {"512": (512, 512), "1080p": (1080, 1920), "4k": (2160, 3840)}
TAPS, ROUNDS = (33, 65, 129, 257, 513, 1025), 3
rng = np.random.default_rng(1)


def sizes_of(h, w, taps):
    return [scipy.fft.next_fast_len(n + taps - 1, real=True) for n in (h, w)]


def ways(x, kernel, context):
    """Returns the ways to convolve frames: what it is about and the library, and the work."""
    h, w = x.shape[-2:]
    taps = kernel.shape[0]
    size, c = sizes_of(h, w, taps), taps // 2
    stack, axes = kernel.reshape((1,) * (x.ndim - 2) + kernel.shape), (-2, -1)
    b = fb.Bloom(kernel, axes=axes, channel_axis=None, normalize="none", padding="zero", context=context)
    spectrum = scipy.fft.rfft2(kernel, size)

    def cut(y):
        return y[..., c:c + h, c:c + w]

    found = {
        ("once", "fftbloom"): [lambda: fb.convolve(x, stack, "same", axes=axes, context=context)],
        ("once", "scipy"): [lambda: scipy.signal.fftconvolve(x, stack, "same", axes=axes),
                            lambda: scipy.signal.oaconvolve(x, stack, "same", axes=axes)],
        ("kept", "fftbloom"): [lambda: b(x)],
        ("kept", "scipy"): [lambda: cut(scipy.fft.irfft2(scipy.fft.rfft2(x, size) * spectrum, size))]}
    if torch:
        t, k = torch.from_numpy(x), torch.from_numpy(kernel)
        ts = torch.fft.rfft2(k, size)
        weights = k.flip(0, 1)[None, None].contiguous()
        found["once", "torch"] = [lambda: cut(torch.fft.irfft2(torch.fft.rfft2(t, size) * torch.fft.rfft2(k, size), size))]
        if taps <= 33 and x.size <= 512 * 512:  # it takes gigabytes and minutes for more
            found["once", "torch"].append(
                lambda: torch.nn.functional.conv2d(t.reshape(-1, 1, h, w), weights, padding=c))
        found["kept", "torch"] = [lambda: cut(torch.fft.irfft2(torch.fft.rfft2(t, size) * ts, size))]
    if cv2:
        turned = np.ascontiguousarray(kernel[::-1, ::-1])
        found["once", "OpenCV"] = [lambda: [cv2.filter2D(f, -1, turned, borderType=cv2.BORDER_CONSTANT)
                                            for f in x.reshape(-1, h, w)]]
    want = found["kept", "scipy"][0]()
    for key, all_ways in found.items():
        for way in all_ways:
            assert np.abs(np.asarray(way()).reshape(x.shape) - want).max() < 1e-4 * want.max(), key
    return found


def measure(found):
    times = {(key, i): [] for key, all_ways in found.items() for i in range(len(all_ways))}
    for _ in range(ROUNDS):
        for key, i in times:
            start = time.process_time()
            found[key][i]()
            times[key, i].append(time.process_time() - start)
    best = {}
    for (key, _), t in times.items():
        best[key] = min(best.get(key, 1e9), 1e3 * statistics.median(t))
    return best


def row(name, shape, taps, kind, threads):
    x, kernel = rng.random(shape).astype(kind), rng.random((taps, taps)) ** 8
    kernel = (kernel / kernel.sum()).astype(kind)
    context = fb.Context(device="cpu", threads=threads)
    if torch:
        torch.set_num_threads(threads)
    if cv2:
        cv2.setNumThreads(threads)
    with scipy.fft.set_workers(threads):
        best = measure(ways(x, kernel, context))
    cells = []
    for what in "once", "kept":
        ours = best[what, "fftbloom"]
        others = {who: t for (w, who), t in best.items() if w == what and who != "fftbloom"}
        cells.append("%.3g (%.2f) | %s" % (ours, ours / min(others.values()),
                                           ", ".join("%s %.3g" % (who, t) for who, t in others.items())))
    print("| %s | %d | %s | %s |" % (name, taps, kind, " | ".join(cells)), flush=True)


def calls():
    """What a call costs beside the library's work."""
    x = rng.random((64, 64, 3)).astype("f4")
    small = fb.Bloom(rng.random((64, 64)).astype("f4"), padding="zero", context=fb.Context(device="cpu", threads=1))
    found = []
    for _ in range(2000):
        start = time.perf_counter()
        _, report = small(x, report=True)
        found.append((time.perf_counter() - start - report.seconds, report.seconds))
    print("a call at 64 x 64: %.0f us beside %.0f us of work (medians of 2000)"
          % tuple(1e6 * statistics.median(v) for v in zip(*found)))


def solve_ways(plate, kernel, middle, core):
    """Returns the ways to take glare away from a plate: the name, and the work."""
    h, w = plate.shape[:2]
    (y, x), n = middle, kernel.shape[0]
    around = np.hypot(*np.ogrid[-y:n - y, -x:n - x])[..., None] <= core
    tail, own = kernel * ~around, (kernel * around).sum((0, 1))
    edges = ((n - 1 - y, y), (n - 1 - x, x), (0, 0))

    def series(kind):
        y, t, c = plate.astype(kind), tail.astype(kind), own.astype(kind)
        image = y
        for _ in range(STEPS):
            glare = scipy.signal.fftconvolve(np.pad(image, edges, "symmetric"), t, "valid", axes=(0, 1))
            image, was = (y - glare) / c, image
            if (np.abs(image - was) / np.maximum(np.abs(was), DARK)).max() < 1e-4:
                break
        return image

    def division(plate, epsilon):
        h, w = plate.shape[:2]
        whole = np.zeros(plate.shape)
        top, left = (max(n - s, 0) // 2 for s in (h, w))
        cut = tail[top:top + h, left:left + w]
        whole[:cut.shape[0], :cut.shape[1]] = cut
        whole[y - top, x - left] += own
        f = np.fft.rfft2(np.roll(whole, (top - y, left - x), (0, 1)), axes=(0, 1))
        z = np.fft.rfft2(plate, axes=(0, 1)) * np.conj(f) / (np.abs(f) ** 2 + epsilon)
        return np.fft.irfft2(z, (h, w), (0, 1))

    return {"the series by scipy's fftconvolve, float64": lambda: series("f8"),
            "the same in float32": lambda: series("f4"),
            "spectrum division by numpy, epsilon 1e-3": lambda: division(plate, 1e-3),
            "the same without epsilon, the plate mirrored before":
                lambda: division(np.pad(plate, ((0, h), (0, w), (0, 0)), "symmetric"), 0)[:h, :w]}


DARK, STEPS = 1e-4 * 0.18, 12  # a person would stop where a step changes nothing, and floats never do


def solve():
    context = fb.Context(device="cpu", threads=1)
    scene = 0.02 + rng.gamma(1, 0.16, (1080, 1920, 3))
    for y, x in zip(rng.integers(0, 1080, 30), rng.integers(0, 1920, 30)):
        scene[y:y + 3, x:x + 3] = rng.uniform(50, 5000, 3)
    k = fb.Kernel("mist-4", context=context)
    b = fb.Bloom(k, core="auto", context=context)
    plate = b(scene)
    taps = k.taps().astype("f8")
    taps /= (taps.sum((0, 1)) * (0.2126, 0.7152, 0.0722)).sum()
    ways = {"fftbloom, float32": lambda: b.solve(plate.astype("f4")), "fftbloom, float64": lambda: b.solve(plate)}
    ways.update(solve_ways(plate, taps, (512, 512), 2))
    times, error = {name: [] for name in ways}, {}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            start = time.process_time()
            x = way()
            times[name].append(time.process_time() - start)
            error[name] = (np.abs(x - scene) / np.maximum(scene, DARK)).max()
    print("| way | CPU time, s | largest error |\n|---|---|---|")
    for name, t in times.items():
        print("| %s | %.2f | %.2g |" % (name, statistics.median(t), error[name]), flush=True)


def main(parts):
    print("numpy %s, scipy %s, %s, %s, fftbloom %s" % (
        np.__version__, scipy.__version__, "torch " + torch.__version__ if torch else "no torch",
        "OpenCV " + cv2.__version__ if cv2 else "no OpenCV", fb.__version__))
    print("| frame | taps | type | once | others | kept | others |\n|---|---|---|---|---|---|---|")
    for name, (h, w) in SIZES.items():
        for taps in TAPS if name in parts else ():
            for kind in "f4", "f8":
                row(name, (h, w), taps, kind, 1)
    for what, threads in ("batch", 1), ("threads", os.cpu_count()):
        for name in ("512", "1080p") if what in parts else ():
            for taps in 65, 257:
                for kind in "f4", "f8":
                    row("32 of %s, %d threads" % (name, threads), (32, *SIZES[name]), taps, kind, threads)
    if "call" in parts:
        calls()
    if "solve" in parts:
        solve()


if __name__ == "__main__":
    main(sys.argv[1:] or [*SIZES, "batch", "threads", "call", "solve"])
