"""Marks the steps of a program that `gpufathom record --kernels` records; anywhere else the marks do nothing."""
import os

__version__ = "0.1.0"
__all__ = ["step"]


def _nothing():
    pass


def _bind():
    """Begins a step once the CUDA driver has loaded the recorder's library; before that there is nothing to record."""
    global _begin, _end
    import ctypes

    try:
        library = ctypes.CDLL(_library, mode=os.RTLD_NOW | os.RTLD_NOLOAD)
    except OSError:  # not loaded yet
        return
    try:
        begin, end = library.gpufathom_step_begin, library.gpufathom_step_end
    except AttributeError:  # another tool's library
        _begin = _nothing
        return
    for function in begin, end:
        function.argtypes, function.restype = (), None
    _begin, _end = begin, end
    _begin()


# The recorder names its library here before the program starts.
_library = os.environ.get("CUDA_INJECTION64_PATH")
_begin = _bind if _library and hasattr(os, "RTLD_NOLOAD") else _nothing
_end = _nothing


class step:
    """One step, a training or inference iteration:

        for batch in loader:
            with gpufathom.step():
                train(batch)

    Where it begins and ends in different places, such as two callbacks of one thread, `step.begin()` and `step.end()` do the same.
    """

    __slots__ = ()

    @staticmethod
    def begin():
        _begin()

    @staticmethod
    def end():
        _end()

    def __enter__(self):
        _begin()
        return self

    def __exit__(self, *exception):
        _end()
