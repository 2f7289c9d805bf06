"""Whether a change made a program slower on the GPU: by the time of its kernels, with an interval,
not by wall time.

Wall time on a shared or unlocked machine varies by more than what is to be found. The time that the
kernels of a step take does
not depend on how busy the host is; what is left, mostly the clocks, is told by repeating: both
versions run several times, in
turns, and the interval of their ratio decides. The estimate and the interval are in logarithms, so
that 1 % slower and 1 % faster
are alike.
"""

from __future__ import annotations

import bisect
import csv
import dataclasses
import functools
import io
import math
import statistics
import subprocess
from typing import List, Sequence, Union

from gpufathom import _places
from gpufathom._capi import Error
from gpufathom.capture import Capture, Path

Run = Union[Path, Capture]
CONFIDENCE = 0.99


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What the gate says.

    slower: time of the second version's kernels over that of the first, less 1; 0.01 is 1 % slower.
    low, high: bounds of the same with 98 % confidence, so that 1 % lie below `low`; None with a
    single run of each.
    limit: what was allowed.
    regressed: `low` is above 0 and `slower` above half of the limit.
    text: the same as a sentence.
    """

    slower: float
    low: float | None
    high: float | None
    limit: float
    regressed: bool
    text: str


def _rows(path: str, question: str) -> List[List[str]]:
    words = [_places.program(), "query", path, question, "--format", "csv"]
    done = subprocess.run(words, capture_output=True, text=True)
    if not done.stdout:
        raise Error(done.stderr.strip())
    return list(csv.reader(io.StringIO(done.stdout)))[1:]


def kernel_times(run: Run) -> List[float]:
    """Nanoseconds that the kernels of each step take, without the first tenth of the steps. A run
    without steps counts as one."""
    path = run.path if isinstance(run, Capture) else str(run)
    asked = "select start_ns, duration_ns from kernels order by 1"
    kernels = [(int(start), int(took)) for start, took in _rows(path, asked)]
    if not kernels:
        raise Error(
            f"{path}: holds no kernels: record with `gpufathom record --kernels`, or a profiler"
        )
    steps = [int(start) for start, in _rows(path, "select start_ns from steps order by 1")]
    if not steps:
        return [float(sum(took for _, took in kernels))]
    sums = [0] * len(steps)
    for start, took in kernels:
        at = bisect.bisect_right(steps, start) - 1
        if at >= 0:
            sums[at] += took
    return [float(value) for value in sums[len(sums) // 10 :] if value > 0]


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
) -> Verdict:
    """The verdict over the kernel times of runs, which alternated: before[i] and after[i] ran one
    after the other. Lists of
    different lengths are compared as two groups.

    >>> decide([100, 101, 100, 99], [103, 104, 103, 102]).regressed
    True
    >>> decide([100, 101, 100, 99], [100, 100, 101, 99]).regressed
    False
    """
    first, second = [math.log(value) for value in before], [math.log(value) for value in after]
    estimate = statistics.fmean(second) - statistics.fmean(first)
    error, freedom = _error(first, second, len(first) == len(second) if paired is None else paired)
    if error is None:
        low = high = None
        regressed = math.expm1(estimate) > limit
    else:
        reach = quantile_of_t(freedom) * error
        low, high = math.expm1(estimate - reach), math.expm1(estimate + reach)
        regressed = low > 0 and math.expm1(estimate) > limit / 2
    slower = math.expm1(estimate)
    return Verdict(
        slower,
        low,
        high,
        limit,
        regressed,
        _sentence(slower, low, high, regressed, min(len(first), len(second))),
    )


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


def _sentence(
    slower: float, low: float | None, high: float | None, regressed: bool, runs: int
) -> str:
    interval = "from one value each: repeat the runs for an interval"
    if low is not None and high is not None:
        interval = f"{low:+.2%} to {high:+.2%} with 98 % confidence, {runs} values each"
    verdict = "the kernels of a step became slower" if regressed else "no regression was found"
    return f"{verdict}: {slower:+.2%} ({interval})"


def _list(runs: Run | Sequence[Run]) -> List[Run]:
    return list(runs) if isinstance(runs, (list, tuple)) else [runs]  # type: ignore[list-item]


def check(before: Run | Sequence[Run], after: Run | Sequence[Run], limit: float = 0.01) -> Verdict:
    """The gate's verdict over captures with kernels. Give several of each, recorded in turns:
    A B A B A B …; of a single one each, its steps are compared, which knows nothing of what
    differs from one start of the program to the next."""
    first = [kernel_times(run) for run in _list(before)]
    second = [kernel_times(run) for run in _list(after)]
    if len(first) == len(second) == 1:
        return decide(first[0], second[0], limit, paired=False)
    return decide(_medians(first), _medians(second), limit)


def _medians(runs: List[List[float]]) -> List[float]:
    return [statistics.median(run) for run in runs]


def assert_no_regression(
    before: Run | Sequence[Run], after: Run | Sequence[Run], limit: float = 0.01
) -> Verdict:
    """Raises AssertionError when the second version's kernels are slower; `limit` 0.01 looks for 1
    %."""
    verdict = check(before, after, limit)
    if verdict.regressed:
        raise AssertionError(verdict.text)
    return verdict


def main() -> int:
    """`python -m gpufathom.gate --before A… --after B… [--limit 0.01]`: exit code 1 for a
    regression, 2 for no answer."""
    import argparse
    import os
    import sys

    words = argparse.ArgumentParser(
        prog="python -m gpufathom.gate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
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
        type=float,
        default=0.01,
        metavar="SHARE",
        help="what to look for: 0.01, the default, is 1 %%",
    )
    given = words.parse_args()
    try:
        verdict = check(given.before, given.after, given.limit)
    except (Error, OSError) as error:
        print(f"gpufathom.gate: {error}", file=sys.stderr)
        return 2
    print(verdict.text)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        with open(summary, "a", encoding="utf-8") as file:
            file.write(f"**gpufathom**: {verdict.text}\n")
        if verdict.regressed:
            print(f"::error title=gpufathom::{verdict.text}")
    return 1 if verdict.regressed else 0


if __name__ == "__main__":
    raise SystemExit(main())
