#!/usr/bin/env python3
"""The same convolution by cuFFT, through PyTorch: one line per case.

    cufft.py ROUNDS QUEUE WIDTHxHEIGHT/KERNEL ...

Three channels of float32, the kernel's spectrum ready, lengths the smallest 2-3-5-7-smooth ones of
N + K / 2 and more. A frame is recorded as a CUDA graph and replayed QUEUE times between two events.
Prints case, lengths, then seconds per frame: median, least, quartiles. Exits with 3 where there is
no PyTorch or no CUDA.
"""
import sys

try:
    import torch
except ImportError:
    sys.exit(3)
if not torch.cuda.is_available():
    sys.exit(3)

CHANNELS = 3


def smooth_from(n):
    """The smallest n or more that 2, 3, 5 and 7 make."""
    while True:
        rest = n
        for p in (2, 3, 5, 7):
            while rest % p == 0:
                rest //= p
        if rest == 1:
            return n
        n += 1


def frame_of(width, height, kernel, nx, ny):
    """A function that convolves one frame, after a look at one pixel of the result."""
    image = torch.rand(CHANNELS, height, width, device="cuda")
    taps = torch.rand(CHANNELS, kernel, kernel, device="cuda")
    taps /= taps.sum(dim=(1, 2), keepdim=True)
    half = kernel // 2
    padded = torch.zeros(CHANNELS, ny, nx, device="cuda")
    padded[:, :kernel, :kernel] = taps
    spectrum = torch.fft.rfft2(torch.roll(padded, (-half, -half), (1, 2)))
    result = torch.empty_like(image)

    def frame():
        f = torch.fft.rfft2(image, s=(ny, nx))
        f *= spectrum
        result.copy_(torch.fft.irfft2(f, s=(ny, nx))[:, :height, :width])

    frame()
    y, x = height // 2, width // 2
    want = 0.0
    for j in range(kernel):
        sy = y - (j - half)
        if not 0 <= sy < height:
            continue
        xs = torch.arange(kernel, device="cuda")
        sx = x - (xs - half)
        ok = (sx >= 0) & (sx < width)
        want += float((taps[0, j, xs[ok]].double() * image[0, sy, sx[ok]].double()).sum())
    if not abs(float(result[0, y, x]) - want) <= 1e-4 * abs(want):
        sys.exit(f"cuFFT's pixel {x},{y} is {float(result[0, y, x])}, not {want}")
    return frame


def times_of(frame, rounds, queue):
    """Seconds per frame of each round."""
    for _ in range(3):
        frame()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        frame()
    result = []
    for _ in range(rounds + 1):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(queue):
            graph.replay()
        end.record()
        end.synchronize()
        result.append(start.elapsed_time(end) * 1e-3 / queue)
    return sorted(result[1:])


def main():
    rounds, queue = int(sys.argv[1]), int(sys.argv[2])
    for case in sys.argv[3:]:
        size, kernel = case.split("/")
        width, height = (int(n) for n in size.split("x"))
        nx, ny = (smooth_from(n + int(kernel) // 2) for n in (width, height))
        t = times_of(frame_of(width, height, int(kernel), nx, ny), rounds, queue)
        print(case, nx, ny, *(f"{t[min(len(t) - 1, int(q * len(t)))]:.9f}" for q in (0.5, 0, 0.25, 0.75)),
              flush=True)


main()
