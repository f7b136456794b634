"""Blooms linear images with a point spread function, with a promised error.

    import fftbloom as fb

    k = fb.Kernel("sunstar")                   # or a file, or an array (h, w) or (h, w, 3)
    k = fb.Kernel.make("aperture", blades=7, fnumber=11, pitch="4um")
    k.check()                                  # what the linter finds
    b = fb.Bloom(k, padding="mirror", amount=0.5)
    out = b(image)                             # (H, W), (H, W, C) or (N, H, W, C); axes= for any other layout
    out, report = b(image, report=True)        # report.kept, report.error_bound, report.energy
    for out in b.map(frames): ...              # several at a time
    g = b.adjoint(y)                           # the gradient by the image, for deconvolution and learning
    g = b.kernel_adjoint(x, y)                 # and by the kernel
    x = b.solve(y)                             # takes glare away
    f = fb.Field(nodes)                        # a kernel that varies over the frame: (gy, gx, h, w)
    out = fb.convolve(image, taps, mode="same")  # as scipy.signal.fftconvolve

The work is done by the C library libfftbloom, on a GPU or on the processor. Images are arrays
with the buffer protocol or DLPack, as those of numpy and torch; numpy itself is not needed. What goes wrong is an
`Error`.
"""
from ._bloom import Bloom, Report
from ._call import Code, Error, WrongType, lib as _lib
from ._convolve import convolve
from ._field import Field
from ._kernel import Context, Kernel

__all__ = ["Bloom", "Code", "Context", "Error", "Field", "Kernel", "Report", "WrongType", "convolve"]
__version__: str = _lib.fb_version().decode()

for _name in __all__:  # so that help and messages say fftbloom.Bloom
    globals()[_name].__module__ = __name__
del _name
