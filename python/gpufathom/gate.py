"""Whether a change made a program slower on the GPU: by the time of its kernels, with an interval,
not by wall time.

Wall time on a shared or unlocked machine varies by more than what is to be found. The time that the
kernels of a step take does not depend on how busy the host is; what is left, mostly the clocks, is
told by repeating: both versions run several times, in turns, and the interval of their ratio
decides. The estimate and the interval are in logarithms, so that 1 % slower and 1 % faster are
alike. An interval that holds both "no slower" and "slower than the limit" decides nothing, and an incomplete capture is no evidence.
"""

from __future__ import annotations

import bisect
import csv
import dataclasses
import functools
import io
import json
import math
import os
import statistics
import subprocess
from typing import List, Sequence, Tuple, Union

from gpufathom import _places
from gpufathom._capi import Error, IncompleteEvidence, Missing
from gpufathom.capture import Capture, Path

Run = Union[Path, Capture]
CONFIDENCE = 0.99
REFUSED, UNDECIDED = 3, 4  # exit codes, docs/cli.md
_MOST_RUNS = 1000  # more are nothing to ask for


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What the gate says.

    slower: time of the second version's kernels over that of the first, less 1; 0.01 is 1 % slower.
    low, high: bounds of the same with 98 % confidence, so that 1 % lie below `low`; None with a
    single value of each.
    limit: what was allowed.
    regressed: `low` is above 0 and `slower` above half of the limit.
    text: the same as a sentence.
    undecided: neither regressed nor shown to be below the limit, which `high` has to be for that.
    more: of an undecided verdict, about how many more values of each version would decide it; None
    where nobody can tell.
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
    """Neither a regression nor its absence was shown; `verdict` says how many more runs would decide."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.text)
        self.verdict = verdict


@dataclasses.dataclass(frozen=True)
class _Steps:
    """Of each step its kernels: their time in nanoseconds, and how many they are."""

    path: str
    marked: bool  # False: the capture has no marked steps, and counts as one
    times: List[float]
    kernels: List[int]
    missing: Tuple[Missing, ...]


def _path(run: Run) -> str:
    path = run.path if isinstance(run, Capture) else os.fspath(run)
    return os.path.join(".", path) if path.startswith("-") else path  # no option of the program


def _ask(path: str, *words: str) -> Tuple[str, List[Missing]]:
    """The program's result, and by its exit code what it lacks."""
    done = subprocess.run([_places.program(), *words], capture_output=True, text=True)
    if not done.returncode:
        return done.stdout, []
    said = done.stderr.strip() or f"the program ended with {done.returncode}"
    missing = Missing.told(said, path)
    if not done.stdout:
        raise Error("; ".join(map(str, missing)))
    return done.stdout, missing


def _rows(path: str, question: str) -> List[List[str]]:
    answer, _ = _ask(path, "query", path, question, "--format", "csv")
    return list(csv.reader(io.StringIO(answer)))[1:]


def _marked_steps(answer: str) -> List[Tuple[int, int]]:
    """The marked steps of the program, mapped to the device. Where nothing is
    marked the whole capture is one: what repeats in one version may not do so in the other."""
    window = json.loads(answer)["window"]
    if window["step_source"] == "none" or window["step_source"].startswith("period"):
        return []
    steps = window["all_steps"]
    # Start-up and outliers are no steps to compare.
    ordinary = [step for step in steps if step["role"] == "ordinary"] or steps
    return [(step["start_ns"], step["start_ns"] + step["duration_ns"]) for step in ordinary]


def _steps(run: Run, allow_incomplete: bool) -> _Steps:
    path = _path(run)
    # What is not whole shows in an analysis alone, such as launches without kernels.
    answer, missing = _ask(path, "analyze", path, "--format", "json", "--rows", "1")
    if missing and not allow_incomplete:
        raise IncompleteEvidence(missing)
    asked = "select start_ns, duration_ns from kernels order by 1"
    kernels = [(int(start), int(took)) for start, took in _rows(path, asked)]
    if not kernels:
        raise Error(
            f"{path}: contains no kernels: record with `gpufathom record --kernels`, or a profiler"
        )
    marked = _marked_steps(answer)
    spans = marked or [(kernels[0][0], kernels[-1][0] + 1)]
    starts = [start for start, _ in spans]
    times, counts = [0] * len(spans), [0] * len(spans)
    for start, took in kernels:
        at = bisect.bisect_right(starts, start) - 1
        if at >= 0 and start < spans[at][1]:
            times[at] += took
            counts[at] += 1
    kept = [at for at in range(len(spans) // 10, len(spans)) if times[at] > 0]
    if not kept:
        raise Error(f"{path}: no kernel of its steps took any time")
    return _Steps(
        path,
        bool(marked),
        [float(times[at]) for at in kept],
        [counts[at] for at in kept],
        tuple(missing),
    )


def kernel_times(run: Run, *, allow_incomplete: bool = False) -> List[float]:
    """Nanoseconds that the kernels of each step take, without the first tenth of the steps. A run
    without marked steps counts as one."""
    return _steps(run, allow_incomplete).times


@functools.lru_cache(maxsize=None)
def quantile_of_t(freedom: int, share: float = CONFIDENCE) -> float:
    """The value below which Student's t lies with probability `share`.

    >>> round(quantile_of_t(9), 3)
    2.821
    """
    low, high = 0.0, 1000.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _share_below(middle, freedom) < share else (low, middle)
    return low


def _share_below(value: float, freedom: int) -> float:
    """By Simpson's rule over the angle, in which the density is a power of the cosine."""
    angle, pieces = math.atan(value / math.sqrt(freedom)), 400
    width = angle / pieces

    def power(at: float) -> float:
        return math.cos(at) ** (freedom - 1)

    odd = math.fsum(power((2 * i + 1) * width) for i in range(pieces // 2))
    even = math.fsum(power(2 * i * width) for i in range(1, pieces // 2))
    area = (power(0) + 4 * odd + 2 * even + power(angle)) * width / 3
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    return 0.5 + scale * area


def decide(
    before: Sequence[float],
    after: Sequence[float],
    limit: float = 0.01,
    paired: bool | None = None,
    of: str = "run",
) -> Verdict:
    """The verdict over the kernel times of runs, which alternated: before[i] and after[i] ran one
    after the other. Lists of different lengths are compared as two groups. `of` names what the
    values are of.

    >>> decide([100, 101, 100, 99], [103, 104, 103, 102]).regressed
    True
    >>> decide([100, 101, 100, 99], [100, 101, 100.1, 99]).undecided
    False
    >>> verdict = decide([100, 104, 97], [117, 110, 124])
    >>> verdict.regressed, verdict.undecided, verdict.more
    (False, True, 3)
    """
    if not limit > 0 or not math.isfinite(limit):
        raise ValueError(f"the limit must be a share above 0, such as 0.01: {limit}")
    first, second = [math.log(value) for value in before], [math.log(value) for value in after]
    estimate = statistics.fmean(second) - statistics.fmean(first)
    pairs = len(first) == len(second) if paired is None else paired
    error, freedom = _error(first, second, pairs)
    slower = math.expm1(estimate)
    low: float | None = None
    high: float | None = None
    more: int | None = None
    regressed = sound = False
    if error is not None:
        reach = quantile_of_t(freedom) * error
        low, high = math.expm1(estimate - reach), math.expm1(estimate + reach)
        regressed = low > 0 and slower > limit / 2
        sound = high < limit
        if not regressed and not sound:
            more = _more(first, second, pairs, _deciding(estimate, limit))
    verdict = Verdict(slower, low, high, limit, regressed, "", not regressed and not sound, more)
    values = min(len(first), len(second))
    return dataclasses.replace(verdict, text=_sentence(verdict, values, of))


def _deciding(estimate: float, limit: float) -> float:
    """The largest half width of the interval that decides; at least half of the limit, whatever the estimate is."""
    found = math.log1p(limit) - estimate
    return max(found, estimate) if math.expm1(estimate) > limit / 2 else found


def _more(first: List[float], second: List[float], paired: bool, reach: float) -> int | None:
    """How many more values each side needs for that half width, if they vary as these do."""
    if paired:
        spread = statistics.stdev(b - a for a, b in zip(first, second))
    else:
        spread = math.sqrt(statistics.variance(first) + statistics.variance(second))
    have = min(len(first), len(second))

    def enough(values: int) -> bool:
        freedom = (values - 1) * (1 if paired else 2)
        return quantile_of_t(freedom) * spread / math.sqrt(values) < reach

    few, many = have, have + 1
    while not enough(many):
        if many - have > _MOST_RUNS:
            return None
        few, many = many, 2 * many
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if enough(middle) else (middle, many)
    return many - have


def _error(first: List[float], second: List[float], paired: bool) -> tuple[float | None, int]:
    if paired and len(first) > 1:
        differences = [b - a for a, b in zip(first, second)]
        return statistics.stdev(differences) / math.sqrt(len(differences)), len(differences) - 1
    if len(first) > 1 and len(second) > 1:
        squares = [statistics.variance(group) / len(group) for group in (first, second)]
        whole = sum(squares)
        if whole == 0:
            return 0.0, len(first) + len(second) - 2
        parts = sum(square**2 / (len(group) - 1) for square, group in zip(squares, (first, second)))
        return math.sqrt(whole), max(1, int(whole**2 / parts))
    return None, 0


def _sentence(verdict: Verdict, values: int, of: str) -> str:
    interval = f"one {of} of each version has no interval"
    if verdict.low is not None and verdict.high is not None:
        interval = f"{verdict.low:+.2%} to {verdict.high:+.2%} with 98 % confidence"
        interval += f", {values} {of}s of each version"
    if verdict.regressed:
        said = "the kernels of a step became slower"
    elif verdict.undecided:
        said = "undecided"
    else:
        said = f"no regression of {100 * verdict.limit:.3g} % was found"
    text = f"{said}: {verdict.slower:+.2%} ({interval})"
    return f"{text}; {_advice(verdict, of)}" if verdict.undecided else text


def _advice(verdict: Verdict, of: str) -> str:
    limit = f"{100 * verdict.limit:.3g} %"
    if verdict.low is None:
        return f"record at least 4 {of}s of each version, in turns, to decide about {limit}"
    if verdict.more is None:
        return (
            f"they vary too much to decide about {limit} with more {of}s: look for a larger "
            "change, or record longer runs"
        )
    return (
        f"about {verdict.more} more {of}{'s' if verdict.more > 1 else ''} of each version would "
        f"decide about {limit}"
    )


def _list(runs: Run | Sequence[Run]) -> List[Run]:
    return list(runs) if isinstance(runs, (list, tuple)) else [runs]  # type: ignore[list-item]


def check(
    before: Run | Sequence[Run],
    after: Run | Sequence[Run],
    limit: float = 0.01,
    *,
    allow_incomplete: bool = False,
) -> Verdict:
    """The gate's verdict over captures with kernels. Give several of each, recorded in turns:
    A B A B A B …; of a single one each, its steps are compared, which knows nothing of what
    differs from one start of the program to the next.

    Raises IncompleteEvidence when a capture is incomplete; with allow_incomplete the verdict's
    `missing` says what is not there."""
    first, second = (_all_steps(_list(side), allow_incomplete) for side in (before, after))
    _refuse_unlike(first + second)
    if len(first) == len(second) == 1:
        of = "step" if first[0].marked else "run"
        verdict = decide(first[0].times, second[0].times, limit, paired=False, of=of)
    else:
        verdict = decide(_medians(first), _medians(second), limit)
    missing = [row for run in first + second for row in run.missing]
    text = verdict.text + _other_kernels(first, second)
    if missing:
        text += "; incomplete: " + "; ".join(map(str, missing))
    return dataclasses.replace(verdict, text=text, missing=tuple(missing))


def _all_steps(runs: List[Run], allow_incomplete: bool) -> List[_Steps]:
    return [_steps(run, allow_incomplete) for run in runs]


def _medians(runs: List[_Steps]) -> List[float]:
    return [statistics.median(run.times) for run in runs]


def _refuse_unlike(runs: List[_Steps]) -> None:
    """A step cannot be compared with a whole run."""
    marked = next((run for run in runs if run.marked), None)
    whole = next((run for run in runs if not run.marked), None)
    if marked and whole:
        raise Error(
            f"{whole.path}: marks no steps, and {marked.path} does: a step cannot be compared with "
            "a whole run; mark the steps of both"
        )


def _other_kernels(first: List[_Steps], second: List[_Steps]) -> str:
    """A change may launch other kernels, and lost ones look the same: report it."""
    counts = [statistics.median([n for run in side for n in run.kernels]) for side in (first, second)]
    if counts[0] == counts[1]:
        return ""
    return (
        f"; a step has {counts[1]:g} kernels, and had {counts[0]:g}: is that intended?"
    )


def assert_no_regression(
    before: Run | Sequence[Run],
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
    """`python -m gpufathom.gate --before A… --after B… [--limit 0.01] [--allow-incomplete]`."""
    import argparse

    words = argparse.ArgumentParser(
        prog="python -m gpufathom.gate",
        description=__doc__,
        epilog="Exit codes: 0 no regression of that size, 1 a regression, 2 wrong usage, 3 refused: "
        "a capture is incomplete or cannot be read, 4 undecided: too few runs for that limit.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    words.add_argument(
        "--before", nargs="+", required=True, metavar="FILE", help="captures of the first version"
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
            given.before, given.after, given.limit, allow_incomplete=given.allow_incomplete
        )
    except (Error, OSError) as error:
        return _say(REFUSED, f"refused: {error}")
    return _say(1 if verdict.regressed else UNDECIDED if verdict.undecided else 0, verdict.text)


if __name__ == "__main__":
    raise SystemExit(main())
