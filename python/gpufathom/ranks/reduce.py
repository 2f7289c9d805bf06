"""From the tables of a dataset to the job's answer."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
from typing import Any

from gpufathom.ranks import dataset as tables
from gpufathom.ranks import program


def failed_of(dataset: tables.Path) -> list[dict[str, Any]]:
    """Captures that could not be read, and why."""
    found = [json.loads(path.read_text())
             for path in (pathlib.Path(dataset) / "failed").glob("*.json")]
    return sorted(found, key=lambda row: row["path"])


def reduce(dataset: tables.Path, rows: int = 200, *,
           allow_incomplete: bool = False) -> dict[str, Any]:
    """The answer of `gpufathom ranks --format json` over every rank of the dataset, with the
    collectives that have most waiting. `failed` lists captures that could not be read. Raises
    program.Failure where there is no answer: no rank, or ranks of several jobs; and its kind program.Incomplete when a capture is incomplete or a rank is missing, unless `allow_incomplete`."""
    parts = tables.part_files(dataset)
    if not parts:
        raise program.Failure(f"{dataset}: contains no rank")
    failed = failed_of(dataset)
    if failed and not allow_incomplete:
        raise program.Incomplete("; ".join(row["error"] for row in failed))
    with tempfile.NamedTemporaryFile(suffix=".jsonl.zst", dir=os.environ.get("TMPDIR")) as file:
        for part in parts:
            file.write(part.read_bytes())
        file.flush()
        words = ["ranks", file.name, "--format", "json", "--rows", rows]
        text, complaint, code = program.run(*words,
                                            *(["--allow-incomplete"] if allow_incomplete else []))
    if code == program.REFUSED:
        raise program.Incomplete(complaint)
    if not text:
        raise program.Failure(complaint)
    answer: dict[str, Any] = json.loads(text)
    answer["failed"] = failed
    return answer
