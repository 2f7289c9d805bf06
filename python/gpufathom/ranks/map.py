"""From captures to tables, on one machine; the engines' shims call map_rank()."""
import hashlib
import json
import multiprocessing
import os
import pathlib
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass

from gpufathom.ranks import dataset as tables
from gpufathom.ranks import program


@dataclass
class Mapped:
    """What became of one capture."""

    path: str
    key: str = ""
    ranks: int = 0
    seconds: float = 0.0
    done_before: bool = False
    error: str = ""

    def row(self):
        return asdict(self)


def map_rank(path, dataset, threads=1):
    """Puts the tables of one capture into the dataset. Running it again does nothing. A capture that cannot be read is an
    answer too: its error is kept in dataset/failed. Errors of the place (no disk space, no program) are raised: engines retry them."""
    import time

    begin = time.monotonic()
    path = str(path)
    failed = _failed_file(dataset, path)
    try:
        key = tables.key_of(path, program.version())
    except OSError as error:
        return _fail(failed, path, "", f"{path}: {error.strerror}", begin)
    if tables.is_there(dataset, key):
        failed.unlink(missing_ok=True)
        return Mapped(path, key, 1, time.monotonic() - begin, True)
    text, complaint, _ = program.run("ranks", "--map", path, threads=threads)
    lines = [line for line in text.splitlines() if line]
    if not lines:
        return _fail(failed, path, key, complaint or f"{path}: gives no rank", begin)
    tables.write_tables(dataset, key, tables.tables_of(lines, key))
    failed.unlink(missing_ok=True)
    return Mapped(path, key, len(lines), time.monotonic() - begin)


def _failed_file(dataset, path):
    name = hashlib.sha256(os.path.abspath(path).encode()).hexdigest()[:40]
    return pathlib.Path(dataset) / "failed" / f"{name}.json"


def _fail(file, path, key, error, begin):
    import time

    row = Mapped(path, key, 0, time.monotonic() - begin, False, error)
    tables.write_whole(file, lambda draft: pathlib.Path(draft).write_text(json.dumps({"path": path, "error": error}) + "\n"))
    return row


def map_all(paths, dataset, workers=None, retries=2):
    """Maps captures in a pool of processes; gives a Mapped for each, in the order of `paths`. A worker that is killed takes
    nothing with it: what it had begun is tried again, `retries` times, then listed as failed."""
    paths = [str(path) for path in paths]
    workers = workers or len(os.sched_getaffinity(0))
    results = {}
    for attempt in range(retries + 1):
        left = [path for path in paths if path not in results]
        if not left:
            break
        # After a death the culprit is not known: one at a time tells.
        alone = attempt == retries
        results.update(_one_round(left, dataset, 1 if alone else workers, alone))
    for path in paths:
        if path not in results:
            results[path] = Mapped(path, error=f"{path}: the worker ended without an answer, {retries + 1} times")
    return [results[path] for path in paths]


def _one_round(paths, dataset, workers, alone):
    results = {}
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
