"""A callback for the Trainer of Lightning."""

from __future__ import annotations

from typing import Any

try:
    from lightning.pytorch import Callback
except ImportError:  # the package of the older name
    from pytorch_lightning import Callback

from gpufathom._profiled import Metrics, StepMarks
from gpufathom.capture import Capture


class GpufathomCallback(Callback):
    """Marks every training batch as a step for `gpufathom record --kernels -- python train.py`, and
    can profile a few by itself:

        Trainer(..., callbacks=[GpufathomCallback(profile_steps=5)])

    profile_steps: batches to run under torch.profiler; their answer goes to the loggers
    (gpufathom/gpu.busy, a share from 0 to 1;
        gpufathom/idle_ms/CAUSE, milliseconds) and stays in `capture`. 0, the default, only marks.
    after: batches to leave alone before that.
    page: where to write the answer as a page of HTML.
    """

    def __init__(self, profile_steps: int = 0, after: int = 10, page: str | None = None) -> None:
        self._trainer: Any = None
        self._marks = StepMarks(after, profile_steps, page, self._log)

    @property
    def capture(self) -> Capture | None:
        return self._marks.capture

    def _log(self, metrics: Metrics) -> None:
        for logger in self._trainer.loggers:
            logger.log_metrics(metrics, step=self._trainer.global_step)

    def on_train_batch_start(
        self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int
    ) -> None:
        self._trainer = trainer
        self._marks.begin()

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        self._marks.end()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self._marks.finish()
