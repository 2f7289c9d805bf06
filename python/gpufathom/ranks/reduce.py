"""From the tables of a dataset to the job's answer."""
import json
import os
import pathlib
import tempfile

from gpufathom.ranks import dataset as tables
from gpufathom.ranks import program


def failed_of(dataset):
    """Captures that could not be read, and why."""
    found = [json.loads(path.read_text()) for path in (pathlib.Path(dataset) / "failed").glob("*.json")]
    return sorted(found, key=lambda row: row["path"])


def reduce(dataset, rows=200):
    """The answer of `gpufathom ranks --format json` over every rank of the dataset, with the collectives that have most waiting.
    `failed` lists captures that could not be read. Raises program.Failure where there is no answer: no rank, or ranks of several jobs."""
    parts = tables.parts_of(dataset)
    if not parts:
        raise program.Failure(f"{dataset}: holds no rank")
    with tempfile.NamedTemporaryFile(suffix=".jsonl", dir=os.environ.get("TMPDIR")) as file:
        for part in parts:
            file.write(part + b"\n")
        file.flush()
        del parts
        text, complaint, _ = program.run("ranks", file.name, "--format", "json", "--rows", rows)
    if not text:
        raise program.Failure(complaint)
    answer = json.loads(text)
    answer["failed"] = failed_of(dataset)
    return answer
