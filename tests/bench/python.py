#!/usr/bin/env python3
"""python.py [ROUNDS]: the Python module beside scipy, on two threads, in turn: CPU and wall time of a set of images, and
what a call costs beside its work. Needs LIBFFTBLOOM and PYTHONPATH, as `make bench-python` sets them.

Images are R G B in float32 with some lights, the kernel has 256 x 256 taps in three channels, borders are zero.
"fftconvolve" is scipy.signal.fftconvolve; "spectrum kept" is what a careful user writes with scipy.fft: real
transforms at the next fast length, and the kernel's spectrum made once.
"""
import statistics
import sys
import time

import numpy as np
import scipy.fft
import scipy.signal

import fftbloom as fb

TAPS, THREADS = 256, 2
rng = np.random.default_rng(1)
kernel = rng.random((TAPS, TAPS, 3)) ** 8
kernel = (kernel / kernel.sum(axis=(0, 1))).astype("f4")
context = fb.Context(device="cpu", threads=THREADS)
bloom = fb.Bloom(kernel, padding="zero", normalize="none", context=context)


def scene(height, width):
    x = rng.random((height, width, 3)).astype("f4")
    x[rng.integers(0, height, 40), rng.integers(0, width, 40)] = 500
    return x


def by_fftconvolve(images):
    # "same" starts at (n - 1) // 2 and we at n // 2; the work is the same.
    return [scipy.signal.fftconvolve(x, kernel, "same", axes=(0, 1)) for x in images]


def keeps_spectrum(height, width):
    size = [scipy.fft.next_fast_len(n + TAPS - 1, real=True) for n in (height, width)]
    spectrum = scipy.fft.rfft2(kernel, size, axes=(0, 1))
    h = TAPS // 2

    def work(images):
        return [scipy.fft.irfft2(scipy.fft.rfft2(x, size, axes=(0, 1)) * spectrum, size,
                                 axes=(0, 1))[h:h + height, h:h + width] for x in images]

    return work


def measure(ways, images, rounds):
    times = {name: [] for name in ways}
    for _ in range(rounds + 1):
        for name, work in ways.items():
            cpu, wall = time.process_time(), time.perf_counter()
            work(images)
            times[name].append((time.process_time() - cpu, time.perf_counter() - wall))
    return {name: [statistics.median(v) for v in zip(*t[1:])] for name, t in times.items()}


def main(rounds):
    print("numpy %s, scipy %s, fftbloom %s" % (np.__version__, scipy.__version__, fb.__version__))
    for count, height, width in (100, 512, 512), (20, 1080, 1920):
        images = [scene(height, width) for _ in range(count)]
        kept = keeps_spectrum(height, width)
        ways = {"fftconvolve": by_fftconvolve, "spectrum kept": kept, "a call each": lambda xs: [bloom(x) for x in xs],
                "map": lambda xs: list(bloom.map(xs))}
        off = np.abs(bloom(images[0]) - kept(images[:1])[0]).max()
        with scipy.fft.set_workers(THREADS):
            found = measure(ways, images, rounds)
        best = min(found["fftconvolve"][0], found["spectrum kept"][0])
        print("%d images of %d x %d, largest difference to scipy %.2g" % (count, width, height, off))
        for name, (cpu, wall) in found.items():
            print("  %-14s %7.2f s CPU (%.2f of scipy's better one) %7.2f s wall" % (name, cpu, cpu / best, wall))
    x = scene(64, 64)
    small = fb.Bloom(kernel[96:160, 96:160], padding="zero", context=context)
    small(x)
    calls = []
    for _ in range(2000):
        start = time.perf_counter()
        _, report = small(x, report=True)
        calls.append((time.perf_counter() - start - report.seconds, report.seconds))
    print("a call at 64 x 64: %.0f us beside %.0f us of work (medians of 2000)"
          % tuple(1e6 * statistics.median(v) for v in zip(*calls)))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
