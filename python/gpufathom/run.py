"""Opening, comparing and recording runs."""

from __future__ import annotations

import os
import pathlib
import subprocess
import tempfile
from types import TracebackType
from typing import Any, ClassVar, Sequence, Tuple

import gpufathom
from gpufathom import _places, _program, results
from gpufathom._capi import Error
from gpufathom.capture import Capture, Path, framed


def open(
    path: Path,
    *,
    counters: Path | None = None,
    power: Path | None = None,
    graphs: Sequence[Path] = (),
    window: str | None = None,
    batch: int = 0,
    energy_model: Path | None = None,
    devices: str | None = None,
    allow_incomplete: bool = False,
) -> Capture:
    """Reads a trace or capture of any format that `gpufathom analyze` reads.

    path: a trace (PyTorch, JAX, TensorFlow, Nsight Systems), a recording (.gpf) or a log of
    samples. counters: a report of Nsight Compute of the same program.
    power: a power log over the same time, CSV of nvidia-smi or NVML.
    graphs: traces of the same program that capture its CUDA graphs, or run without them: they tell
    their kernels' operators. window: all, steps, stable, step:N or START:END, as `--window` has it;
    None for the default. batch: items of a step, for times and energies per item.
    energy_model: a file that `gpufathom calibrate -o` wrote; None for the one shipped for the
    capture's GPU. devices: all, or numbers such as "0,2"; None for those with work.
    allow_incomplete: take an incomplete capture, too; its `missing` says what it lacks.

    Raises gpufathom.Error, which says what is wrong, where, and what to do, and its kind
    gpufathom.IncompleteEvidence for an incomplete capture.
    """
    return Capture(
        path,
        counters=counters,
        power=power,
        graphs=graphs,
        window=window,
        batch=batch,
        energy_model=energy_model,
        devices=devices,
        allow_incomplete=allow_incomplete,
    )


class Comparison(results.Comparison):
    """The answer of `gpufathom compare`, with its page."""

    _words: ClassVar[Tuple[str, ...]] = ()

    def page(self) -> str:
        """The comparison as one HTML page that works offline."""
        return _program.text(*self._words, allow_incomplete=True, form="html")

    def _repr_html_(self) -> str:
        return framed(self.page())

    def __repr__(self) -> str:
        told = []
        for change in self.changes:
            name, verdict = self.runs[change.run].label, change.verdict.replace("_", " ")
            times = "" if change.ratio is None else f", {change.ratio:.3f} x the time of a {change.of}"
            told.append(f"{name}: {verdict}{times}")
        return f"<gpufathom.Comparison with {self.runs[0].label}: {'; '.join(told)}>"


def what_if_job(
    folder: Path, rank: int | None = None, micro_batches: float = 1
) -> dict[str, Any]:
    """The job of a folder of ranks with each rank as its peers and each slow link as its like, as
    `gpufathom whatif FOLDER` answers it (docs/whatif.md): gains in nanoseconds of the job. `rank`:
    this one alone, its kernels, host and input one by one; `micro_batches`: so many times as many."""
    words = ["whatif", os.fspath(folder)]
    if rank is not None:
        words += ["--rank", str(rank)]
    if micro_batches != 1:
        words += ["--micro-batches", f"{micro_batches:g}"]
    answer: dict[str, Any] = _program.answer(*words, allow_incomplete=False)
    return answer


def compare(
    first: Path | Capture,
    *others: Path | Capture,
    window: str | None = None,
    allow_incomplete: bool = False,
    graphs: Sequence[Path] = (),
    devices: str | None = None,
) -> Comparison:
    """Attributes the difference between runs, as `gpufathom compare` does; times of a step in
    nanoseconds. `graphs` of an open run count for all.
    Raises gpufathom.IncompleteEvidence when a run is incomplete; with allow_incomplete that is a warning."""
    runs = (first, *others)
    if len(runs) < 2:
        raise ValueError("compare requires two runs or more")
    paths = [run.path if isinstance(run, Capture) else os.fspath(run) for run in runs]
    words = ["compare", *paths, *(["--window", window] if window else [])]
    words += ["--devices", devices] if devices else []
    told = [os.fspath(graph) for graph in graphs]
    told += [graph for run in runs if isinstance(run, Capture) for graph in run._graphs]
    for graph in dict.fromkeys(told):
        words += ["--graphs", graph]
    answer = Comparison.from_dict(_program.answer(*words, allow_incomplete=allow_incomplete))
    object.__setattr__(answer, "_words", tuple(words))  # a frozen dataclass
    return answer


def analyze(
    profiler: Any,
    *,
    window: str | None = None,
    batch: int = 0,
    devices: str | None = None,
    allow_incomplete: bool = False,
) -> Capture:
    """The run that a `torch.profiler.profile` has recorded, once it has stopped:

    with torch.profiler.profile() as profiler:
        train()
    print(gpufathom.analyze(profiler).findings())
    """
    with tempfile.TemporaryDirectory(prefix="gpufathom-") as folder:
        trace = str(pathlib.Path(folder) / "torch-profiler.json")
        profiler.export_chrome_trace(trace)
        return Capture(
            trace, window=window, batch=batch, devices=devices, allow_incomplete=allow_incomplete
        )


class record:
    """Records this machine's GPUs from outside the process while a block runs: levels, power and
    clocks a thousand times a second.

        with gpufathom.record("run.gpf") as recording:
            train()
        recording.open().levels()

    Kernels, launches and the steps of `gpufathom.step` need a library that goes into a program
    before it starts: `gpufathom record --kernels -- python train.py`. A step says so here, once.

    path: the capture file to write; an older one is replaced.
    rate: samples a second.
    devices: 0,2-3, UUIDs, or all.
    """

    def __init__(self, path: Path, *, rate: float = 1000, devices: str = "all") -> None:
        self.path = os.fspath(path)
        self._words = ["--rate", str(rate), "--devices", devices, "-q", "-o", self.path]
        self._recorder: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Returns once samples are taken."""
        # The recorder's program says that it runs, and ends when nobody holds the other end of its
        # input any more.
        words = [
            _places.program(),
            "record",
            *self._words,
            "--",
            "/bin/sh",
            "-c",
            "echo; exec cat >/dev/null",
        ]
        self._recorder = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self._recorder.stdout is not None
        gpufathom._steps_are_lost(True)
        if not self._recorder.stdout.readline():
            self.stop()

    def stop(self) -> None:
        """Writes the capture. Raises gpufathom.Error when nothing could be recorded."""
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return
        gpufathom._steps_are_lost(False)
        _, said = recorder.communicate()
        if recorder.returncode:
            raise Error(said.strip() or f"the recorder ended with {recorder.returncode}")

    def open(self, **options: Any) -> Capture:
        """The capture that was written; options are those of gpufathom.open."""
        return Capture(self.path, **options)

    def __enter__(self) -> record:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.stop()
