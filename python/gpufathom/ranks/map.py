"""From captures to tables, on one machine; the engines' shims call map_rank()."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import pathlib
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from typing import Any, Iterable, List

from gpufathom.ranks import dataset as tables
from gpufathom.ranks import program


@dataclass
class Mapped:
    """The outcome of one capture."""

    path: str
    key: str = ""
    ranks: int = 0
    seconds: float = 0.0
    done_before: bool = False
    error: str = ""

    def row(self) -> dict[str, Any]:
        return asdict(self)


def map_rank(path: tables.Path, dataset: tables.Path, threads: int = 1) -> Mapped:
    """Puts the tables of one capture into the dataset. Running it again does nothing. A capture
    that cannot be read is an answer too: its error is kept in dataset/failed. Errors of the place (no disk space, no program) are raised: engines retry them."""
    import time

    begin = time.monotonic()
    name = str(path)
    failed = _failed_file(dataset, name)
    try:
        key = tables.key_of(name, program.version())
    except OSError as error:
        return _fail(failed, name, "", f"{name}: {error.strerror}", begin)
    if tables.is_there(dataset, key):
        failed.unlink(missing_ok=True)
        return Mapped(name, key, 1, time.monotonic() - begin, True)
    text, complaint, _ = program.run("ranks", "--map", name, threads=threads)
    lines = [line for line in text.splitlines() if line]
    if not lines:
        return _fail(failed, name, key, complaint or f"{name}: gives no rank", begin)
    tables.write_ranks(dataset, key, lines)
    failed.unlink(missing_ok=True)
    return Mapped(name, key, len(lines), time.monotonic() - begin)


def _failed_file(dataset: tables.Path, path: str) -> pathlib.Path:
    name = hashlib.sha256(os.path.abspath(path).encode()).hexdigest()[:40]
    return pathlib.Path(dataset) / "failed" / f"{name}.json"


def _fail(file: pathlib.Path, path: str, key: str, error: str, begin: float) -> Mapped:
    import time

    row = Mapped(path, key, 0, time.monotonic() - begin, False, error)
    text = json.dumps({"path": path, "error": error}) + "\n"
    tables.write_whole({file: lambda draft: draft.write(text.encode())})
    return row


def map_all(
    paths: Iterable[tables.Path], dataset: tables.Path, workers: int | None = None, retries: int = 2
) -> List[Mapped]:
    """Maps captures in a pool of processes; gives a Mapped for each, in the order of `paths`. A
    worker that is killed takes nothing with it: what it had begun is tried again, `retries` times, then listed as failed."""
    names = [str(path) for path in paths]
    workers = workers or len(os.sched_getaffinity(0))
    results: dict[str, Mapped] = {}
    for attempt in range(retries + 1):
        left = [name for name in names if name not in results]
        if not left:
            break
        # After a death the culprit is not known: one at a time tells.
        alone = attempt == retries
        results.update(_one_round(left, dataset, 1 if alone else workers, alone))
    for name in names:
        if name not in results:
            results[name] = Mapped(name,
                                   error=f"{name}: the worker ended without an answer, {retries + 1} times")
    return [results[name] for name in names]


def _one_round(paths: List[str], dataset: tables.Path, workers: int,
               alone: bool) -> dict[str, Mapped]:
    results: dict[str, Mapped] = {}
    groups = [[path] for path in paths] if alone else [paths]
    for group in groups:
        with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
            waiting = {pool.submit(map_rank, path, dataset): path for path in group}
            for future in as_completed(waiting):
                try:
                    results[waiting[future]] = future.result()
                except BrokenProcessPool:
                    continue
    return results
