"""Common code of the callbacks: marks on every step, and a few steps under torch.profiler whose
answer is logged."""

from __future__ import annotations

import warnings
from typing import Any, Callable, Dict

import gpufathom
from gpufathom.capture import Capture

Metrics = Dict[str, float]


def metrics_of(capture: Capture) -> Metrics:
    """The answer as numbers for a training log: levels as shares from 0 to 1, idle time by cause in
    milliseconds of the window."""
    found: Metrics = {
        f"gpufathom/{level.id}": level.value
        for level in capture.levels()
        if level.value is not None
    }
    for cause in capture.idle():
        name = f"gpufathom/idle_ms/{cause.cause}"
        found[name] = found.get(name, 0.0) + cause.ns / 1e6
    return found


class StepMarks:
    """Marks steps; profiles those from `first` on, `count` of them, when count is above 0."""

    def __init__(
        self, first: int, count: int, page: str | None, log: Callable[[Metrics], None]
    ) -> None:
        self._first, self._count, self._page, self._log = first, count, page, log
        self._done = 0
        self._profiler: Any = None
        self.capture: Capture | None = None

    def begin(self) -> None:
        if self._count and self._done == self._first and self._profiler is None:
            import torch

            self._profiler = torch.profiler.profile()
            self._profiler.start()
        gpufathom.step.begin()

    def end(self) -> None:
        gpufathom.step.end()
        self._done += 1
        if self._profiler is None:
            return
        self._profiler.step()
        if self._done == self._first + self._count:
            self.finish()

    def finish(self) -> None:
        """Ends the profile and logs its answer."""
        profiler, self._profiler, self._count = self._profiler, None, 0
        if profiler is None:
            return
        profiler.stop()
        try:
            self.capture = gpufathom.analyze(profiler, allow_incomplete=True)
            for row in self.capture.missing:
                warnings.warn(f"gpufathom: the profile is incomplete: {row}", stacklevel=2)
            self._log(metrics_of(self.capture))
        except gpufathom.Error as error:  # no reason to end a training run
            warnings.warn(f"gpufathom: {error}", stacklevel=2)
            return
        if self._page:
            with open(self._page, "w", encoding="utf-8") as file:
                file.write(self.capture.page())
