"""What researchers do: layouts, kernels of each image, masks, gradients, convolve, tensors of others."""
import copy
import ctypes
import itertools
import pickle
import struct
import subprocess
import sys
import unittest
import warnings

import fftbloom as fb
import numpy as np
from reference import CPU, kernel, scene, spread

try:
    import torch
except ImportError:
    torch = None
try:
    from scipy.signal import fftconvolve
except ImportError:
    fftconvolve = None


def bloom(k, **settings):
    return fb.Bloom(k, context=CPU, **settings)


class Layouts(unittest.TestCase):
    def test_axes_and_channel_axis_name_any_layout(self):
        x, k = scene((2, 4, 20, 33, 3)), kernel((5, 4, 3))
        want = bloom(k)(x)
        for order, axes, channel in (((0, 1, 4, 2, 3), (-2, -1), -3), ((2, 3, 4, 0, 1), (0, 1), 2),
                                     ((4, 3, 0, 2, 1), (3, 1), 0), ((0, 1, 4, 2, 3), None, 2)):
            with self.subTest(order=order):
                b = bloom(k, axes=axes, channel_axis=channel)
                moved, out = np.transpose(x, order), np.zeros_like(np.transpose(x, order))
                self.assertTrue(np.array_equal(b(moved), np.transpose(want, order)))
                self.assertIs(b(moved, out=out), out)
                self.assertTrue(np.array_equal(b(np.ascontiguousarray(moved), out=out), np.transpose(want, order)))

    def test_other_last_axes_are_columns_of_a_batch(self):
        x, b = scene((8, 16, 21)), bloom(kernel((5, 4)))
        y, reports = b(x, report=True)
        self.assertEqual(len(reports), 8)
        for i in range(8):
            self.assertTrue(np.array_equal(y[i], b(x[i])))

    def test_spectral_cubes(self):
        x, k = scene((20, 33, 7), "f8"), 3 * kernel((5, 4, 7)).astype("f8")
        k[..., 2] *= 2
        sums = k.sum((0, 1))
        for normalize, by in (("none", 1), ("channel", sums), ("sum", sums.mean()), ("luminance", sums.mean())):
            y, r = bloom(k, channel_axis=-1, normalize=normalize, padding="zero")(x, report=True)
            np.testing.assert_allclose(y, spread(x, k) / by, rtol=1e-9)
            self.assertTrue(r.kept and isinstance(r, fb.Report))
        grey = bloom(k[..., 0], channel_axis=0)
        planes = np.ascontiguousarray(np.moveaxis(x, 2, 0))
        self.assertTrue(np.array_equal(grey(planes)[4], bloom(k[..., 0])(planes[4])))

    def test_each_image_has_its_kernel_and_amount(self):
        x, ks = scene((4, 20, 33)), np.stack([kernel((5, 4), seed) for seed in range(4)])
        amounts = [0.1, 0.5, "70%", 1]
        want = [bloom(k, amount=a)(i) for k, a, i in zip(ks, amounts, x)]
        for given in (list(ks), [fb.Kernel(k, context=CPU) for k in ks]):
            self.assertTrue(np.array_equal(bloom(given, amount=amounts)(x), want))
        self.assertTrue(np.array_equal(bloom(ks, axes=(-2, -1), amount=amounts)(x), want))
        self.assertTrue(np.array_equal(bloom(ks[0], amount=np.array([0.2, 0.4]))(x[:2])[1], bloom(ks[0], amount=0.4)(x[1])))
        for bad in (lambda: bloom(list(ks))(x[:3]), lambda: bloom(list(ks), amount=[1, 1]), lambda: bloom([])):
            with self.assertRaises(fb.Error):
                bad()


class Light(unittest.TestCase):
    def test_masks(self):
        x, k = scene((3, 20, 33)), kernel((5, 4))
        m = np.random.default_rng(4).random((3, 20, 33)).astype("f4")
        b = bloom(k)
        want = x - m * x + b(m * x)
        np.testing.assert_allclose(b(x, mask=m), want, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(b(x[1], mask=m[1]), want[1], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(b(x, mask=m[0])[0], want[0], rtol=1e-5, atol=1e-5)
        y = scene((3, 20, 33), seed=9)
        left, right = np.vdot(b(x, mask=m).astype("f8"), y), np.vdot(x.astype("f8"), b.adjoint(y, mask=m))
        self.assertLess(abs(left - right), 1e-6 * abs(left))
        with self.assertRaisesRegex(fb.Error, "the mask has the shape"):
            b(x, mask=m[:2])

    def test_a_tint_is_of_the_glare_alone(self):
        x, k = scene((20, 33, 3), "f8"), kernel((5, 4)).astype("f8")
        plain, tinted = bloom(k, emit="glare"), bloom(k, emit="glare", tint=(0, 0.5, 2))
        glare, tint = plain(x), np.array([0, 0.5, 2])
        np.testing.assert_allclose(tinted(x), glare * tint, rtol=1e-9, atol=1e-12)
        own = bloom(k)(x) - glare
        np.testing.assert_allclose(bloom(k, tint=tint)(x), own + glare * tint, rtol=1e-5, atol=1e-5)  # floats
        b, y = bloom(k, tint=(0.2, 1, 3)), scene((20, 33, 3), "f8", 8)
        size = np.vdot(b(x), y)
        self.assertLess(abs(np.vdot(x, b.adjoint(y)) - size), 1e-12 * abs(size))
        for wrong in (1, 2), (0, 0, 0), (1, 1, -1):
            with self.assertRaisesRegex(fb.Error, "tint"):
                bloom(k, tint=wrong)

    def test_a_kernel_is_turned(self):
        x, k = scene((20, 33, 3)), kernel((5, 4))
        np.testing.assert_allclose(bloom(k[:, :3], kernel_turn=-90)(x), bloom(np.rot90(k[:, :3]))(x), rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(bloom(k, kernel_turn=360)(x), bloom(k)(x))
        self.assertGreater(abs(bloom(k, kernel_turn=45)(x) - bloom(k)(x)).max(), 1e-2)

    def test_emit(self):
        x, k = scene((20, 33, 3)), kernel((5, 4))
        for emit in "glare", "additive", "source":
            b = bloom(k, emit=emit, threshold=1, amount=0.5)
            alone = b(x)
            out, beside = b(x, beside=True)
            self.assertTrue(np.array_equal(alone, beside))
            np.testing.assert_allclose(out, bloom(k, threshold=1, amount=0.5)(x), rtol=1e-5)
            if emit == "additive":
                np.testing.assert_allclose(beside, out - x, atol=1e-4)
            if emit == "source":
                np.testing.assert_allclose(beside, np.maximum(x - 1, 0), atol=1e-4)
            if emit == "glare":
                self.assertTrue((beside >= 0).all() and beside.sum() > 100)
        with self.assertRaisesRegex(fb.Error, "needs a Bloom with emit"):
            bloom(k)(x, beside=True)


class Gradients(unittest.TestCase):
    def test_both_are_transposes(self):
        """<b(x), y> is <x, adjoint(y)>, and without normalisation <k, kernel_adjoint(x, y)>."""
        rng = np.random.default_rng(5)
        for kind, room in (("f4", 1e-6), ("f8", 1e-12)):
            for shape, taps, channel in (((20, 33), (5, 4), None), ((6, 16, 21), (33, 9), None), ((9, 12, 7), (3, 5, 7), 2)):
                x, y, k = rng.random(shape).astype(kind), rng.random(shape).astype(kind), rng.random(taps).astype(kind)
                for padding in "mirror", "zero", "clamp", "wrap":
                    b = bloom(k, channel_axis=channel, padding=padding, normalize="none", tolerance=1e-5)
                    size = np.vdot(b(x).astype("f8"), y)
                    self.assertLess(abs(np.vdot(x.astype("f8"), b.adjoint(y)) - size), room * size)
                    g, r = b.kernel_adjoint(x, y, report=True)
                    self.assertEqual((g.dtype, g.shape), (k.dtype, k.shape))
                    self.assertLess(abs(np.vdot(k.astype("f8"), g) - size), room * size)
                    self.assertTrue(r.kept and r.error_bound <= 1e-5 * abs(g).max())

    def test_the_gradient_by_the_kernel_is_a_slope(self):
        rng = np.random.default_rng(6)
        for taps, normalize in (((5, 4), "luminance"), ((5, 4, 6), "luminance"), ((5, 4, 6), "channel")):
            x, y, k = rng.random((11, 13, 6)), rng.random((11, 13, 6)) - 0.5, rng.random(taps) + 0.1
            step = 1e-5 * rng.random(taps)

            def score(k):
                return np.vdot(bloom(k, channel_axis=2, normalize=normalize, amount=0.8)(x), y)
            g = bloom(k, channel_axis=2, normalize=normalize, amount=0.8).kernel_adjoint(x, y)
            slope = (score(k + step) - score(k - step)) / 2
            self.assertLess(abs(np.vdot(g, step) - slope), 1e-6 * abs(g).max() * step.sum())

    def test_each_kernel_has_its_gradient(self):
        x, y, ks = scene((3, 12, 13), "f8"), scene((3, 12, 13), "f8", 8), np.random.default_rng(7).random((3, 5, 4))
        g = bloom(ks, axes=(1, 2)).kernel_adjoint(x, y)
        for i in range(3):
            np.testing.assert_allclose(g[i], bloom(ks[i]).kernel_adjoint(x[i], y[i]), rtol=1e-12)
        both = bloom(ks[0]).kernel_adjoint(x, y)
        np.testing.assert_allclose(both, sum(bloom(ks[0]).kernel_adjoint(x[i], y[i]) for i in range(3)), atol=1e-9)


class Glare(unittest.TestCase):
    def test_solve_and_its_transpose_are_those_of_a_dense_system(self):
        rng = np.random.default_rng(11)
        shape, n = (6, 7), 42
        for kind, room in (("f4", 1e-6), ("f8", 1e-10)):
            for taps in (5, 4), (3, 17):
                for padding in ("mirror",) * 2, ("zero",) * 2, ("clamp",) * 2, ("wrap",) * 2, ("clamp", "zero"):
                    k = rng.random(taps).astype(kind) - 0.2
                    k[taps[0] // 2, taps[1] // 2] += 1.1 * abs(k).sum()
                    b = bloom(k, padding=padding, normalize="none", amount=0.9, tolerance=1e-6 if kind == "f4" else 1e-9)
                    whole = 0.1 * np.eye(n) + 0.9 * spread(np.eye(n).reshape(*shape, n), k, padding).reshape(n, n)
                    core = 0.1 + 0.9 * float(k[taps[0] // 2, taps[1] // 2])
                    for mask in None, np.round(rng.random(shape)).astype("f4"), rng.random(shape).astype("f4"):
                        m = np.ones(n) if mask is None else mask.ravel().astype("f8")
                        # x = (1 - m) y + m (y - (A - core) x) / core
                        back = np.linalg.solve(np.eye(n) + m[:, None] / core * (whole - core * np.eye(n)), np.diag(1 - m + m / core))
                        y = (rng.random(shape) - 0.2).astype(kind)
                        for call, of in (b.solve, back), (b.solve_adjoint, back.T):
                            with self.subTest(kind=kind, taps=taps, padding=padding, masked=mask is not None, call=call):
                                x, r = call(y, mask=mask, report=True)
                                want = (of @ y.ravel().astype("f8")).reshape(shape)
                                self.assertLess(abs(x - want).max(), room * abs(want).max())
                                y_at, x_at, _ = r.worst
                                self.assertLessEqual(abs(x - want)[y_at, x_at], r.error_bound + 1e-7 * abs(want).max() * (kind == "f4"))
                                self.assertTrue(r.steps > 1 and r.energy == r.energy_out / r.energy_in)

    def test_solve_takes_what_a_call_takes(self):
        x, k = scene((2, 20, 33, 7)), kernel((5, 4))
        k[2, 2] += 2
        b = bloom(k, channel_axis=-1, tolerance=1e-4)
        plain = bloom(k, tolerance=1e-4)
        for f in b.solve, b.solve_adjoint:
            y = b(x)
            out = np.zeros_like(x)
            _, reports = f(y, out=out, report=True)
            self.assertEqual(len(reports), 2)
            for i in range(2):
                for c in range(7):
                    one = getattr(plain, f.__name__)(np.ascontiguousarray(y[i, :, :, c]))
                    np.testing.assert_allclose(out[i, :, :, c], one, rtol=1e-5, atol=1e-5)
            self.assertTrue(all(r.kept and r.worst[2] < 7 for r in reports))
            f(y, out=y)
            self.assertTrue(np.array_equal(y, out))
        np.testing.assert_allclose(b.solve(b(x)), x, rtol=1e-4, atol=1e-4)
        for (got, r), frame in zip(b.map(b(x), report=True, solve=True), b(x)):
            want, of = b.solve(frame, report=True)
            self.assertTrue(np.array_equal(got, want) and r.kept and r.worst == of.worst and r.steps == of.steps)
        half = b.solve(b(x).astype("f2"))
        self.assertEqual(half.dtype, np.float16)

    def test_what_cannot_be_solved_is_refused(self):
        x, k = scene((20, 33)), kernel((5, 4))
        for words, settings in ((r"r is .* below 1; core=\d+ or amount=0\.\d+ would do", {}), ("threshold", {"core": 9, "threshold": 1})):
            for f in (lambda b: b.solve(x)), (lambda b: b.solve(x.astype("f8"))), (lambda b: b.solve_adjoint(x)):
                with self.subTest(words=words), self.assertRaisesRegex(fb.Error, words):
                    f(bloom(k, **settings))
        y = bloom(k, core=9).solve(x)
        np.testing.assert_allclose(y, x, rtol=1e-6)
        x[3, 4] = np.nan
        with self.assertRaisesRegex(fb.Error, "NaN"):
            bloom(k, core=9).solve(x)
        with self.assertRaisesRegex(fb.Error, "NaN"):
            bloom(k, core=9).solve_adjoint(x)
        for f in bloom(k, core=9, nan="zero").solve_adjoint, bloom(k, core=9, nan="zero").solve:
            y, r = f(x.astype("f8"), report=True)
            self.assertTrue(y[3, 4] == 0 and r.bad_pixels == 1)
        with self.assertRaisesRegex(fb.Error, "nan cannot interpolate"):
            bloom(k, core=9, nan="interpolate").solve_adjoint(x)


@unittest.skipUnless(fftconvolve, "scipy is not installed")
class Convolve(unittest.TestCase):
    def test_it_is_scipys_for_500_random_shapes(self):
        rng = np.random.default_rng(8)
        for case in range(500):
            n = int(rng.integers(2, 5))
            axes = tuple(int(v) for v in rng.permutation(n)[:2])
            shapes = rng.integers(1, 24, (2, n))
            for axis in set(range(n)) - set(axes):
                shapes[:, axis] = min(shapes[0, axis], 4)
                shapes[rng.integers(0, 2), axis] = rng.choice([1, shapes[0, axis]])
            if case % 40 == 7:
                shapes[0, 0] = 0
            kinds = rng.choice(["f4", "f8", "i4", "u1", "f2", "?"], 2)
            a, k = (rng.random(s) * 20 - 5 for s in shapes)
            a, k, mode = a.astype(kinds[0]), k.astype(kinds[1]), str(rng.choice(["full", "same", "valid"]))
            given = None if n == 2 and case % 2 else tuple(axes)
            with self.subTest(shapes=shapes.tolist(), axes=given, mode=mode, kinds=kinds):
                try:
                    want = fftconvolve(a, k, mode, axes=given)
                except ValueError:
                    self.assertRaises(ValueError, fb.convolve, a, k, mode, axes=given, context=CPU)
                    continue
                got = fb.convolve(a, k, mode, axes=given, context=CPU)
                self.assertEqual((got.shape, got.dtype), (want.shape, want.dtype))
                exact = fftconvolve(a.astype("f8"), k.astype("f8"), mode, axes=given)
                room = {"f2": 1e-2, "f4": 1e-5, "f8": 1e-12}.get(want.dtype.str[1:], 1e-9)
                if want.size and want.dtype != bool:
                    self.assertLess(abs(got - exact).max(), room * abs(exact).max() + 1e-12)

    def test_what_it_is_not_for_is_refused_by_name(self):
        a = np.ones((5, 6, 7))
        for words, arguments in (("axes are \\(0, 1, 2\\)", (a, a)), ("axes are \\(1,\\)", (a, a, "full", 1)),
                                 ("complex128", (a + 1j, a)), ("mode is 'half'", (a, a, "half", (0, 1))),
                                 ("3 dimensions, and the kernel 2", (a, a[0])), ("boundary is", (a, a, "full", (0, 1))),
                                 ("tolerance is 0; it can be 1e-12 to 1", (a, a, "full", (0, 1)))):
            more = {"boundary": "mirror"} if words == "boundary is" else {"tolerance": 0} if "tolerance" in words else {}
            with self.subTest(words=words), self.assertRaisesRegex(fb.Error, words):
                fb.convolve(*arguments, **more)
        self.assertRaises(TypeError, fb.convolve, a + 1j, a)
        image, k = scene((20, 33)), kernel((5, 7))
        np.testing.assert_allclose(fb.convolve(image, k, "same", boundary="mirror", context=CPU),
                                   bloom(k, normalize="none")(image), rtol=1e-4)
        # A border counts where image and kernel are a row and a column, or one pixel.
        numbers = np.random.default_rng(3)
        for shape, taps in itertools.product(((6, 1), (1, 6), (1, 1), (4, 5)), ((1, 12), (12, 1), (1, 1), (3, 4))):
            image, k = numbers.random(shape), numbers.random(taps)
            for boundary, mode in (("zero", "constant"), ("clamp", "edge"), ("mirror", "symmetric"), ("wrap", "wrap")):
                around = np.pad(image, [(n, n) for n in taps], mode)
                want = sum(k[j, i] * around[taps[0] - j + (taps[0] - 1) // 2:, taps[1] - i + (taps[1] - 1) // 2:][:shape[0], :shape[1]]
                           for j in range(taps[0]) for i in range(taps[1]))
                with self.subTest(shape=shape, taps=taps, boundary=boundary):
                    np.testing.assert_allclose(fb.convolve(image, k, "same", boundary=boundary, context=CPU), want, rtol=1e-13)

    def test_pixels_that_no_transform_keeps_are_sums(self):
        row = np.array([[0.] * 50 + [10. ** k for k in range(10)]])
        whole = [int(v) for v in row[0]]
        want = np.array([[float(sum(whole[i] * whole[n - i] for i in range(60) if 0 <= n - i < 60)) for n in range(119)]])
        self.assertGreater((abs(fftconvolve(row, row) - want) > 1e-3 * want).sum(), 2)
        got, told = fb.convolve(row, row, report=True, context=CPU)
        np.testing.assert_allclose(got, want, rtol=1e-3)
        self.assertTrue(told.kept and "sums by the definition" in told.note)
        self.assertTrue((abs(got - want) <= np.maximum(1e-3 * want, told.error_bound)).all())
        # Any border and mode, batches, and both types, where light is of 40 powers of e.
        numbers = np.random.default_rng(5)
        for case in range(60):
            kind, mode = ("f4", "f8")[case % 2], ("full", "same", "valid")[case % 3]
            border, pad = (("zero", "constant"), ("clamp", "edge"), ("mirror", "symmetric"), ("wrap", "wrap"))[case % 4 * (mode == "same")]
            n, m = numbers.integers(1, 14, (2, 2))
            n = n + m * (mode == "valid")
            a, k = (np.exp(numbers.normal(0, 6, (2, *s))).astype(kind) for s in (n, m))
            around = np.pad(a.astype("f8"), ((0, 0), (m[0], m[0]), (m[1], m[1])), pad)
            middle = (m - 1) // 2 if mode == "same" else 0 * m if mode == "full" else m - 1
            size = n if mode == "same" else n + m - 1 if mode == "full" else n - m + 1
            around = np.pad(around, ((0, 0), (0, m[0]), (0, m[1])))
            want = sum(k[:, j, i, None, None].astype("f8") * around[:, m[0] + middle[0] - j:, m[1] + middle[1] - i:][:, :size[0], :size[1]]
                       for j in range(m[0]) for i in range(m[1]))
            with self.subTest(case=case, n=n, m=m, mode=mode, border=border, kind=kind):
                got, told = fb.convolve(a, k, mode, (1, 2), boundary=border, tolerance=1e-5, report=True, context=CPU)
                self.assertEqual([r.kept for r in told], [True, True])
                np.testing.assert_allclose(got, want, rtol=1.1e-5)

    def test_what_is_left_is_said_once(self):
        numbers = np.random.default_rng(6)
        a, k = (np.exp(numbers.normal(0, 9, (2, n, n))) for n in (200, 150))
        with self.assertLogs("fftbloom", "WARNING") as logs:
            told = fb.convolve(a, k, axes=(1, 2), report=True, context=CPU)[1]
        self.assertFalse(told[0].kept or told[1].kept)
        self.assertEqual(len(logs.output), 1)
        self.assertRegex(logs.output[0], r"not kept in 2 of 2 arrays: \d+ of 121801 pixels may be off by more than 0.001 of themselves, by up to ")
        got, told = fb.convolve(a[:, :1, :1], k, axes=(1, 2), report=True)
        self.assertTrue(len(told) == 2 and told[0].kept and abs(told[0].energy_out / got[0].sum() - 1) < 1e-12)

    def test_what_the_type_of_the_result_does_not_hold_is_not_kept(self):
        for image, taps, kind in ((200, 2, "u1"), (-100, 2, "i1"), (6e4, 100, "f2"), (1e200, 1e200, "f8")):
            image, taps = np.full((2, 3, 3), [[[image]], [[1]]], kind), np.array([[[taps]]], kind)
            with self.subTest(kind=kind), self.assertLogs("fftbloom", "WARNING") as logs, np.errstate(over="ignore"):
                told = fb.convolve(image, taps, axes=(1, 2), report=True, context=CPU)[1]
                self.assertEqual([r.kept for r in told], [False, True])
                self.assertIn("9 of 9 pixels are beyond the range of " + str(image.dtype), logs.output[0])
        for image, taps in ((1e200, 1e200), (1e300, 1e10)):
            with self.subTest(image=image), self.assertLogs("fftbloom", "WARNING") as logs:
                told = fb.convolve(np.full((5, 5), image), np.full((3, 3), taps), report=True, context=CPU)[1]
                self.assertFalse(told.kept)
                self.assertIn("49 of 49 pixels are beyond the range of float64", logs.output[0])
        for kind in "u1", "i8", "?":
            told = fb.convolve(np.ones((3, 3), kind), np.ones((1, 1), kind), report=True, context=CPU)[1]
            self.assertTrue(told.kept and not told.note)

    def test_convolve_takes_kernels_of_the_whole_range(self):
        numbers = np.random.default_rng(4)
        x, k = numbers.random((3, 8, 9)), numbers.random((3, 4, 5)) * np.array([1e200, 1e-200, 1])[:, None, None]
        for mode in "full", "same", "valid":
            got, near = fb.convolve(x, k, mode, (1, 2), context=CPU), fb.convolve(x, k / k.max((1, 2), keepdims=True), mode, (1, 2), context=CPU)
            np.testing.assert_allclose(got, near * k.max((1, 2), keepdims=True), rtol=1e-12)
        np.testing.assert_allclose(fb.convolve(np.ones((4, 4)), 1e60 * np.ones((2, 2)), "valid", context=CPU), 4e60, rtol=1e-13)
        np.testing.assert_allclose(fb.convolve(np.full((4, 4), 1e-300), np.full((2, 2), 1e308), "valid", context=CPU), 4e8, rtol=1e-13)
        with self.assertRaisesRegex(fb.Error, "largest tap of plane 0 of the kernel is 1e\\+60; it can be 7.88861e-31 to 3.40282e\\+38"):
            fb.Kernel(1e60 * np.ones((2, 2)), context=CPU)

    def test_masks_and_thresholds_of_float64_are_within_their_bounds(self):
        x = np.array([[1 / 3, 2 / 3, .1]])
        for tolerance in 1e-9, 1e-3:
            for value, threshold in (0, 0), (0.5, 0), (1, 0), (None, 5), (None, 0.2):
                mask = None if value is None else np.full((1, 3), value, "f4")
                y, r = fb.Bloom(np.ones((1, 3)), tolerance=tolerance, threshold=threshold, context=CPU)(x, mask=mask, report=True)
                light = np.maximum(x - threshold, 0) if value is None else x * value
                around = np.pad(light, ((0, 0), (1, 1)), "symmetric")
                want = x - light + (around[:, :-2] + around[:, 1:-1] + around[:, 2:]) / 3
                with self.subTest(tolerance=tolerance, mask=value, threshold=threshold):
                    self.assertTrue(r.kept and r.precision == "float64" if tolerance < 1e-5 else r.kept)
                    self.assertLessEqual(abs(y - want).max(), r.error_bound)
                    self.assertLessEqual(r.error_bound, 2.0 ** -46 if tolerance < 1e-5 else 1e-5)


class Objects(unittest.TestCase):
    def test_kernels_are_values(self):
        for taps in kernel((5, 4)), kernel((5, 4, 3)).astype("f8"), kernel((3, 3, 6)):
            k = fb.Kernel(taps, context=CPU)
            again = pickle.loads(pickle.dumps(k))
            self.assertTrue(again == k and hash(again) == hash(k) and copy.deepcopy(k) == k)
            self.assertTrue(np.array_equal(again.taps(), taps) and again.taps().dtype == taps.dtype)
            self.assertNotEqual(k, fb.Kernel(taps * 2, context=CPU))
            self.assertNotEqual(k, taps.tolist())
            self.assertIn("%d x %d taps" % (taps.shape[1], taps.shape[0]), repr(k))
            self.assertIn("<svg", k._repr_html_())
            self.assertLess(len(k._repr_html_()), 100000)
        b = bloom(kernel((5, 4)))
        self.assertIn("no plan before the first image", repr(b))
        b(scene((40, 90)))
        self.assertRegex(repr(b), r"taps.*>: 90 x 40 pixels by transforms of [0-9]+ x [0-9]+ in float32, 1 tile, on .*; .* MB")
        self.assertGreaterEqual(min(b._last[1].lengths[0] - 90, b._last[1].lengths[1] - 40), 0)

    def test_errors_are_those_of_python_too(self):
        self.assertRaises(ValueError, bloom, kernel((5, 4)), padding="round")
        self.assertRaises(TypeError, bloom(kernel((5, 4))), [[1.0]])
        self.assertRaises(TypeError, bloom(kernel((5, 4))), np.zeros((4, 4), "i4"))


class Tensor:
    """An array that is known by DLPack alone, as in arrays of the array API."""
    def __init__(self, of, device=1):
        self.of, self.device, self.dtype = of, device, of.dtype

    def __dlpack__(self):
        return self.of.__dlpack__()

    def __dlpack_device__(self):
        return (self.device, 0)

    def __array_namespace__(self):
        return Tensor

    @staticmethod
    def from_dlpack(x):
        return Tensor(np.from_dlpack(x))


def capsule(array, flags=0):
    """Returns a versioned capsule of DLPack 1, which is as numpy 2.1 gives it."""
    shape, strides = ((ctypes.c_int64 * array.ndim)(*v) for v in (array.shape, [s // array.itemsize for s in array.strides]))
    managed = ctypes.create_string_buffer(struct.pack(
        "@IIPPQPiiiBBHPPQ", 1, 0, 0, 0, flags, array.ctypes.data, 1, 0, array.ndim, 2, 8 * array.itemsize, 1,
        ctypes.addressof(shape), ctypes.addressof(strides), 0))
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(ctypes.addressof(managed), b"dltensor_versioned", None), (array, shape, strides, managed)


class Versioned:
    def __init__(self, of, flags=0):
        self.of, self.flags, self.held = of, flags, []

    def __dlpack__(self, max_version=None):
        assert max_version >= (1, 0)
        made, held = capsule(self.of, self.flags)
        self.held.append(held)
        return made

    def __dlpack_device__(self):
        return (1, 0)


class Files:
    """What torch's DataLoader takes: a set of patches that are bloomed when they are taken."""
    def __init__(self):
        self.x, self.bloom = scene((6, 20, 33)), bloom(kernel((5, 4)))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.bloom(self.x[i])


class Tensors(unittest.TestCase):
    def test_versioned_capsules(self):
        x, b = scene((20, 33, 3)), bloom(kernel((5, 4)))
        for image in x, x[::2, ::-1], x.astype("f8"):
            self.assertTrue(np.array_equal(b(Versioned(image)), b(image)))
        out = Versioned(np.zeros_like(x))
        self.assertIs(b(x, out=out), out)
        self.assertTrue(np.array_equal(out.of, b(x)))
        with self.assertRaisesRegex(fb.Error, "out is read-only"):
            b(x, out=Versioned(np.zeros_like(x), flags=1))
        self.assertTrue(np.array_equal(b(Versioned(x, flags=1)), b(x)))

    @unittest.skipUnless(torch, "torch is not installed")
    def test_torchs_loader_forks_with_a_bloom(self):
        files = Files()
        with warnings.catch_warnings():  # Python 3.12 warns of forks where there are threads
            warnings.simplefilter("ignore")
            got = list(torch.utils.data.DataLoader(files, 3, num_workers=2, multiprocessing_context="fork"))
        self.assertTrue(np.array_equal(np.concatenate([g.numpy() for g in got]), np.stack(list(files))))

    def test_the_result_is_of_the_callers_type(self):
        x, b = scene((4, 20, 33, 3)), bloom(kernel((5, 4)))
        for image in x, x[::2, :, ::-1]:
            y = b(Tensor(image))
            self.assertIsInstance(y, Tensor)
            self.assertTrue(np.array_equal(y.of, b(image)))
        out = Tensor(np.zeros_like(x))
        self.assertIs(b(Tensor(x), out=out), out)
        self.assertTrue(np.array_equal(out.of, b(x)))
        self.assertIsInstance(b.kernel_adjoint(Tensor(x), Tensor(x)), Tensor)
        with self.assertRaisesRegex(fb.Error, r"is on a GPU or another device .*: x.cpu\(\)"):
            b(Tensor(x, device=2))
        with self.assertRaisesRegex(fb.Error, "type int32"):
            b(Tensor(np.zeros((4, 4), "i4")))

    @unittest.skipUnless(torch, "torch is not installed")
    def test_tensors_of_torch(self):
        x, b = scene((4, 3, 20, 33)), bloom(kernel((5, 4)), channel_axis=1)
        y = b(torch.from_numpy(x))
        self.assertIsInstance(y, torch.Tensor)
        self.assertTrue(np.array_equal(y.numpy(), b(x)))
        out = torch.zeros(4, 3, 20, 33)
        b(torch.from_numpy(x), out=out)
        self.assertTrue(torch.equal(out, y))
        with self.assertRaisesRegex(fb.Error, r"x.detach\(\)"):
            b(torch.zeros(4, 3, 8, 8, requires_grad=True))
        self.assertIsInstance(fb.convolve(out[0], out[0, :, :3, :3], "same", axes=(-2, -1), context=CPU), torch.Tensor)

    @unittest.skipUnless(torch, "torch is not installed")
    def test_torch_without_numpy(self):
        code = """
import sys
sys.modules["numpy"] = None
import torch, fftbloom as fb
y = fb.Bloom(torch.ones(3, 3), padding="zero", context=fb.Context(device="cpu"))(torch.ones(4, 8, 9))
assert isinstance(y, torch.Tensor) and y.shape == (4, 8, 9) and abs(float(y[0, 0, 0]) - 4 / 9) < 1e-5, y[0]
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
