"""GPU utilization of programs: captures, recordings and comparisons in Python.

    import gpufathom as gf

    run = gf.open("trace.json.gz", counters="report.ncu-rep")
    run.levels(), run.idle(), run.findings()       typed results, names and units of the JSON
    run.kernels[:10], run.kernels.to_pandas()      tables, with the operator and module of each
    run.query("select count(*) from activities")   SQL over the tables
    gf.compare(before, after)                      attribute the difference; .page() is HTML
    with gf.record("run.gpf"): train()             samples of this machine's GPUs
    with gf.step(): train(batch)                   marks a step for `gpufathom record --kernels`
    run.figure("waterfall")                        matplotlib; backend="vega" needs no package

In a notebook an open run shows itself as the report's page. The marks do nothing where nothing is
recorded, and importing the package loads nothing else.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gpufathom._capi import Error, IncompleteEvidence
    from gpufathom.capture import Capture, Table
    from gpufathom.gate import Undecided, assert_no_regression
    from gpufathom.run import analyze, compare, open, record, what_if_job

__version__ = "0.1.0"
__all__ = [
    "Capture",
    "Error",
    "IncompleteEvidence",
    "Table",
    "Undecided",
    "analyze",
    "assert_no_regression",
    "compare",
    "open",
    "record",
    "step",
    "what_if_job",
]

_PLACES = {
    "Capture": "capture",
    "Table": "capture",
    "Error": "_capi",
    "IncompleteEvidence": "_capi",
    "Undecided": "gate",
    "assert_no_regression": "gate",
    "analyze": "run",
    "compare": "run",
    "open": "run",
    "record": "run",
    "what_if_job": "run",
}


def __getattr__(name):  # type: ignore[no-untyped-def]
    """Loads everything but marks on first use."""
    if name not in _PLACES:
        raise AttributeError(f"module 'gpufathom' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"gpufathom.{_PLACES[name]}"), name)


def __dir__() -> "list[str]":
    """The names that completion shows."""
    return sorted([*__all__, "__version__"])


def _nothing() -> None:
    pass


def _lost() -> None:
    """Begins a step that `gpufathom.record` around it does not see."""
    global _begin
    _begin = _nothing
    import warnings

    warnings.warn(
        "gpufathom.record samples the GPU from outside the process and sees no steps: run the "
        "program under `gpufathom record --kernels -- python ...` to record them",
        stacklevel=3,
    )


def _steps_are_lost(lost: bool) -> None:
    """Makes marks do nothing where no recorder's library takes them."""
    global _begin
    if _begin in (_nothing, _lost):
        _begin = _lost if lost else _nothing


def _bind() -> None:
    """Begins a step once the CUDA driver has loaded the recorder's library; before that there is
    nothing to record."""
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

    Where it begins and ends in different places, such as two callbacks of one thread,
    `step.begin()` and `step.end()` do the same.
    """

    __slots__ = ()

    @staticmethod
    def begin() -> None:
        _begin()

    @staticmethod
    def end() -> None:
        _end()

    def __enter__(self) -> "step":
        _begin()
        return self

    def __exit__(self, *exception: object) -> None:
        _end()
