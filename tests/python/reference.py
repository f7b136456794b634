"""What the tests of the Python module share: the convolution by its definition, in doubles."""
import numpy as np

import fftbloom as fb

BORDER = {"mirror": "symmetric", "zero": "constant", "clamp": "edge", "wrap": "wrap"}
# One context for all tests: a GPU has a start of its own, and the tests are about Python.
CPU = fb.Context(device="cpu")


def spread(image, kernel, padding=("zero", "zero")):
    """Convolves (H, W, C) with (h, w) or (h, w, C), centre at floor(n / 2); a sum over the taps."""
    image, kernel = np.asarray(image, "f8"), np.asarray(kernel, "f8")
    h, w = kernel.shape[:2]
    x = np.pad(image, ((h, h), (0, 0), (0, 0)), BORDER[padding[1]])
    x = np.pad(x, ((0, 0), (w, w), (0, 0)), BORDER[padding[0]])
    out = np.zeros_like(image)
    for j in range(h):
        for i in range(w):
            top, left = h - j + h // 2, w - i + w // 2
            out += kernel[j, i] * x[top:top + image.shape[0], left:left + image.shape[1]]
    return out


def scene(shape, kind="f4", seed=1):
    """A dark picture with some lights."""
    rng = np.random.default_rng(seed)
    x = rng.random(shape) + 0.1
    x.reshape(-1)[rng.integers(0, x.size, 5)] = 300
    return x.astype(kind)


def kernel(shape, seed=2):
    """Taps that are not symmetric, with the sum 1 in each channel."""
    k = np.random.default_rng(seed).random(shape) ** 4 + 0.001
    return (k / k.sum(axis=(0, 1))).astype("f4")
