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


# --- structs, as in fftbloom.h ---------------------------------------------------------------------

class FbError(ctypes.Structure):
    _fields_ = [("code", c_int32), ("setting", c_char * 60), ("text", c_char * 960)]


class FbPlane(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("pixel_stride", c_ssize_t), ("row_stride", c_ssize_t), ("type", c_int32),
                ("reserved", c_uint32)]


class FbContextOptions(ctypes.Structure):
    _fields_ = [("size", c_uint32), ("threads", c_uint32), ("mem_limit", c_uint64), ("vram_limit", c_uint64),
                ("cache_size", c_uint64), ("device", c_char_p), ("cache_dir", c_char_p), ("kernels", c_char_p),
                ("log", c_void_p), ("log_level", c_int32), ("reserved", c_uint32), ("alloc", c_void_p),
                ("release", c_void_p), ("user", c_void_p)]


class FbSettings(ctypes.Structure):
    _fields_ = [("size", c_uint32), ("verify", c_uint32), ("amount", c_double), ("tolerance", c_double),
                ("threshold", c_double), ("knee", c_double), ("kernel_scale", c_double), ("center_x", c_double),
                ("center_y", c_double), ("kernel_center", c_int32), ("normalize", c_int32), ("correlate", c_int32),
                ("padding_x", c_int32), ("padding_y", c_int32), ("precision", c_int32), ("nan", c_int32),
                ("half_overflow", c_int32), ("alpha", c_int32), ("emit", c_int32), ("tint", c_double * 3),
                ("kernel_turn", c_double), ("core", c_double)]


class FbImage(ctypes.Structure):
    _fields_ = [("size", c_uint32), ("width", c_uint32), ("height", c_uint32), ("channels", c_uint32),
                ("in_", c_void_p), ("out", c_void_p), ("progress", c_void_p), ("user", c_void_p),
                ("mask", c_void_p), ("emit", c_void_p), ("session", c_void_p), ("pixel_aspect", c_double),
                ("space", c_char_p)]


class FbReport(ctypes.Structure):
    _fields_ = [("size", c_uint32), ("kept", c_int32), ("error", c_double), ("allowed", c_double),
                ("energy_in", c_double), ("energy_out", c_double), ("bad_pixels", c_uint64), ("clamped", c_uint64),
                ("seconds", c_double), ("attempts", c_uint32), ("precision", c_int32), ("device", c_char * 128),
                ("note", c_char * 256), ("lengths", c_uint32 * 2), ("tiles", c_uint32), ("steps", c_uint32),
                ("worst", c_uint32 * 3), ("reserved", c_uint32)]


# --- the library -----------------------------------------------------------------------------------

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


def _declare(name: str, result: Any, *arguments: Any) -> None:
    function = getattr(lib, name)
    function.restype, function.argtypes = result, arguments


_declare("fb_version", c_char_p)
for _name, _arguments in {
    "fb_context_open": (POINTER(c_void_p), POINTER(FbContextOptions), POINTER(FbError)),
    "fb_kernel_open": (POINTER(c_void_p), c_void_p, c_char_p, POINTER(FbError)),
    "fb_kernel_copy": (POINTER(c_void_p), c_void_p, c_uint32, c_uint32, c_uint32, c_void_p, POINTER(FbError)),
    "fb_kernel_make": (POINTER(c_void_p), c_void_p, c_char_p, POINTER(FbError)),
    "fb_kernel_taps": (c_void_p, c_void_p, POINTER(FbError)),
    "fb_kernel_check": (c_void_p, c_char_p, c_size_t, POINTER(FbError)),
    "fb_session_open": (POINTER(c_void_p), c_void_p, POINTER(FbSettings), POINTER(FbError)),
    "fb_bloom": (c_void_p, c_void_p, c_void_p, POINTER(FbError)),
    "fb_bloom_all": (c_void_p, c_void_p, c_size_t, c_void_p, POINTER(FbError)),
    "fb_apply_adjoint": (c_void_p, c_void_p, c_void_p, POINTER(FbError)),
    "fb_solve": (c_void_p, c_void_p, c_void_p, POINTER(FbError)),
    "fb_solve_all": (c_void_p, c_void_p, c_size_t, c_void_p, POINTER(FbError)),
    "fb_solve_adjoint": (c_void_p, c_void_p, c_void_p, POINTER(FbError)),
    "fb_kernel_adjoint": (c_void_p, c_void_p, c_size_t, c_void_p, c_void_p, POINTER(FbError)),
}.items():
    _declare(_name, c_int32, *_arguments)
_declare("fb_context_used", c_uint64, c_void_p)
_declare("fb_kernel_size", None, c_void_p, POINTER(c_uint32), POINTER(c_uint32), POINTER(c_uint32))
_declare("fb_settings_init", None, POINTER(FbSettings), c_uint32)
for _name in ("fb_context_close", "fb_kernel_close", "fb_session_close"):
    _declare(_name, None, c_void_p)


def call(function: Any, *arguments: Any) -> None:
    """Calls a function that fills in an fb_error, and raises what it says."""
    error = FbError()
    if function(*arguments, byref(error)) == 0:
        return
    raise Error(error.text.decode("utf-8", "replace"), Code(error.code), error.setting.decode() or None)


# --- messages --------------------------------------------------------------------------------------

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


# --- handles ---------------------------------------------------------------------------------------

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
