"""Results: beside the definition, the transpose, batches, threads, reports and errors."""
import concurrent.futures
import ctypes
import gc
import inspect
import itertools
import logging
import multiprocessing
import os
import pickle
import pydoc
import subprocess
import sys
import tempfile
import unittest
import warnings

import fftbloom as fb
import numpy as np
from fftbloom import _call
from reference import CPU, kernel, scene, spread

TAPS = (9, 12)
# What rounding a result adds to report.error_bound.
EPSILON = {"f2": 2.0 ** -11, "f4": 2.0 ** -24, "f8": 2.0 ** -47}


def bloom(taps=None, **settings):
    taps = kernel(TAPS) if taps is None else taps
    return fb.Bloom(taps, context=CPU, **{"normalize": "none", **settings})


class Results(unittest.TestCase):
    def check(self, x, taps, padding, amount=1.0):
        pair = (padding, padding) if isinstance(padding, str) else padding
        y, report = bloom(taps, padding=padding, amount=amount)(x, report=True)
        want = amount * spread(x.reshape(x.shape[0], x.shape[1], -1), taps.reshape(taps.shape[0], taps.shape[1], -1),
                               pair).reshape(x.shape) + (1 - amount) * x.astype("f8")
        self.assertEqual((y.shape, y.dtype), (x.shape, x.dtype))
        self.assertTrue(report.kept)
        self.assertLessEqual(report.error_bound, report.allowed)
        off = np.abs(y - want) - np.abs(want) * EPSILON[x.dtype.str[1:]]
        self.assertLessEqual(off.max(), report.error_bound)

    def test_every_type_and_border_is_the_definition(self):
        for kind in "f2", "f4", "f8":
            for padding in "mirror", "zero", "clamp", "wrap", ("wrap", "zero"):
                with self.subTest(kind=kind, padding=padding):
                    self.check(scene((20, 33, 3), kind), kernel(TAPS), padding)

    def test_shapes_are_the_definition(self):
        for shape, taps in (((31, 20), TAPS), ((31, 20, 1), TAPS), ((20, 31, 3), TAPS + (3,)), ((1, 1), TAPS),
                            ((1, 40), (5, 1)), ((40, 1, 3), (1, 1))):
            with self.subTest(shape=shape, taps=taps):
                self.check(scene(shape), kernel(taps), "mirror")

    def test_float64_is_computed_in_float64_with_kernels_of_float64(self):
        rng = np.random.default_rng(4)
        for padding in "mirror", "zero", "clamp", "wrap":
            for shape in (20, 33), (20, 33, 3):
                taps, x = rng.random((9, 12)), rng.random(shape)
                want = spread(x.reshape(20, 33, -1), taps, (padding, padding)).reshape(shape)
                with self.subTest(padding=padding, shape=shape):
                    y = bloom(taps, padding=padding)(x)
                    self.assertLessEqual(np.abs(y - want).max(), 1e-13 * want.max())
                    y = bloom(taps, padding=padding, normalize="sum")(x)
                    self.assertLessEqual(np.abs(y - want / taps.sum()).max(), 1e-13 * want.max() / taps.sum())
        large, x = rng.random((50, 41)), rng.random((20, 33))  # taps that reach no pixel are left out
        want = spread(x[..., None], large)[..., 0]
        self.assertLessEqual(np.abs(bloom(large, padding="zero")(x) - want).max(), 1e-13 * want.max())
        taps, x = rng.random((9, 12, 3)), rng.random((20, 33, 4))  # alpha is spread by the kernel's luminance
        x_y = np.array([[0.64, 0.33], [0.3, 0.6], [0.15, 0.06], [0.3127, 0.329]])  # Rec.709, and its white
        xyz = (np.column_stack([x_y, 1 - x_y.sum(axis=1)]) / x_y[:, 1:]).T
        grey = taps @ np.linalg.solve(xyz[:, :3], xyz[:, 3])
        want = spread(x, np.dstack([taps, grey]))
        off = np.abs(bloom(taps, padding="zero", alpha="convolve")(x) - want).max(axis=(0, 1)) / want.max()
        self.assertLessEqual(off[:3].max(), 1e-13)
        self.assertLessEqual(off[3], 1e-8)  # the primaries that weigh colours are floats
        k = fb.Kernel(taps, context=CPU)
        self.assertEqual(k.taps().dtype, np.float64)
        self.assertLessEqual((np.abs(k.taps() - taps) / taps).max(), 2.0 ** -48)

    def test_float64_has_the_range_of_float64(self):
        taps, x = kernel(TAPS), scene((20, 33, 3), "f8")
        x[:, :, 1] *= 1e-20  # channels far from each other
        want = spread(x, taps)
        for scale in 1e-280, 1e-60, 1e-44, 1e-43, 1e-36, 3.5e38, 1e300:
            with self.subTest(scale=scale):
                y, report = bloom(taps, padding="zero")(x * scale, report=True)
                self.assertTrue(report.kept)
                self.assertLessEqual(report.error_bound, report.allowed)
                self.assertLessEqual((np.abs(y / scale - want).max(axis=(0, 1)) / want.max(axis=(0, 1))).max(), 1e-13)
                self.assertAlmostEqual(report.energy_in / scale, x.sum(), delta=1e-6 * x.sum())
                g = bloom(taps, padding="mirror").adjoint(x * scale)
                self.assertAlmostEqual(g.sum() / scale, x.sum(), delta=1e-6 * x.sum())

    def test_what_float32_cannot_hold_is_refused_by_name(self):
        x = scene((20, 33), "f8")
        for scale, words in (1e38, "the largest pixel of channel 'Y' is 3e"), (1e-44, "the largest pixel"):
            for how in {"precision": "float32"}, {"threshold": 1.0}:
                with self.assertRaisesRegex(fb.Error, words) as e:
                    bloom(**how)(x * scale)
                self.assertEqual(e.exception.code, fb.Code.BAD_PIXELS)
        for scale in 1e60, 1e-60:
            with self.assertRaisesRegex(fb.Error, "the largest tap of plane 0 of the kernel is"):
                fb.Kernel(kernel(TAPS).astype("f8") * scale, context=CPU)
        y, report = bloom()(np.full((20, 33), 3.5e38), out=np.empty((20, 33), "f4"), report=True)
        self.assertTrue(report.clamped == 660 and (y == np.finfo("f4").max).all())

    def test_no_warning_contradicts_the_report_of_a_float64_image(self):
        heard = []
        handler = logging.Handler(logging.WARNING)
        handler.emit = lambda record: heard.append(record.getMessage())
        logging.getLogger("fftbloom").addHandler(handler)
        try:
            for seed in range(40):
                x = np.exp(np.random.default_rng(seed).standard_normal((60, 60)) * 6)
                for scale in 1, 1e-60:
                    heard.clear()
                    taps = kernel((5, 5)).astype("f8")
                    taps[2, 2] = 1
                    _, report = bloom(taps, tolerance=4e-4, padding="zero")(x * scale, report=True)
                    self.assertEqual(report.kept, not heard, (seed, scale, heard))
        finally:
            logging.getLogger("fftbloom").removeHandler(handler)

    def test_amount_is_a_share(self):
        self.check(scene((20, 33, 3)), kernel(TAPS), "mirror", 0.25)
        self.assertTrue(np.array_equal(bloom(amount="25%")(scene((20, 33))), bloom(amount=0.25)(scene((20, 33)))))

    def test_alpha_is_kept_or_spread(self):
        x = scene((20, 33, 4))
        self.assertTrue(np.array_equal(bloom()(x)[..., 3], x[..., 3]))
        self.assertFalse(np.array_equal(bloom(alpha="convolve")(x)[..., 3], x[..., 3]))

    def test_one_pixel_shows_the_kernel(self):
        x = np.zeros((31, 31), "f4")
        x[15, 15] = 1
        for center, at in (("middle", (4, 6)), ("corner", (4, 6)), ((3, 2), (2, 3))):  # (row, column)
            y = bloom(padding="zero", kernel_center=center)(x)
            top, left = 15 - at[0], 15 - at[1]
            want = np.roll(kernel(TAPS), at, (0, 1)) if center == "corner" else kernel(TAPS)
            np.testing.assert_allclose(y[top:top + 9, left:left + 12], want, atol=1e-6)

    def test_the_adjoint_is_the_transpose(self):
        for padding in "mirror", "zero", "clamp", "wrap":
            for amount in 1, 0.3:
                with self.subTest(padding=padding, amount=amount):
                    b = bloom(kernel(TAPS + (3,)), padding=padding, amount=amount, precision="float64")
                    x, y = scene((20, 33, 3)), scene((20, 33, 3), seed=7)
                    left = np.vdot(b(x).astype("f8"), y)
                    self.assertLessEqual(abs(left - np.vdot(x, b.adjoint(y).astype("f8"))), 1e-6 * abs(left))
                    x, y = x.astype("f8") / 3, y.astype("f8") / 7
                    left = np.vdot(b(x), y)
                    self.assertLessEqual(abs(left - np.vdot(x, b.adjoint(y))), 1e-12 * abs(left))

    def test_a_kernel_gives_its_taps_back(self):
        for shape in TAPS, TAPS + (3,):
            k = fb.Kernel(kernel(shape), context=CPU)
            self.assertEqual(k.shape, shape)
            self.assertTrue(np.array_equal(k.taps(), kernel(shape)))
        self.assertEqual(fb.Kernel(kernel(TAPS + (1,)), context=CPU).shape, TAPS)

    def test_kernels_of_files_names_and_recipes(self):
        kernels = os.path.join(os.environ["FFTBLOOM_ROOT"], "kernels")
        taps = fb.Kernel(os.path.join(kernels, "halation.json"), context=CPU).taps()
        self.assertTrue(np.array_equal(fb.Kernel("halation", context=fb.Context(kernels=kernels)).taps(), taps))
        self.assertEqual(fb.Kernel("mist-1", frame=(270, 480), context=fb.Context(kernels=kernels)).shape, (256, 256, 3))
        for source, frame in ("mist-1", (0, 480)), ("mist-1", (480,)), (kernel(TAPS), (270, 480)):
            with self.assertRaisesRegex(fb.Error, "frame"):
                fb.Kernel(source, frame=frame, context=fb.Context(kernels=kernels))
        self.assertIn("sunstar", fb.Kernel.names())
        self.assertTrue(12 <= len(fb.Kernel.names()) <= 20, fb.Kernel.names())
        made = fb.Kernel.make("star", blades=6, taps=33, context=CPU)
        self.assertEqual(made.shape[:2], (33, 33))
        same = fb.Kernel.make({"taps": "33x33", "layers": [{"model": "star", "blades": 6}]}, context=CPU)
        self.assertTrue(np.array_equal(made.taps(), same.taps()))
        np.testing.assert_allclose(made.taps().sum(axis=(0, 1)), 1, rtol=1e-5)

    def test_what_doubles_do_not_hold_is_not_kept(self):
        for value, kept in ((1e300, False), (1e200, True)):
            out, told = bloom(np.full((3, 3), 1e10), normalize="none")(np.full((8, 9), value), report=True)
            self.assertEqual((told.kept, bool(np.isfinite(out).all())), (kept, kept))
            self.assertEqual("beyond the range of doubles" in told.note, not kept)

    def test_the_common_context_keeps_made_kernels_and_nothing_else(self):
        code = "import sys, fftbloom as fb; fb.Bloom(sys.argv[1])(memoryview(bytearray(400)).cast('f', (10, 10)))"
        with tempfile.TemporaryDirectory() as cache:
            for name, folder, kept in ("portrait", cache + "/new", ["portrait"]), ("mist-1", "/proc/none", []):
                subprocess.run([sys.executable, "-c", code, name], check=True,
                               env={**os.environ, "FFTBLOOM_CACHE_DIR": folder})
                files = [f for _, _, names in os.walk(folder) for f in names if f.endswith((".exr", ".spectrum"))]
                self.assertEqual([f.split("-")[0] for f in files], kept)

    def test_the_linter_speaks(self):
        self.assertEqual(fb.Kernel.make("gaussian", sigma=3, taps=65, context=CPU).check(), [])
        words = fb.Kernel(np.roll(kernel((33, 33)), 5), context=CPU).check()
        self.assertTrue(words)
        self.assertTrue(all(len(w) > 20 for w in words), words)

    def test_a_kernel_off_centre_is_told_once(self):
        taps = np.zeros((33, 33), "f4")
        taps[4, 26] = 1
        taps[16, 16] = 0.1
        with self.assertLogs("fftbloom", "WARNING") as heard:
            for _ in range(3):
                bloom(taps)
        self.assertEqual(["off centre by 10, -12" in text for text in heard.output], [True])

    def test_what_is_wrong_with_light_is_told_once(self):
        rings = np.full((40, 40), 0.2)
        rings[9, 9], rings[9, 10] = 1000, -90
        codes = (np.arange(1600).reshape(40, 40) % 256) / 255
        for image, words in ((rings, "1 values are below zero, down to -90"), (codes, "the values of an 8-bit picture")):
            for kind in "f4", "f8":
                b = bloom(kernel((5, 5)))
                with self.assertLogs("fftbloom", "INFO") as heard:
                    for _ in range(3):
                        out, r = b(image.astype(kind), report=True)
                told = [text for text in heard.output if words in text]
                self.assertEqual([text.split(":")[0] for text in told], ["WARNING"], heard.output)
        with self.assertNoLogs("fftbloom", "WARNING"):
            bloom(kernel((5, 5))).adjoint(rings)
            bloom(kernel((5, 5)))(abs(rings))

    def test_reports(self):
        x = scene((40, 40, 3))
        y, r = bloom(padding="zero")(x, report=True)
        self.assertAlmostEqual(r.energy_in, x.sum(dtype="f8"), delta=1e-4 * r.energy_in)
        self.assertAlmostEqual(r.energy, y.sum(dtype="f8") / x.sum(dtype="f8"), delta=1e-4)
        self.assertEqual((r.bad_pixels, r.clamped, r.precision), (0, 0, "float32"))
        self.assertTrue(r.device)
        x[3, 4, 1] = np.nan
        y, r = bloom(nan="zero")(x, report=True)
        self.assertEqual(r.bad_pixels, 1)
        self.assertTrue(np.isfinite(y).all())


class Many(unittest.TestCase):
    def test_a_batch_is_its_images(self):
        x = scene((7, 20, 33, 3))
        b = bloom()
        y, reports = b(x, report=True)
        self.assertEqual(len(reports), 7)
        for i in range(7):
            self.assertTrue(np.array_equal(y[i], b(x[i])))
            self.assertTrue(reports[i].kept)
        g = b.adjoint(x)
        self.assertTrue(np.array_equal(g[6], b.adjoint(x[6])))
        self.assertEqual(b(x[:0]).shape, (0, 20, 33, 3))

    def test_a_batch_names_the_image_that_failed(self):
        x = scene((5, 20, 33, 3))
        x[3, 0, 0, 0] = np.inf
        with self.assertRaises(fb.Error) as e:
            bloom()(x)
        self.assertIn("image 3", str(e.exception))
        self.assertEqual(e.exception.code, fb.Code.BAD_PIXELS)

    def test_map_keeps_the_order_and_takes_few_frames_ahead(self):
        b, taken = bloom(), []

        def frames():
            for i in range(20):
                taken.append(i)
                yield scene((20 + i, 33, 3), seed=i)

        for i, y in enumerate(b.map(frames(), ahead=3)):
            self.assertTrue(np.array_equal(y, b(scene((20 + i, 33, 3), seed=i))))
            self.assertLessEqual(len(taken), i + 4)
        self.assertEqual(i, 19)
        self.assertEqual(list(b.map([])), [])
        self.assertTrue(all(r.kept for _, r in b.map([scene((20, 33))] * 3, report=True)))

    def test_map_raises_at_the_frame_that_failed_and_can_be_left(self):
        x, bad = scene((20, 33, 3)), scene((20, 33, 3)) * np.inf
        done = 0
        with self.assertRaises(fb.Error):
            for _ in bloom().map([x, x, bad, x]):
                done += 1
        self.assertEqual(done, 2)
        for _ in bloom().map(itertools.repeat(x)):
            break
        with self.assertRaises(fb.Error):
            bloom().map([x], ahead=0)

    def test_threads_share_a_bloom(self):
        b = bloom()
        x = [scene((20, 33 + i % 3, 3), seed=i) for i in range(24)]
        want = [b(i) for i in x]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for got, expected in zip(pool.map(b, x), want):
                self.assertTrue(np.array_equal(got, expected))

    def test_pythons_lock_is_free_while_the_library_works(self):
        self.assertIs(type(_call.lib), ctypes.CDLL)  # ctypes.PyDLL would keep it

    @unittest.skipUnless(hasattr(os, "fork"), "this system cannot fork")
    def test_a_forked_process_goes_on_with_what_was_made_before(self):
        b, x, each = bloom(), scene((20, 33)), scene((2, 20, 33, 5))
        taps = np.array(kernel(TAPS))
        several = [fb.Bloom(taps[..., None] * np.arange(1, 6, dtype="f4"), channel_axis=-1),
                   fb.Bloom(fb.Kernel(taps)), fb.Bloom(taps.astype("f8")), fb.Bloom("mist-1")]
        images = each, x, x.astype("f8"), x
        want = [one(image) for one, image in zip(several, images)]
        taps[:] = 0  # the kernels are copies

        def child(end):
            end.send(b(x))
            end.send(all(np.array_equal(one(i), w) for one, i, w in zip(several, images, want)))
            end.send(fb.Bloom(several[1].kernel)(x).shape)

        here, there = multiprocessing.Pipe()
        process = multiprocessing.get_context("fork").Process(target=child, args=(there,))
        with warnings.catch_warnings():  # Python 3.12 warns of forks where there are threads
            warnings.simplefilter("ignore")
            process.start()
        self.assertTrue(np.array_equal(here.recv(), b(x)))
        self.assertTrue(here.recv())
        self.assertEqual(here.recv(), x.shape)
        process.join()
        self.assertEqual(process.exitcode, 0)

    def test_messages_go_to_pythons_logging(self):
        with self.assertLogs("fftbloom", "DEBUG") as heard:
            fb.Bloom(kernel(TAPS), context=fb.Context(device="cpu"))(scene((20, 33)))
        self.assertTrue(heard.output)
        self.assertTrue(all(r.levelname in ("DEBUG", "INFO") for r in heard.records), heard.output)

    def test_a_budget_is_kept(self):
        small = fb.Context(device="cpu", mem_limit=8000000)
        x = np.ones((800, 1000, 3), "f4")
        np.testing.assert_allclose(fb.Bloom(kernel(TAPS), context=small)(x), 1, rtol=1e-3)  # in tiles
        with self.assertRaises(fb.Error) as e:
            fb.Bloom(kernel(TAPS), context=small)(x, out=x)
        self.assertEqual(e.exception.code, fb.Code.NO_MEMORY)

    def test_nothing_is_left_behind(self):
        gc.collect()
        before, x = CPU.used, scene((20, 33))
        for _ in range(50):
            bloom()(x)
        self.assertEqual(CPU.used, before)


class Errors(unittest.TestCase):
    def refused(self, words, code, call, *arguments, setting=None, **more):
        with self.assertRaises(fb.Error) as e:
            call(*arguments, **more)
        self.assertIn(words, str(e.exception))
        self.assertEqual((e.exception.code, e.exception.setting), (code, setting))
        return e.exception

    def test_settings_are_named(self):
        for name, value, words in (
                ("padding", "mirrored", "it can be 'mirror', 'zero', 'clamp' or 'wrap'"), ("padding", 3, "padding is 3"),
                ("padding", ("zero", "mist"), "'mist'"), ("amount", 1.5, "amount is 1.5; it can be 0 to 1"),
                ("tolerance", -1, "tolerance is -1"), ("normalize", "no", "normalize is 'no'"), ("nan", [], "nan is []"),
                ("kernel_center", "left", "'left'"), ("kernel_center", (1, 2, 3), "for x and y"),
                ("kernel_scale", 0, "kernel_scale is 0"), ("kernel_turn", 4000, "kernel_turn is 4000")):
            with self.subTest(name=name, value=value):
                self.refused(words, fb.Code.BAD_SETTING, bloom, setting=name, **{name: value})
        with self.assertRaisesRegex(TypeError, "no setting 'paddin'"):
            bloom(paddin="zero")
        for name, value in ("device", "cpu"), ("threads", 2):
            with self.assertRaisesRegex(TypeError, r"belongs to a Context: .*Context\(%s=%r\)" % (name, value)):
                fb.Bloom(kernel(TAPS), **{name: value})
        self.refused("'half%'", fb.Code.BAD_SETTING, bloom, setting="amount", amount="half%")
        for name, value in (("verify", -1), ("verify", 2 ** 32), ("amount", "much"), ("threshold", None)):
            with self.subTest(name=name, value=value):
                self.refused("%s is %r, and needs" % (name, value), fb.Code.BAD_SETTING, bloom, setting=name, **{name: value})

    def test_kernels(self):
        self.refused("none.exr", fb.Code.NOT_FOUND, fb.Kernel, "none.exr")
        self.refused("(2, 2, 2, 2)", fb.Code.BAD_ARGUMENT, fb.Kernel, np.ones((2, 2, 2, 2)))
        self.refused("there are 2 kernels", fb.Code.BAD_ARGUMENT, fb.Kernel, np.ones((2, 4, 4)), axes=(1, 2))
        self.refused("NoneType", fb.Code.BAD_ARGUMENT, fb.Kernel, None)
        self.refused("blade", fb.Code.BAD_DATA, fb.Kernel.make, "star", blade=7)
        self.refused("stra", fb.Code.BAD_DATA, fb.Kernel.make, "stra")
        self.refused("JSON", fb.Code.BAD_DATA, fb.Kernel.make, "star", blades=float("nan"))
        self.refused("'sunstr'", fb.Code.NOT_FOUND, fb.Kernel, "sunstr")
        self.refused("threads is -1", fb.Code.BAD_ARGUMENT, fb.Context, threads=-1, setting="threads")
        self.refused("no device is 'nonesuch'", fb.Code.NO_DEVICE, fb.Context, device="nonesuch")
        self.refused("mem_limit is 0.5", fb.Code.BAD_ARGUMENT, fb.Context, mem_limit=0.5, setting="mem_limit")

    def test_channels_that_nobody_names(self):
        for shape in (20, 33, 2), (20, 33, 5), (40, 48, 31):
            self.refused("channel_axis=-1 takes the last axis", fb.Code.BAD_ARGUMENT, bloom(), np.ones(shape, "f4"))
            for axis in -1, None:
                self.assertEqual(bloom(channel_axis=axis)(np.ones(shape, "f4")).shape, shape)
        for shape in (2, 20, 33), (64, 32, 32), (2, 20, 33, 2):  # batches, as they were
            self.assertEqual(bloom()(np.ones(shape, "f4")).shape, shape)

    def test_pixels(self):
        x = scene((20, 33))
        x[1, 2] = np.nan
        self.refused("NaN", fb.Code.BAD_PIXELS, bloom(), x, setting="nan")
        bright = np.full((20, 33), 60000, "f2")
        twice = bloom(kernel(TAPS) * 2)
        self.assertEqual(twice(bright).max(), 65504)
        self.refused("65504", fb.Code.BAD_PIXELS, bloom(kernel(TAPS) * 2, half_overflow="error"), bright,
                     setting="half_overflow")

    def test_the_transpose_of_a_threshold(self):
        self.refused("threshold", fb.Code.BAD_SETTING, bloom(threshold=1).adjoint, scene((20, 33)), setting="threshold")

    def test_an_error_can_be_sent(self):
        e = self.refused("amount", fb.Code.BAD_SETTING, bloom, amount=2, setting="amount")
        other = pickle.loads(pickle.dumps(e))
        self.assertEqual((str(other), other.code, other.setting), (str(e), e.code, e.setting))


class Help(unittest.TestCase):
    def test_help_has_every_name_and_every_setting(self):
        text = pydoc.plain(pydoc.render_doc(fb))
        for name in fb.__all__:
            self.assertRegex(text, r"(class |    )" + name + r"\(")
            self.assertTrue(inspect.getdoc(getattr(fb, name)))
            for member, value in vars(getattr(fb, name)).items():
                if callable(value) and not member.startswith("_"):
                    self.assertTrue(inspect.getdoc(value), (name, member))
        for of in fb.Bloom, fb.Context, fb.Kernel:
            words = [line.split()[0] for line in inspect.getdoc(of).splitlines() if "  " in line.strip() and line[0] != " "]
            names = [p.name for p in inspect.signature(of).parameters.values() if p.kind != p.VAR_KEYWORD]
            self.assertEqual([w for w in words if w in names], names)

    def test_help_of_the_module_is_not_buried_under_methods_of_int(self):
        text = pydoc.plain(pydoc.render_doc(fb))
        self.assertNotIn("builtins.int", text)
        text = pydoc.plain(pydoc.render_doc(fb.Bloom))
        self.assertLess(text.index("__call__("), text.index("__init__(self"))

    def test_every_function_has_types(self):
        for of in fb.Bloom, fb.Context, fb.Kernel:
            for function in [f for f in vars(of).values() if inspect.isfunction(f)]:
                missing = set(inspect.signature(function).parameters) - {"self"} - set(function.__annotations__)
                self.assertFalse(missing, function)
                self.assertIn("return", function.__annotations__, function)


if __name__ == "__main__":
    unittest.main()
