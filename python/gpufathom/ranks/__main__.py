"""The command line that Slurm arrays run, one capture a task:

    #!/bin/bash
    #SBATCH --array=0-1023 --requeue
    srun python3 -m gpufathom.ranks map --list captures.txt --dataset /shared/dataset       # its line: SLURM_ARRAY_TASK_ID

    python3 -m gpufathom.ranks map --dataset dataset FILE …       a pool of processes on this machine
    python3 -m gpufathom.ranks reduce --dataset dataset           the job's answer as JSON
    python3 -m gpufathom.ranks sql --dataset dataset stragglers   one of the queries, or SQL of one's own
    python3 -m gpufathom.ranks digest --dataset dataset

map ends with 0 when every capture it was given is in the dataset, else with 1; the others are
listed. reduce refuses with 3 when a capture is incomplete or a rank is missing; --allow-incomplete
answers all the same, and ends with 1.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
from typing import List

from gpufathom import ranks
from gpufathom.ranks.program import REFUSED, Failure, Incomplete


def _paths(options: argparse.Namespace) -> List[str]:
    paths: List[str] = list(options.paths)
    if not options.list:
        return paths
    listed = [line for line in pathlib.Path(options.list).read_text().splitlines() if line]
    task = os.environ.get("SLURM_ARRAY_TASK_ID")
    if task is None:
        return paths + listed
    # An array smaller than the list takes every n-th line.
    count = int(os.environ.get("SLURM_ARRAY_TASK_COUNT", len(listed)))
    first = int(os.environ.get("SLURM_ARRAY_TASK_MIN", 0))
    return paths + listed[int(task) - first::count]


def _map(options: argparse.Namespace) -> int:
    paths = _paths(options)
    alone = len(paths) == 1
    report = [ranks.map_rank(paths[0], options.dataset)] if alone else ranks.map_all(paths, options.dataset, options.workers)
    for row in report:
        print(json.dumps(row.row()))
    return 1 if any(row.error for row in report) else 0


def main(arguments: List[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m gpufathom.ranks", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    for name in ("map", "reduce", "sql", "digest"):
        verbs.add_parser(name).add_argument("--dataset", required=True)
    verbs.choices["map"].add_argument("paths", nargs="*")
    verbs.choices["map"].add_argument("--list", help="file with a capture's path on each line")
    verbs.choices["map"].add_argument("--workers", type=int)
    verbs.choices["reduce"].add_argument("--rows", type=int, default=200,
                                         help="collectives kept in the answer")
    verbs.choices["reduce"].add_argument("--allow-incomplete", action="store_true",
                                         help="answer although captures are incomplete or ranks are missing")
    verbs.choices["sql"].add_argument("query", help=f"{', '.join(ranks.QUERIES)}, or SQL")
    options = parser.parse_args(arguments)
    try:
        if options.verb == "map":
            return _map(options)
        if options.verb == "reduce":
            answer = ranks.reduce(options.dataset, options.rows,
                                  allow_incomplete=options.allow_incomplete)
            print(json.dumps(answer))
            return 1 if answer["failed"] or answer["missing_ranks"] else 0
        if options.verb == "sql":
            for row in ranks.sql(options.dataset, ranks.QUERIES.get(options.query, options.query)):
                print("\t".join("" if value is None else str(value) for value in row))
        else:
            print(ranks.digest(options.dataset))
        return 0
    except Incomplete as error:
        print(f"gpufathom: {error}", file=sys.stderr)
        return REFUSED
    except (Failure, OSError) as error:
        print(f"gpufathom: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
