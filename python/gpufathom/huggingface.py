"""A callback for the Trainer of Hugging Face transformers."""

from __future__ import annotations

from typing import Any

import transformers

from gpufathom._profiled import Metrics, StepMarks
from gpufathom.capture import Capture


class GpufathomCallback(transformers.TrainerCallback):
    """Marks every step for `gpufathom record --kernels -- python train.py`, and can profile a few
    by itself:

        Trainer(..., callbacks=[GpufathomCallback(profile_steps=5)])

    profile_steps: steps to run under torch.profiler; their answer goes into the Trainer's log
    (gpufathom/gpu.busy, a share from 0
        to 1; gpufathom/idle_ms/CAUSE, milliseconds) and stays in `capture`. 0, the default, only
        marks.
    after: steps to leave alone before that.
    page: where to write the answer as a page of HTML.
    """

    def __init__(self, profile_steps: int = 0, after: int = 10, page: str | None = None) -> None:
        self._logs: Metrics = {}
        self._marks = StepMarks(after, profile_steps, page, self._logs.update)

    @property
    def capture(self) -> Capture | None:
        return self._marks.capture

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._marks.begin()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        self._marks.end()
        if self._logs:
            control.should_log = True
        return control

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        if self._logs and logs is not None:
            logs.update(self._logs)
            if state.log_history:
                state.log_history[-1].update(self._logs)
            self._logs.clear()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._marks.finish()
