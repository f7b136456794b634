#!/usr/bin/env python3
"""The transforms of `fftlab fft` by cuFFT, through PyTorch: n x n complex numbers, forward
and inverse, each recorded as a CUDA graph and replayed between two events.

    fft_cufft.py ROUNDS N ...

Prints a line for each n: n, then seconds forward and inverse, the largest error and the root of the
mean squared error against the same transform in double. Exits with 3 where there is no PyTorch or
no CUDA.
"""
import sys

try:
    import torch
except ImportError:
    sys.exit(3)
if not torch.cuda.is_available():
    sys.exit(3)

REPEATS = 50


def graph_of(transform):
    for _ in range(3):
        transform()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(REPEATS):
            transform()
    return graph


def median_of(graph, rounds):
    times = []
    for _ in range(rounds + 5):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1e-3 / REPEATS)
    return sorted(times[5:])[rounds // 2]


for n in (int(a) for a in sys.argv[2:]):
    image = torch.rand(n, n, dtype=torch.complex64, device="cuda") - (0.5 + 0.5j)
    out = torch.empty_like(image)
    spectrum = torch.fft.fft2(image.to(torch.complex128))
    worst, rms, seconds = 0.0, 0.0, []
    for f, source, want in (
        (torch.fft.fft2, image, spectrum),
        (torch.fft.ifft2, spectrum.to(torch.complex64), image.to(torch.complex128)),
    ):
        error = (f(source).to(torch.complex128) - want).abs()
        size = want.abs().square().mean().sqrt()
        worst = max(worst, float(error.max() / size))
        rms = max(rms, float(error.square().mean().sqrt() / size))
        seconds.append(median_of(graph_of(lambda: f(source, out=out)), int(sys.argv[1])))
    print(n, *(f"{s:.9f}" for s in seconds), f"{worst:.2g} {rms:.2g}", flush=True)
