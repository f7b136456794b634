"""Fields: kernels that vary over the frame, against sums with the kernel of each lamp's place. Grids are uneven and not
square, and their kernels are unlike each other and their mirror images."""
import copy
import itertools
import json
import os
import pathlib
import pickle
import subprocess
import shutil
import tempfile
import threading
import types
import unittest
import unittest.mock

import fftbloom as fb
import numpy as np
from reference import BORDER, CPU, kernel, scene

try:
    from astropy.io import fits
except ImportError:
    fits = None

H, W = 31, 44
AT = [-0.05, 0.6], [0.1, 0.35, 0.9]  # y, x
NODES = np.stack([[kernel((5, 4), 7 * i + j) for j in range(3)] for i in range(2)])
LAMPS = ((4, 6), (7, 37), (16, 12), (27, 8), (22, 30), (15, 22))


def field(nodes, **settings):
    return fb.Field(nodes, context=CPU, **settings)


def weights(at, shape):
    """The hats of a grid, [row][column] of planes."""
    lines = []
    for places, n in zip(at, shape):
        p = np.clip((np.arange(n) + 0.5) / n, places[0], places[-1])
        lines.append([])
        for i in range(len(places)):
            w = np.ones(n) if len(places) == 1 else np.zeros(n)
            for k in (i - 1, i):  # the cells on both sides
                if 0 <= k < len(places) - 1:
                    t = (p - places[k]) / (places[k + 1] - places[k])
                    w = np.where((t >= 0) & (t <= 1), t if k < i else 1 - t, w)
            lines[-1].append(w)
    return [[np.outer(y, x) for x in lines[1]] for y in lines[0]]


def matrix(k, shape, padding=("zero", "zero")):
    """The convolution with (h, w) as a matrix, whose columns are pictures of lamps: from lamps at each pixel."""
    n, (h, w) = shape[0] * shape[1], k.shape
    whole = np.pad(np.arange(n).reshape(shape), ((h, h), (w, w)), *([BORDER[padding[0]]] if padding[0] == padding[1] != "zero" else []),
                   **({"constant_values": -1} if padding[0] == "zero" else {}))
    a = np.zeros((n, n))
    for j in range(h):
        for i in range(w):
            top, left = h - j + h // 2, w - i + w // 2
            part = whole[top:top + shape[0], left:left + shape[1]].ravel()
            np.add.at(a, (np.flatnonzero(part >= 0), part[part >= 0]), float(k[j, i]))
    return a


def operator(terms, shape, padding=("zero", "zero"), order="scatter"):
    """The matrix of a sum of terms (k, w)."""
    return sum(matrix(k, shape, padding) * w.ravel() if order == "scatter" else w.ravel()[:, None] * matrix(k, shape, padding)
               for k, w in terms)


def grid_terms(nodes, at, shape):
    return [(k, w) for row, of in zip(nodes, weights(at, shape)) for k, w in zip(row, of)]


class Grids(unittest.TestCase):
    def lamps(self, f, a, shape=(H, W), kind="f4"):
        """Compares each lamp with the column of its pixel, and of the transpose with the row."""
        for y, x in LAMPS:
            lamp = np.zeros(shape, kind)
            lamp[y, x] = 1
            at = y * shape[1] + x
            got, r = f(lamp, report=True)
            self.assertLessEqual(abs(got.ravel() - a[:, at]).max(), r.error_bound + 1e-7)
            back, r = f.adjoint(lamp, report=True)
            self.assertEqual(back.dtype, lamp.dtype)
            self.assertLessEqual(abs(back.ravel() - a[at]).max(), r.error_bound + 1e-7)

    def test_each_lamp_has_the_kernel_of_its_place_through_every_door(self):
        a = operator(grid_terms(NODES, AT, (H, W)), (H, W))
        rows = [[fb.Kernel(k, context=CPU) for k in row] for row in NODES]
        for nodes in (NODES, NODES.astype("f8"), rows, NODES[:, :, None]):
            self.lamps(field(nodes, at=AT, padding="zero"), a)
        self.lamps(field(NODES.astype("f8"), at=AT, padding="zero"), a, kind="f8")

    def test_files(self):
        a = operator(grid_terms(NODES, AT, (H, W)), (H, W))
        with tempfile.TemporaryDirectory() as folder:
            here = pathlib.Path(folder)
            for (i, j) in itertools.product(range(2), range(3)):  # PFM: rows from below
                with open(here / ("n%d%d.pfm" % (i, j)), "wb") as f:
                    f.write(b"Pf\n%d %d\n-1\n" % NODES.shape[:1:-1] + NODES[i, j][::-1].astype("<f4").tobytes())
            (here / "f.json").write_text(json.dumps({"version": 1, "field": {
                "y": AT[0], "x": AT[1], "nodes": [["n%d%d.pfm" % (i, j) for j in range(3)] for i in range(2)]}}))
            self.lamps(field(here / "f.json", padding="zero"), a)
            self.assertTrue(np.array_equal(fb.Bloom(here / "f.json", padding="zero", context=CPU)(scene((H, W))),
                                           field(NODES, at=AT, padding="zero")(scene((H, W)))))
            program = os.path.join(os.path.dirname(os.environ.get("LIBFFTBLOOM", "")), "fftbloom")
            if os.path.exists(program):
                subprocess.run([program, "kernel", "make", here / "f.json", "-o", here / "f.exr", "-q"], check=True)
                self.lamps(field(here / "f.exr", padding="zero"), a)

    def test_borders_batches_masks_and_colours(self):
        x = scene((2, H, W, 3))
        coloured = np.stack([NODES, NODES[::-1], NODES[:, ::-1]], 2)
        m = np.random.default_rng(4).random((H, W)).astype("f4")
        for padding in ("zero", "mirror", "clamp", "wrap"):
            f = field(coloured, at=AT, padding=padding, normalize="none", amount=0.75)
            y, reports = f(x, mask=m, report=True)
            back, told = f.adjoint(x, mask=m, report=True)
            self.assertEqual((len(reports), len(told)), (2, 2))
            for c in range(3):
                a = operator(grid_terms(coloured[:, :, c], AT, (H, W)), (H, W), (padding, padding))
                a = np.eye(H * W) * (1 - 0.75 * m.ravel()) + 0.75 * a * m.ravel()
                for i in range(2):
                    self.assertLessEqual(abs(y[i, ..., c].ravel() - a @ x[i, ..., c].ravel()).max(), reports[i].error_bound + 3e-5)
                    self.assertLessEqual(abs(back[i, ..., c].ravel() - a.T @ x[i, ..., c].ravel()).max(), told[i].error_bound)
                    self.assertTrue(reports[i].kept and told[i].kept)

    def test_dot_products(self):
        x, y = scene((H, W), "f8"), scene((H, W), "f8", 9)
        for padding in ("zero", "mirror", "clamp", "wrap"):
            f = field(NODES, at=AT, padding=padding, common=(kernel((9, 9)), 0.3), kernel_turn=20)
            left, right = (f(x) * y).sum(), (x * f.adjoint(y)).sum()
            self.assertAlmostEqual(left / right, 1, delta=1e-6)

    def test_layouts_out_and_no_places(self):
        x = scene((3, 2, W, H))
        f = field(NODES, axes=(3, 2), channel_axis=0)
        want = field(NODES, at=([0, 1], [0, 0.5, 1]))
        moved = np.ascontiguousarray(np.transpose(x, (1, 3, 2, 0)))
        out = np.zeros_like(x)
        for way, other in ((f, want), (f.adjoint, want.adjoint)):
            np.testing.assert_allclose(np.transpose(way(x), (1, 3, 2, 0)), other(moved), rtol=2e-6)
            self.assertIs(way(x, out=out), out)
            self.assertTrue(np.array_equal(out, way(x)))

    def test_the_bound_is_that_of_every_channel(self):
        x = scene((H, W, 4), "f8") * [1000, 1, 1e-3, 1]
        for nodes, n, settings in ((NODES, 3, {}), (np.stack([NODES, NODES[::-1], NODES[:, ::-1]], 2), 3, {}),
                                   (NODES, 3, dict(tint=(1, 0.5, 0.2))), (NODES, 4, dict(alpha="convolve"))):
            f = field(nodes, at=AT, padding="zero", precision="float64", normalize="none", **settings)
            for way in (f, f.adjoint):
                got, r = way(x[..., :n], report=True)
                for c in range(n):
                    lone = np.zeros_like(x[..., :n])
                    lone[..., c] = x[..., c]
                    made, one = way(lone, report=True)
                    self.assertGreaterEqual(r.error_bound, one.error_bound)
                    np.testing.assert_allclose(got[..., c], made[..., c], rtol=1e-9)

    def test_a_threshold_is_of_the_image_and_not_of_its_terms(self):
        flat = np.full((H, W), 1.5)
        for settings in (dict(threshold=1), dict(nan="interpolate")):
            if "nan" in settings:
                flat[9, 9] = np.nan
            wide, narrow = (field(NODES, precision=p, emit="source", **settings)(flat) for p in ("float64", "float32"))
            np.testing.assert_allclose(wide, narrow, rtol=1e-5)

    def test_results_in_float16(self):
        f, out = field(NODES, at=AT, padding="zero"), np.zeros((H, W), "f2")
        for size in (1, 3e5, 2e-6):
            x = (scene((H, W), "f8").clip(0, 1) * size).astype("f4")
            exact = f.adjoint(x.astype("f8"))
            got, r = f.adjoint(x, out=out, report=True)
            self.assertIs(got, out)
            beyond = exact > 65504
            self.assertEqual((r.clamped, bool(r.clamped)), (beyond.sum(), size > 1))
            self.assertTrue((out[beyond] == 65504).all())
            self.assertLessEqual(abs(out - exact)[~beyond].max(), r.error_bound)
            self.assertTrue(r.kept)
        with self.assertRaisesRegex(fb.Error, "are beyond 65504 in float16"):
            field(NODES, half_overflow="error").adjoint(np.full((H, W), 1e5, "f4"), out=out)

    def test_kernels_that_are_fields_have_no_taps(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, slope in (("a", 3), ("b", 4)):
                (pathlib.Path(folder) / (name + ".json")).write_text(json.dumps({
                    "version": 1, "taps": 9, "layers": [{"model": "moffat", "share": 1, "core": 2}],
                    "field": {"y": [0.5], "x": [0, 1], "vary": {"slope": [[2, slope]]}}}))
            a, again, b = (fb.Kernel(os.path.join(folder, n), context=CPU) for n in ("a.json", "a.json", "b.json"))
            self.assertEqual((a == again, a == b, a == fb.Kernel(NODES[0, 0], context=CPU)), (True, False, False))
            self.assertRegex(a._repr_html_(), "^<div>&lt;fftbloom.Kernel .*</div>$")
            self.assertEqual(copy.copy(a), a)
            self.assertEqual(pickle.loads(pickle.dumps(a)), a)
        one, other = (field(n)._field((H, W)) for n in (NODES, NODES[::-1]))  # in memory they have no name either
        self.assertEqual((one == one, one == other), (True, False))
        with self.assertRaisesRegex(fb.Error, "field"):
            pickle.dumps(one)

    def test_a_field_is_not_solved_and_its_series_comes_to_the_image(self):
        f = field(NODES.astype("f8"), at=AT, padding="zero", amount=0.3)
        for solve in (f.solve, fb.Bloom(f._field(None), context=CPU).solve):
            with self.assertRaisesRegex(fb.Error, "field"):
                solve(np.ones((H, W)))
        a = 0.7 * np.eye(H * W) + 0.3 * operator(grid_terms(NODES / NODES.sum((2, 3), keepdims=True), AT, (H, W)), (H, W))
        stays = np.full((H, W), 0.7)  # without the middle taps: less than stays, and what the bound needs
        r = (f(np.ones((H, W))) / stays).max() - 1
        self.assertLess(r, 1)
        x, y = scene((H, W), "f8"), None
        y = f(x)
        got = y.copy()
        for _ in range(100):
            step = (y - f(got)) / stays
            got += step
        self.assertLessEqual(abs(got - np.linalg.solve(a, y.ravel()).reshape(H, W)).max(), (abs(step).max() + 1e-9 * y.max()) / (1 - r))
        self.assertLess(abs(got - x).max(), 1e-6 * x.max())

    def test_equal_nodes_are_one_kernel(self):
        x, one = scene((H, W)), NODES[0, 1]
        f = field(np.broadcast_to(one, (2, 2, *one.shape)))
        self.assertTrue(np.array_equal(f(x), fb.Bloom(one, context=CPU)(x)))
        np.testing.assert_allclose(f.adjoint(x), fb.Bloom(one, context=CPU).adjoint(x), rtol=1e-5)

    def test_a_process_that_forks(self):
        f, x = field(NODES, at=AT), scene((H, W))
        want, back = f(x), f.adjoint(x)
        child = os.fork()
        if not child:
            os._exit(0 if np.array_equal(f(x), want) and np.array_equal(f.adjoint(x), back) else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_refusals(self):
        three = np.broadcast_to(NODES[:, :, None], (2, 3, 2, 5, 4))
        for words, make in (("need \\(gy, gx, h, w\\)", lambda: field(NODES[0])), ("at= has 1 places", lambda: field(NODES, at=([0], [0, 1]))),
                            ("must increase", lambda: field(NODES, at=(AT[0], [0, 0, 1]))), ("2 channels", lambda: field(three)),
                            ("share is 1", lambda: field(NODES, common=(NODES[0, 0], 1))),
                            ("pixel is None", lambda: field("x.fits")), ("pixel is 'included'", lambda: field(NODES, pixel="included")),
                            ("at= and common=", lambda: field("x.json", at=AT)), ("middles", lambda: field(NODES, kernel_center="peak")(scene((H, W)))),
                            ("no setting 'knead'", lambda: field(NODES, knead=1)(scene((H, W)))),
                            ("has no transpose", lambda: field(NODES, threshold=1).adjoint(scene((H, W))))):
            with self.assertRaisesRegex(fb.Error if "knead" not in words else TypeError, words):
                make()


class Terms(unittest.TestCase):
    def test_both_orders_and_their_transposes(self):
        rng = np.random.default_rng(5)
        k, m = rng.random((3, 5, 4)) - 0.3, rng.random((3, H, W)) - 0.2
        m[2] = m[2] > 0.2  # a mask with hard edges
        x, y = scene((2, H, W), "f8"), scene((2, H, W), "f8", 9)
        for order, padding in itertools.product(("scatter", "gather"), ("zero", "mirror", "clamp", "wrap")):
            f = fb.Field.from_terms(k, m, order, padding=padding, channel_axis=None, context=CPU)
            a = operator(list(zip(k, m)), (H, W), (padding, padding), order)
            for way, of in ((f, a), (f.adjoint, a.T)):
                got, reports = way(x, report=True)
                for i in range(2):
                    self.assertLessEqual(abs(got[i].ravel() - of @ x[i].ravel()).max(), reports[i].error_bound)
                    self.assertLess(reports[i].error_bound, 1e-6)
            self.assertAlmostEqual((f(x) * y).sum() / (x * f.adjoint(y)).sum(), 1, delta=1e-9)

    def test_shapes_of_deepinv(self):
        rng, x = np.random.default_rng(6), scene((2, 3, H, W))
        for b, c, d, e in itertools.product((1, 2), (1, 3), (1, 2), (1, 3)):
            k, m = rng.random((b, c, 4, 5, 4)), rng.random((d, e, 4, H, W))
            got, reports = fb.Field.from_terms(k, m, "gather", padding="wrap", context=CPU)(x, report=True)
            self.assertEqual(len(reports), 2)
            for i, j in ((0, 0), (1, 2)):
                a = operator(list(zip(k[i % b, j % c], m[i % d, j % e])), (H, W), ("wrap", "wrap"), "gather")
                self.assertLessEqual(abs(got[i, j].ravel() - a @ x[i, j].ravel()).max(), reports[i].error_bound)

    def test_two_threads_open_the_terms_once(self):
        f = fb.Field.from_terms(np.ones((2, 1, 1)), np.ones((2, H, W)), context=CPU)
        terms, both, x = f._terms, threading.Barrier(2), scene((H, W), "f8")

        def slow(shape):
            both.wait(20)
            return terms(shape)
        f._terms, made = slow, []
        threads = [threading.Thread(target=lambda: made.append(f(x))) for _ in range(2)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for y in made + [f(x)]:
            np.testing.assert_allclose(y, 2 * x, rtol=1e-9)

    def test_a_report_says_what_cancels(self):
        k = np.stack([kernel((5, 4))] * 2)
        x = scene((H, W))
        f = fb.Field.from_terms(k, np.stack([np.ones((H, W)), -np.ones((H, W))]), context=CPU, precision="float32")
        got, r = f(x, report=True)
        self.assertLessEqual(abs(got).max(), r.error_bound)
        self.assertEqual(r.note, "a sum of 2 terms")

    def test_refusals(self):
        k, m = np.ones((2, 3, 3)), np.ones((2, H, W))
        f = fb.Field.from_terms(k, m, context=CPU)
        for words, make in (("order is 'both'", lambda: fb.Field.from_terms(k, m, "both")), ("filters have the shape", lambda: fb.Field.from_terms(k, m[:1])),
                            ("threshold: terms", lambda: fb.Field.from_terms(k, m, threshold=1)), ("a multiplier has", lambda: f(scene((H, W + 1)))),
                            ("no mask", lambda: f(scene((H, W)), mask=np.ones((H, W), "f4")))):
            with self.assertRaisesRegex(fb.Error, words):
                make()


def hdu_of_psfex(cube, samp, header=()):
    names = dict(POLNAXIS=2, POLNAME1="X_IMAGE", POLNAME2="Y_IMAGE", POLGRP1=1, POLGRP2=1, POLNGRP=1, POLDEG1=2,
                 POLZERO1=20.5, POLSCAL1=30.0, POLZERO2=14.0, POLSCAL2=25.0, PSF_SAMP=samp)
    table = fits.BinTableHDU.from_columns([fits.Column("PSF_MASK", "%dE" % cube.size, dim=str(cube.shape[::-1]), array=[cube])])
    table.header.update({**names, **dict(header)})
    return fits.HDUList([fits.PrimaryHDU(), table])


class Files(unittest.TestCase):
    def test_what_astropy_does_not_find_is_bad_data(self):
        header = dict(POLNAXIS=2, POLNAME1="X_IMAGE", POLNAME2="Y_IMAGE", POLGRP1=1, POLGRP2=1, POLNGRP=1, POLDEG1=0)
        file = unittest.mock.MagicMock()
        file.__enter__.return_value = [types.SimpleNamespace(header=header, data=[[np.ones((1, 5, 5))]])]
        file.__exit__.return_value = False
        opened = unittest.mock.Mock()
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict("sys.modules", {
                "astropy": types.ModuleType("astropy"), "astropy.io": types.SimpleNamespace(fits=types.SimpleNamespace(open=opened))}):
            for name, settings in (("x.psf", {}), ("x.fits", dict(pixel="included"))):
                path = pathlib.Path(folder) / name
                path.write_text("no FITS")
                opened.side_effect = OSError("No SIMPLE card found")
                with self.assertRaisesRegex(fb.Error, "No SIMPLE") as e:
                    field(path, **settings)
                self.assertEqual(e.exception.code, fb.Code.BAD_DATA)
            opened.side_effect, opened.return_value = None, file
            for key in ("PSF_SAMP", "POLZERO1", "POLSCAL2"):
                with self.assertRaisesRegex(fb.Error, key) as e:
                    field(path.with_suffix(".psf"))
                self.assertEqual(e.exception.code, fb.Code.BAD_DATA)
                header.update({key: 1.0})
                header.update(dict(POLZERO2=1.0, POLSCAL1=1.0) if key == "POLZERO1" else {})
            field(path.with_suffix(".psf"))


@unittest.skipUnless(fits, "astropy is not installed")
class Astronomy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def psfex(self, cube, samp, **header):
        hdu_of_psfex(cube.astype("f4"), samp, header).writeto(self.path / "x.psf", overwrite=True)
        return field(self.path / "x.psf", padding="zero")

    def test_psfex_has_monomials_of_pixels_that_count_from_1(self):
        cube = np.random.default_rng(3).random((6, 5, 7)).astype("f4").astype("f8")
        f = self.psfex(cube, 1.0)
        for y, x in LAMPS:
            lamp = np.zeros((H, W))
            lamp[y, x] = 1
            u, v = (x + 1 - 20.5) / 30, (y + 1 - 14) / 25
            want, k = np.zeros((H + 20, W + 20)), cube[0] + u * cube[1] + u * u * cube[2] + v * cube[3] + u * v * cube[4] + v * v * cube[5]
            want[10 + y - 2:10 + y + 3, 10 + x - 3:10 + x + 4] = k  # row 0 of the taps is above
            np.testing.assert_allclose(f(lamp), want[10:-10, 10:-10], atol=1e-9)
        x, y = scene((H, W), "f8"), scene((H, W), "f8", 9)
        self.assertAlmostEqual((f(x) * y).sum() / (x * f.adjoint(y)).sum(), 1, delta=1e-9)

    def test_psfex_is_resampled_and_keeps_its_light(self):
        yy, xx = np.mgrid[-22:23, -22:23]
        samp, cube = 0.72, np.zeros((6, 45, 45))
        wide = lambda sx, sy, step: step * step * np.exp(-(xx * step / sx) ** 2 / 2 - (yy * step / sy) ** 2 / 2) / (2 * np.pi * sx * sy)
        cube[0] = wide(2.2, 1.4, samp) / samp ** 2  # light for each pixel of the image
        lamp = np.zeros((61, 61))
        lamp[30, 30] = 1
        got, r = self.psfex(cube, samp)(lamp, report=True)
        self.assertLess(abs(got[8:53, 8:53] - wide(2.2, 1.4, 1)).max(), 5e-3 * got.max())  # Lanczos 3's
        self.assertLess(abs(r.energy - 1), 2e-3)

    def test_psfex_that_varies_with_else_is_refused(self):
        cube = np.zeros((6, 5, 5))
        for words, header in (("FLUX", dict(POLNAME2="FLUX_AUTO")), ("2 groups", dict(POLNGRP=2, POLGRP2=2)), ("needs 10", dict(POLDEG1=3))):
            with self.assertRaisesRegex(fb.Error, words):
                self.psfex(cube, 1.0, **header)
        with self.assertRaises(fb.Error) as e:
            field("none.psf")
        self.assertEqual(e.exception.code, fb.Code.NOT_FOUND)

    @unittest.skipUnless(shutil.which("psfex") and shutil.which("source-extractor"), "psfex and source-extractor are not installed")
    def test_a_file_of_psfex_itself_has_the_stars_of_each_place(self):
        rng, n = np.random.default_rng(3), 1024
        sky, (v, u) = rng.normal(100, 2, (n, n)), np.mgrid[-16:17, -16:17]

        def star(x, y):  # wider to the right, and flatter below
            s, e = 2.0 + 1.5 * x / n, 1 + 0.4 * y / n
            k = (1 + (((u - x % 1) / e) ** 2 + ((v - y % 1) * e) ** 2) / s ** 2) ** -2.5
            return k / k.sum()
        for x, y in 40 * np.stack(np.mgrid[1:25, 1:25], -1).reshape(-1, 2) + rng.uniform(0, 7, (576, 2)):
            sky[int(y) - 16:int(y) + 17, int(x) - 16:int(x) + 17] += 10 ** rng.uniform(4, 5) * star(x, y)
        fits.PrimaryHDU(sky.astype("f4")).writeto(self.path / "stars.fits")
        (self.path / "p").write_text("\n".join("XWIN_IMAGE X_IMAGE Y_IMAGE FLUX_RADIUS SNR_WIN FLUX_APER(1) FLUXERR_APER(1) ELONGATION FLAGS "
                                               "VIGNET(33,33)".split()))
        (self.path / "c").write_text("CONV NORM\n0 0 0\n0 1 0\n0 0 0\n")
        for command in (["source-extractor", "stars.fits", "-c", "/dev/null", "-CATALOG_NAME", "x.cat", "-CATALOG_TYPE", "FITS_LDAC", "-PARAMETERS_NAME", "p",
                         "-FILTER_NAME", "c", "-PHOT_APERTURES", "16", "-SATUR_LEVEL", "1e9"],
                        ["psfex", "x.cat", "-c", "/dev/null", "-PSFVAR_DEGREES", "2", "-SAMPLE_AUTOSELECT", "N", "-SAMPLE_MAXELLIP", "1", "-CHECKPLOT_TYPE", "NONE", "-CHECKIMAGE_TYPE", "NONE", "-WRITE_XML", "N"]):
            subprocess.run(command, cwd=self.path, check=True, capture_output=True)
        f = field(self.path / "x.psf", padding="zero")
        for y, x in ((100, 200), (150, 900), (800, 120), (900, 850)):
            lamp = np.zeros((n, n))
            lamp[y, x] = 1
            got = f(lamp)[y - 8:y + 9, x - 8:x + 9]
            here, others = (abs(got - star(*p)[8:-8, 8:-8]).max() / got.max() for p in ((x, y), (n - x, n - y)))
            self.assertLess(here, 0.1)  # of a polynomial of degree 2
            self.assertLess(4 * here, others)

    def grid(self, cube, over, order=(3, 0, 5, 1, 4, 2), pixel="included", **settings):
        """Writes NODES' shape of a grid of six, at pixels y 3, 20 and x 2, 17, 40."""
        places = [(y, x) for y in (3.0, 20.0) for x in (2.0, 17.0, 40.0)]
        hdu = fits.PrimaryHDU(np.stack([cube[i] for i in order]))
        hdu.header["OVERSAMP"] = over
        for n, i in enumerate(order):
            hdu.header["DET_YX%d" % n] = (str(places[i]), "The #%d PSF's (y,x) detector pixel position" % n)
        hdu.writeto(self.path / "grid.fits", overwrite=True)
        return field(self.path / "grid.fits", pixel=pixel, padding="zero", **settings)

    def test_a_grid_is_sampled_once_a_pixel_at_its_y_and_x(self):
        cube = np.random.default_rng(3).random((6, 15, 21))
        f = self.grid(cube, 3)
        at = [(3.5 / H, 20.5 / H), (2.5 / W, 17.5 / W, 40.5 / W)]
        taps = np.zeros((6, 9, 11))
        taps[:, 2:7, 2:9] = cube[:, 1::3, 1::3]
        a = operator(grid_terms(taps.reshape(2, 3, 9, 11), at, (H, W)), (H, W))
        for y, x in LAMPS:
            lamp = np.zeros((H, W))
            lamp[y, x] = 1
            np.testing.assert_allclose(f(lamp).ravel(), a[:, y * W + x], atol=2e-6)

    def test_the_pixel_is_taken_once(self):
        n, over = 88, 8
        t = (np.arange(n) - (n - 1) / 2) / over
        point = np.exp(-t[:, None] ** 2 / 2 / 1.3 ** 2 - t ** 2 / 2 / 1.1 ** 2) / (2 * np.pi * 1.3 * 1.1)
        fine = np.linspace(-0.5, 0.5, 401)
        line = lambda s: np.array([np.trapz(np.exp(-(u + fine) ** 2 / 2 / s ** 2), fine) for u in range(-4, 5)]) / np.sqrt(2 * np.pi) / s
        want = np.outer(line(1.3), line(1.1))
        box = np.r_[0.5, np.ones(7), 0.5] / 8
        included = np.apply_along_axis(np.convolve, 0, np.apply_along_axis(np.convolve, 1, point, box, "same"), box, "same")
        lamp = np.zeros((H, W))
        lamp[15, 20] = 1
        for pixel, cube in (("excluded", point), ("included", included)):
            got, r = self.grid(np.stack([cube] * 6), over, pixel=pixel)(lamp, report=True)
            part = got[11:20, 16:25]
            self.assertLess(abs(part / part.sum() * want.sum() - want).max(), 3e-3 * want.max())
            self.assertLess(abs(r.energy - 1), 1e-3)

    def test_grids_that_are_none_are_refused(self):
        with self.assertRaisesRegex(fb.Error, "which is no grid"):
            self.grid(np.zeros((6, 5, 5)), 1, (0, 1, 2, 3, 4))
        fits.PrimaryHDU(np.zeros((4, 4))).writeto(self.path / "flat.fits")
        with self.assertRaisesRegex(fb.Error, "is no grid of kernels"):
            field(self.path / "flat.fits", pixel="included")


if __name__ == "__main__":
    unittest.main()
