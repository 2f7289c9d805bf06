"""Checks whether a change made a program slower on the GPU: by the time of its kernels, with an
interval, not by wall time.

Wall time on a shared or unlocked machine varies by more than what is to be found. The time that the
kernels of a step take does not depend on how busy the host is; what is left, mostly the clocks, is
told by repeating: both versions run several times, in turns, and the interval of their ratio
decides. The decision is that of `gpufathom compare --fail-on "kernels > LIMIT"` (docs/compare.md):
an interval beyond the limit is a regression, one below it is none, any other decides nothing, and
an incomplete capture is no evidence.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import subprocess
from typing import Any, Dict, List, Sequence, Tuple, Union

from gpufathom import _places
from gpufathom._capi import Error, IncompleteEvidence, Missing
from gpufathom.capture import Capture, Path

Run = Union[Path, Capture]


class Baseline(str):
    """A file that `gpufathom compare --baseline FILE --save CAPTURE…` wrote, in the place of the
    first version's captures."""


REFUSED, UNDECIDED = 3, 4  # exit codes, docs/cli.md


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Result of the gate.

    slower: time of the second version's kernels over that of the first, less 1; 0.01 is 1 % slower.
    low, high: its 95 % interval; None where nothing tells the noise.
    limit: what was allowed.
    regressed: the interval lies above the limit.
    text: the same as a sentence.
    undecided: neither regressed nor shown to be below the limit.
    more: of an undecided verdict, about how many more captures of each version, recorded in turns,
    would decide it; None where nobody can tell.
    missing: what the captures lack, where incomplete ones were allowed.
    """

    slower: float
    low: float | None
    high: float | None
    limit: float
    regressed: bool
    text: str
    undecided: bool = False
    more: int | None = None
    missing: Tuple[Missing, ...] = ()


class Undecided(AssertionError):
    """Neither a regression nor its absence was shown; `verdict` says how many more runs would
    decide."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.text)
        self.verdict = verdict


def _path(run: Run) -> str:
    path = run.path if isinstance(run, Capture) else os.fspath(run)
    return os.path.join(".", path) if path.startswith("-") else path  # no option of the program


def _paths(runs: Run | Sequence[Run]) -> List[str]:
    return [_path(run) for run in (runs if isinstance(runs, (list, tuple)) else [runs])]  # type: ignore[arg-type]


def _said(text: str) -> str:
    """The program's messages on standard error without its verdict, which the answer has."""
    return "\n".join(line for line in text.splitlines() if "--fail-on " not in line)


def check(
    before: Run | Sequence[Run] | Baseline,
    after: Run | Sequence[Run],
    limit: float = 0.01,
    *,
    allow_incomplete: bool = False,
) -> Verdict:
    """The gate's verdict over captures with kernels. Give several of each, recorded in turns:
    A B A B A B …; a single one of each knows nothing of what differs from one start of the program
    to the next, and decides nothing below 3 %.

    Raises IncompleteEvidence when a capture is incomplete, and Error when captures cannot be
    compared, such as one that is given twice; with allow_incomplete the verdict's `missing` says
    what is not there."""
    if not limit > 0 or not math.isfinite(limit):
        raise ValueError(f"the limit must be a share above 0, such as 0.01: {limit}")
    second = _paths(after)
    if isinstance(before, Baseline):
        sides = [*second, "--baseline", _path(before)]
    else:
        sides = [*_paths(before), "--after", *second]
    words = [_places.program(), "compare", *sides, "--format", "json"]
    words += ["--fail-on", f"kernels > {100 * limit:.12g}%"]
    words += ["--allow-incomplete"] if allow_incomplete else []
    done = subprocess.run(words, capture_output=True, text=True)
    lacks = Missing.told(_said(done.stderr), second[0]) if _said(done.stderr).strip() else []
    if not done.stdout:
        raise Error("; ".join(map(str, lacks)) or f"the program ended with {done.returncode}")
    return _verdict(json.loads(done.stdout), limit, lacks, allow_incomplete)


def _verdict(
    answer: Dict[str, Any], limit: float, lacks: List[Missing], allow_incomplete: bool
) -> Verdict:
    told = answer["checks"][0]
    if lacks and not allow_incomplete:
        raise IncompleteEvidence(lacks)
    if told["outcome"] == "refused":
        raise Error(told["text"])
    undecided = told["outcome"] == "undecided"
    needed = told.get("captures_needed")
    if told["failed"]:
        said = "the kernels of a step became slower"
    elif undecided:
        said = "undecided"
    else:
        said = f"no regression of {100 * limit:.3g} % was found"
    text = f"{said}: {told['text']}{_other_kernels(answer)}"
    if lacks:
        text += "; incomplete: " + "; ".join(map(str, lacks))
    return Verdict(
        slower=_share(told["value"]) or 0.0,
        low=_share(told["low"]),
        high=_share(told["high"]),
        limit=limit,
        regressed=told["failed"],
        text=text,
        undecided=undecided,
        more=needed - answer["changes"][0]["captures"] if undecided and needed else None,
        missing=tuple(lacks),
    )


def _share(percent: float | None) -> float | None:
    return None if percent is None else percent / 100


def _other_kernels(answer: Dict[str, Any]) -> str:
    """A change may launch other kernels, and lost ones look the same: report it."""
    had, has = (sum(row["count"][run] for row in answer["kernels"]) for run in (0, 1))
    if math.isclose(had, has, rel_tol=1e-3):
        return ""
    return f"; a step has {has:.6g} kernels, and had {had:.6g}: is that intended?"


def assert_no_regression(
    before: Run | Sequence[Run] | Baseline,
    after: Run | Sequence[Run],
    limit: float = 0.01,
    *,
    allow_incomplete: bool = False,
) -> Verdict:
    """Raises AssertionError when the second version's kernels are slower, and its kind Undecided
    when that is not known; `limit` 0.01 looks for 1 %. Incomplete captures raise
    IncompleteEvidence."""
    verdict = check(before, after, limit, allow_incomplete=allow_incomplete)
    if verdict.regressed:
        raise AssertionError(verdict.text)
    if verdict.undecided:
        raise Undecided(verdict)
    return verdict


def _limit(text: str) -> float:
    value = float(text)
    if not value > 0 or not math.isfinite(value):
        raise ValueError(text)
    return value


def _say(code: int, text: str) -> int:
    """The sentence on standard output, and where GitHub shows it; gives the exit code."""
    print(text)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        with open(summary, "a", encoding="utf-8") as file:
            file.write(f"**gpufathom**: {text}\n")
        if code:
            shown = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
            print(f"::error title=gpufathom::{shown}")
    return code


def main() -> int:
    """`python -m gpufathom.gate --before A… --after B… [--limit 0.01] [--allow-incomplete]`, or
    with `--baseline FILE` in place of --before."""
    import argparse

    words = argparse.ArgumentParser(
        prog="python -m gpufathom.gate",
        description=__doc__,
        epilog="Exit codes: 0 no regression of that size, 1 a regression, 2 wrong usage, 3 refused: "
        "a capture is incomplete, cannot be read or compared, or is given twice, 4 undecided: too few runs for that "
        "limit.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    first = words.add_mutually_exclusive_group(required=True)
    first.add_argument(
        "--before", nargs="+", metavar="FILE", help="captures of the first version"
    )
    first.add_argument(
        "--baseline",
        type=Baseline,
        metavar="FILE",
        help="the first version as `gpufathom compare --baseline FILE --save` kept it",
    )
    words.add_argument(
        "--after",
        nargs="+",
        required=True,
        metavar="FILE",
        help="captures of the second version, recorded in turns with those",
    )
    words.add_argument(
        "--limit",
        type=_limit,
        default=0.01,
        metavar="SHARE",
        help="what to look for: 0.01, the default, is 1 %%",
    )
    words.add_argument(
        "--allow-incomplete",
        action="store_true",
        help="judge incomplete captures too, and say what they lack",
    )
    given = words.parse_args()
    try:
        verdict = check(
            given.baseline or given.before,
            given.after,
            given.limit,
            allow_incomplete=given.allow_incomplete,
        )
    except (Error, OSError) as error:
        return _say(REFUSED, f"refused: {error}")
    return _say(1 if verdict.regressed else UNDECIDED if verdict.undecided else 0, verdict.text)


if __name__ == "__main__":
    raise SystemExit(main())
