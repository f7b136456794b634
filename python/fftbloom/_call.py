"""The C library: where it is, its structs, and its errors. fftbloom.h describes what is called."""
from __future__ import annotations

import ctypes
import enum
import logging
import os
import threading
from ctypes import POINTER, byref, c_char, c_char_p, c_double, c_int32, c_size_t, c_ssize_t, c_uint32, c_uint64, c_void_p
from typing import Any, Optional, Tuple


class Code(enum.Enum):
    """What kind of error an `Error` is."""
    BAD_ARGUMENT = 1  #: an image or an array that cannot be used
    BAD_SETTING = 2  #: a value, or values that do not go together
    BAD_DATA = 3  #: the content of a file, a recipe or a kernel
    BAD_PIXELS = 4  #: NaN or infinite pixels, or results that `out` cannot hold
    BROKEN = 5  #: `verify` found a pixel that is off by more than the tolerance
    NOT_FOUND = 6  #: there is no such file or name
    NO_DEVICE = 7  #: no device can do the work
    NO_MEMORY = 8  #: the budget or the system has too little
    IO = 9  #: a file cannot be read or written
    TRY_AGAIN = 10  #: a device was lost
    CANCELLED = 11  #: the work was stopped
    INTERNAL = 12  #: a bug in fftbloom; please report it


class Error(ValueError):
    """What went wrong, as a sentence. It is a ValueError, and of a wrong type a TypeError, too.

    code     a `Code`: what kind of error it is
    setting  the setting of `Bloom` that is meant, such as "padding"; None: no setting
    """

    def __init__(self, text: str, code: Code = Code.BAD_ARGUMENT, setting: Optional[str] = None) -> None:
        super().__init__(text)
        self.code = code
        self.setting = setting

    def __reduce__(self) -> Any:  # an error goes from one process to another
        return type(self), (str(self), self.code, self.setting)


class WrongType(Error, TypeError):
    """An argument of a type that cannot be used."""


# The structs of fftbloom.h.
def fields(*kinds: Tuple[Any, str]) -> Any:
    """Lists the members of a struct: types, and the names that each of them has."""
    return [(name, kind) for kind, names in kinds for name in names.split()]


class FbError(ctypes.Structure):
    _fields_ = [("code", c_int32), ("setting", c_char * 60), ("text", c_char * 960)]


class FbPlane(ctypes.Structure):
    _fields_ = fields((c_void_p, "data"), (c_ssize_t, "pixel_stride row_stride"), (c_int32, "type"),
                       (c_uint32, "reserved"))


class FbContextOptions(ctypes.Structure):
    _fields_ = fields((c_uint32, "size threads"), (c_uint64, "mem_limit vram_limit cache_size"),
                       (c_char_p, "device cache_dir kernels"), (c_void_p, "log"), (c_int32, "log_level"),
                       (c_uint32, "reserved"), (c_void_p, "alloc release user"))


class FbField(ctypes.Structure):
    _fields_ = fields((c_uint32, "size across down"), (POINTER(c_double), "x y"), (POINTER(c_void_p), "nodes"),
                       (c_void_p, "common"), (c_double, "share"))


class FbSettings(ctypes.Structure):
    _fields_ = fields((c_uint32, "size verify"),
                       (c_double, "amount tolerance threshold knee kernel_scale center_x center_y"),
                       (c_int32, "kernel_center normalize correlate padding_x padding_y precision nan half_overflow alpha emit"),
                       (c_double * 3, "tint"), (c_double, "kernel_turn core"))


class FbImage(ctypes.Structure):
    kept: Any  # what its pointers need while a call works with it
    handle: Any  # its session
    number: int  # in the batch
    _fields_ = fields((c_uint32, "size width height channels"), (c_void_p, "in_ out progress user mask emit session"),
                       (c_double, "pixel_aspect"), (c_char_p, "space"))


class FbReport(ctypes.Structure):
    _fields_ = fields((c_uint32, "size"), (c_int32, "kept"), (c_double, "error allowed energy_in energy_out"),
                       (c_uint64, "bad_pixels clamped"), (c_double, "seconds"), (c_uint32, "attempts"),
                       (c_int32, "precision"), (c_char * 128, "device"), (c_char * 256, "note"), (c_uint32 * 2, "lengths"),
                       (c_uint32, "tiles steps"), (c_uint32 * 3, "worst"), (c_uint32, "reserved"))


NAME = "libfftbloom.so.0"


def _load() -> ctypes.CDLL:
    """Loads $LIBFFTBLOOM, or the library in this package, or the system's."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", NAME)
    path = os.environ.get("LIBFFTBLOOM") or (own if os.path.exists(own) else NAME)
    try:
        return ctypes.CDLL(path)
    except OSError as e:
        raise ImportError("fftbloom needs its library: install libfftbloom0, or set LIBFFTBLOOM to the path "
                          "of %s (%s)" % (NAME, e)) from None


lib = _load()


_error, _handle = POINTER(FbError), POINTER(c_void_p)
_opener, _batch = (_handle, c_void_p), (c_void_p, c_void_p, c_size_t, c_void_p, _error)
for _name, _result, _arguments in (
        ("fb_version", c_char_p, ()), ("fb_context_used", c_uint64, (c_void_p,)),
        ("fb_kernel_size", None, (c_void_p,) + 3 * (POINTER(c_uint32),)),
        ("fb_settings_init", None, (POINTER(FbSettings), c_uint32)),
        *(("fb_%s_close" % _what, None, (c_void_p,)) for _what in ("context", "kernel", "session")),
        ("fb_context_open", c_int32, (_handle, POINTER(FbContextOptions), _error)),
        ("fb_kernel_open", c_int32, _opener + (c_char_p, _error)),
        ("fb_kernel_open_for", c_int32, _opener + (c_char_p, c_uint32, c_uint32, _error)),
        ("fb_kernel_make", c_int32, _opener + (c_char_p, _error)),
        ("fb_kernel_copy", c_int32, _opener + (c_uint32, c_uint32, c_uint32, c_void_p, _error)),
        ("fb_kernel_field", c_int32, _opener + (POINTER(FbField), _error)),
        ("fb_kernel_node", c_int32, _opener + (c_uint32, POINTER(c_double), _error)),
        ("fb_kernel_taps", c_int32, (c_void_p, c_void_p, _error)),
        ("fb_kernel_check", c_int32, (c_void_p, c_char_p, c_size_t, _error)),
        ("fb_session_open", c_int32, _opener + (POINTER(FbSettings), _error)),
        *((_one, c_int32, 3 * (c_void_p,) + (_error,))
          for _one in ("fb_bloom", "fb_apply_adjoint", "fb_solve", "fb_solve_adjoint")),
        ("fb_bloom_all", c_int32, _batch), ("fb_solve_all", c_int32, _batch),
        ("fb_kernel_adjoint", c_int32, (c_void_p, c_void_p, c_size_t, c_void_p, c_void_p, _error))):
    _function: Any = getattr(lib, _name)
    _function.restype, _function.argtypes = _result, _arguments


def call(function: Any, *arguments: Any) -> None:
    """Calls a function that fills in an fb_error, and raises what it says."""
    error = FbError()
    if function(*arguments, byref(error)) == 0:
        return
    raise Error(error.text.decode("utf-8", "replace"), Code(error.code), error.setting.decode() or None)


logger = logging.getLogger("fftbloom")
# Those of the library, from FB_LOG_ERROR on: error, warning, note, info, debug.
_LEVELS = (logging.ERROR, logging.WARNING, logging.INFO, logging.INFO, logging.DEBUG)


@ctypes.CFUNCTYPE(None, c_void_p, ctypes.c_int, c_char_p)  # type: ignore[misc]
def log(_user: Any, level: int, text: bytes) -> None:
    """Passes a message of the library on, from any of its threads."""
    logger.log(_LEVELS[level], "%s", text.decode("utf-8", "replace"))


def log_level() -> int:
    """Returns what the library needs to tell, as the logger is now."""
    return 4 if logger.isEnabledFor(logging.DEBUG) else 3 if logger.isEnabledFor(logging.INFO) else 1


# A forked process has none of the threads of a context. So it makes its handles again, when they are used, and does
# not close those that were made before the fork.
_generation = 0
_opening = threading.RLock()


def _forked() -> None:
    global _generation, _opening
    _generation, _opening = _generation + 1, threading.RLock()


os.register_at_fork(after_in_child=_forked)


class Handle:
    """A handle of the library, which is closed with the last reference to it.

    arguments  of the opener; handles among them stand for what they point to. A forked process opens by them again
    """

    def __init__(self, what: str, opener: Any, *arguments: Any) -> None:
        self._pointer: Optional[c_void_p] = None
        self._opener = opener
        self.kept: Any = None
        self.arguments: Optional[Tuple[Any, ...]] = arguments
        self._open()
        self._close = getattr(lib, "fb_%s_close" % what)

    def _open(self) -> None:
        if self.arguments is None:
            raise Error("this kernel was made before the process forked, and not by os.fork: make another one")
        pointer = c_void_p()
        given = [a.get() if isinstance(a, Handle) else a for a in self.arguments]
        call(self._opener, byref(pointer), *given)
        self._pointer, self._made = pointer, _generation

    def get(self) -> c_void_p:
        if self._made != _generation:
            with _opening:
                if self._made != _generation:
                    self._open()
        return self._pointer  # type: ignore[return-value]

    def __del__(self) -> None:
        if self._pointer is not None and self._made == _generation:
            self._close(self._pointer)
