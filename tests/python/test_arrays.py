"""Arrays of all kinds: layouts, memory that is not numpy's, what is refused, and a Python without numpy."""
import array
import ctypes
import os
import subprocess
import sys
import unittest

import fftbloom as fb
import numpy as np
from reference import CPU, kernel, scene

B = fb.Bloom(kernel((5, 4)), context=CPU)
X = scene((20, 33, 3))
WANT = B(X)


class Layouts(unittest.TestCase):
    def test_images_in_any_layout_give_the_same(self):
        wide = np.zeros((40, 99, 5), "f4")
        wide[::2, ::3, 1:4] = X
        planar = np.ascontiguousarray(np.moveaxis(X, 2, 0))
        odd = np.zeros(X.nbytes + 1, "u1")[1:].view("f4").reshape(X.shape)  # at an odd address
        odd[:] = X
        frozen = X.copy()
        frozen.flags.writeable = False
        for name, x in (("slices", wide[::2, ::3, 1:4]), ("planes", np.moveaxis(planar, 0, 2)), ("odd", odd),
                        ("columns", np.asfortranarray(X)), ("frozen", frozen), ("view", memoryview(X)),
                        ("below zero", X[::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1])):
            with self.subTest(layout=name):
                self.assertTrue(np.array_equal(B(x), WANT))
                out = np.zeros_like(x) if name in ("planes", "columns") else x.copy() if name == "odd" else None
                if out is not None:
                    self.assertIs(B(x, out=out), out)
                    self.assertTrue(np.array_equal(out, WANT))
        one = np.ones((1, 1, 3), "f4")
        self.assertTrue(np.array_equal(B(np.broadcast_to(one, (20, 33, 3))), B(np.ones((20, 33, 3), "f4"))))

    def test_big_endian_images_as_of_fits_are_taken(self):
        for kind in ">f2", ">f4", ">f8":
            y = B(X.astype(kind))
            self.assertEqual(y.dtype, np.dtype(kind).newbyteorder("="))
            self.assertTrue(np.array_equal(y, B(X.astype(y.dtype))))
        taps = kernel((5, 4))
        self.assertTrue(np.array_equal(fb.Bloom(taps.astype(">f4"), context=CPU)(X), WANT))

    def test_out_of_any_layout_and_in_place(self):
        wide = np.full((40, 99, 5), 7, "f4")
        with self.assertRaisesRegex(fb.Error, "lies over"):
            B(wide[:20, :33, :3], out=wide[1:21, :33, :3])
        B(X, out=wide[::2, ::-3, 1:4])
        self.assertTrue(np.array_equal(wide[::2, ::-3, 1:4], WANT))
        self.assertTrue((wide[1::2] == 7).all() and (wide[:, :, 0] == 7).all())
        x = X.copy()
        self.assertIs(B(x, out=x), x)
        self.assertTrue(np.array_equal(x, WANT))

    def test_out_may_have_another_type(self):
        np.testing.assert_allclose(B(X.astype("f2"), out=np.zeros(X.shape, "f4")), WANT, rtol=2e-3)
        np.testing.assert_allclose(B(X, out=np.zeros(X.shape, "f8")), WANT, rtol=1e-3)  # the promise
        np.testing.assert_allclose(B(X, out=np.zeros(X.shape, "f2")), WANT, rtol=1e-3)

    def test_memory_that_is_not_numpys(self):
        for name, x in (("bytes", memoryview(X.tobytes()).cast("f", X.shape)),
                        ("array", memoryview(array.array("f", X.ravel())).cast("B").cast("f", X.shape)),
                        ("ctypes", (ctypes.c_float * 3 * 33 * 20).from_buffer_copy(X))):
            with self.subTest(memory=name):
                self.assertTrue(np.array_equal(B(x), WANT))
        out = (ctypes.c_float * 3 * 33 * 20)()
        B(X, out=out)
        self.assertTrue(np.array_equal(np.asarray(out), WANT))

    def test_an_object_that_numpy_takes(self):
        class Tensor:  # as one of torch in the memory of the CPU
            def __init__(self, of):
                self.of = of

            def __array__(self, dtype=None, copy=None):
                return self.of

        class Copies(Tensor):
            def __array__(self, dtype=None, copy=None):
                return self.of.copy()

        self.assertTrue(np.array_equal(B(Tensor(X)), WANT))
        self.assertTrue(np.array_equal(B(Copies(X)), WANT))
        out = Tensor(np.zeros_like(X))
        self.assertIs(B(X, out=out), out)
        self.assertTrue(np.array_equal(out.of, WANT))
        with self.assertRaises(fb.Error):
            B(X, out=Copies(np.zeros_like(X)))

    def test_batches_in_any_layout(self):
        x = scene((4, 20, 33, 3))
        want = B(x)
        self.assertTrue(np.array_equal(B(np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 3, 1)), 1, 3)), want))
        self.assertTrue(np.array_equal(B(x[::-1]), want[::-1]))
        out = np.zeros((8, 20, 33, 3), "f4")
        B(x, out=out[::2])
        self.assertTrue(np.array_equal(out[::2], want) and not out[1::2].any())


class Refused(unittest.TestCase):
    def refused(self, words, *arguments, **more):
        with self.assertRaises(fb.Error) as e:
            B(*arguments, **more)
        self.assertIn(words, str(e.exception))
        self.assertEqual(e.exception.code, fb.Code.BAD_ARGUMENT)

    def test_images(self):
        self.refused("type uint8; fftbloom takes float16, float32 and float64: x.astype('float32') / 255",
                     np.zeros((4, 4), "u1"))
        self.refused("type uint16; fftbloom takes float16, float32 and float64: x.astype('float32') / 65535",
                     np.zeros((4, 4), "u2"))
        self.refused("type int64; fftbloom takes float16, float32 and float64: x.astype('float32') makes it so",
                     np.zeros((4, 4), "i8"))
        self.refused("type complex64", np.zeros((4, 4), "c8"))
        self.refused("type object", np.zeros((4, 4), object))
        self.refused("of the type list, and needs to be an array of numpy or anything else that has the buffer "
                     "protocol or DLPack: numpy.array(x, 'float32') makes one", [[1.0]])
        self.refused("of the type NoneType", None)
        self.refused("has the shape (4,)", np.zeros(4))
        for shape, axes, channel_axis in (((4, 4), (0, 2), None), ((4, 4), (0, 0), None), ((4, 4, 3), (0, 1), 1),
                                          ((4, 4, 3), (0, 1, 2), None), ((4, 4, 3), None, 3), ((4, 4), (0, "x"), None)):
            with self.subTest(shape=shape, axes=axes), self.assertRaises(fb.Error):
                fb.Bloom(kernel((5, 4)), axes=axes, channel_axis=channel_axis, context=CPU)(np.zeros(shape, "f4"))
        coloured = fb.Bloom(kernel((5, 4, 3)), context=CPU)
        with self.assertRaisesRegex(fb.Error, r"the kernel has 3 channels, and the image .* has no axis of these"):
            coloured(np.zeros((8, 3, 64, 64), "f4"))
        self.refused("not 4 x 0", np.zeros((0, 4, 3), "f4"))
        self.refused("65536", np.broadcast_to(np.float32(0), (1, 70000)))

    def test_outs(self):
        self.refused("out has the shape (20, 33), and needs (20, 33, 3)", X, out=np.zeros((20, 33), "f4"))
        frozen = np.zeros_like(X)
        frozen.flags.writeable = False
        self.refused("read-only", X, out=frozen)
        self.refused("not writable", X, out=bytes(4))
        self.refused("type int32", X, out=np.zeros(X.shape, "i4"))
        self.refused("type >f4", X, out=np.zeros(X.shape, ">f4"))
        rows = np.lib.stride_tricks.as_strided(np.zeros(99, "f4"), X.shape, (0, 12, 4))
        self.refused("lie over each other", X, out=rows)


    def test_a_batch_is_not_written_over_images_that_are_still_to_be_read(self):
        z = scene((4, 20, 33, 3))
        self.refused("image 0: `out` lies over image 1", z[:-1], out=z[1:])
        self.refused("lies over image 0", z[1:], out=z[:-1])
        self.refused("of the same batch", z, out=z[::-1])
        with self.assertRaisesRegex(fb.Error, "out lies over another image"):
            B.adjoint(z[:-1], out=z[1:])
        want, adjoint = B(z), B.adjoint(z)
        self.assertTrue(np.array_equal(B(z.copy()[::2], out=np.empty_like(z)[1::2]), want[::2]))
        both = np.zeros((4, 20, 33, 6), "f4")  # images beside each other, pixel by pixel
        both[..., :3] = z
        self.assertTrue(np.array_equal(B(both[..., :3], out=both[..., 3:]), want))
        y = z.copy()
        self.assertTrue(np.array_equal(B(y, out=y), want))
        y = z.copy()
        self.assertTrue(np.array_equal(B.adjoint(y, out=y), adjoint))


WITHOUT_NUMPY = """
import sys
sys.modules["numpy"] = None  # `import numpy` fails
import array, fftbloom as fb
context = fb.Context(device="cpu")
taps = memoryview(array.array("f", [0, 1, 0, 1, 4, 1, 0, 1, 0])).cast("B").cast("f", (3, 3))
b = fb.Bloom(taps, padding="zero", context=context)
image = memoryview(bytearray(5 * 7 * 4)).cast("f", (5, 7))
image[2, 3] = 8
out, report = b(image, report=True)
assert (type(out), out.format, out.shape) == (memoryview, "f", (5, 7)) and report.kept
assert [round(v, 4) for v in out.tolist()[2]] == [0, 0, 1, 4, 1, 0, 0], out.tolist()
assert b.kernel.taps().tolist() == taps.tolist()
batch = memoryview(bytearray(2 * 5 * 7 * 3 * 8)).cast("d", (2, 5, 7, 3))
assert b(batch).shape == (2, 5, 7, 3)
assert [y.format for y in b.map([image, image])] == ["f", "f"]
try: b([[1.0]])
except fb.Error as e: assert "numpy is not installed" in str(e), e
else: raise AssertionError("a list passed")
try: b(batch[:0])
except fb.Error as e: assert "no pixels" in str(e), e
else: raise AssertionError("an empty result passed")
"""


class WithoutNumpy(unittest.TestCase):
    def test_everything_works_with_memoryviews(self):
        done = subprocess.run([sys.executable, "-c", WITHOUT_NUMPY], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_without_the_library_the_import_says_what_to_do(self):
        done = subprocess.run([sys.executable, "-c", "import fftbloom"], capture_output=True, text=True,
                              env={**os.environ, "LIBFFTBLOOM": "/nowhere/libfftbloom.so.0"})
        self.assertIn("ImportError: fftbloom needs its library: install libfftbloom0", done.stderr)


if __name__ == "__main__":
    unittest.main()
