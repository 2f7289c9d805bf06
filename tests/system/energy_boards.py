"""Do the intervals of the energy model cover a board that nobody calibrated?

    energy_boards.py GPUFATHOM RESULTS [--json]

RESULTS holds the raw points of six H200 boards and, of two of them, measurements of kernels that no
fit has seen. Each board is left out in turn. What the others say of each other gives the spread
(docs/energy.md, "Intervals"); with it,
  - kernels never seen of the board left out are predicted by the fit of another board, and
  - each of its microbenchmarks by the same microbenchmark of another board.
Printed is the share of the measured energies that lie inside their intervals. The spreads that the
program uses must not be narrower than those of all six boards, and the intervals must cover 90 % for each board."""
import collections
import gzip
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

BOARDS = {"a": "20a", "b": "20b", "c": "20c", "d": "21d", "e": "21e", "f": "21f"}
SEEN = "de"  # boards on which kernels that no fit has seen were measured
NORMAL = 1.96
# The other microbenchmarks got other loops and operands after boards a and b: nothing to compare.
EARLY, UNCHANGED = "ab", ("shared_load", "l1_load", "l2_load", "dram_load", "shared_load_div",
                          "l1_load_div", "l2_load_div", "dram_load_div", "dram_tma_load",
                          "l2_tma_load")


def points_of(path):
    with gzip.open(path, "rt") as file:
        rows = [json.loads(line) for line in file]
    return [row for row in rows if row.get("seconds", 0) > 0 and "bench" in row]


def idle_watts(rows):
    return statistics.mean(row["energy_j"] / row["seconds"] for row in rows
                           if row["bench"] == "context")


def comparable(board, bench):
    return board not in EARLY or bench in UNCHANGED or bench.startswith(("mma_", "wgmma_"))


def joules_a_loop(board, rows):
    """Energy above idle of one loop of each microbenchmark, at the highest clock and full
    occupancy."""
    idle, runs = idle_watts(rows), collections.defaultdict(list)
    for row in rows:
        if row["loops_per_s"] > 0 and row["sm_mhz"] >= 1970 and row["threads"] >= 256 and not row.get("dropped") and comparable(board, row["bench"]):
            joules = (row["energy_j"] / row["seconds"] - idle) / row["loops_per_s"]
            runs[row["bench"], row["threads"], row["blocks"]].append(joules)
    medians = {key: statistics.median(values) for key, values in runs.items()}
    return {key: value for key, value in medians.items() if value > 0}


def ratios(mine, others):
    """Logarithms of a board's microbenchmarks over the median of the others: (on the chip, in
    DRAM)."""
    chip, dram = [], []
    for key, joules in mine.items():
        there = [other[key] for other in others if key in other]
        if len(there) >= 2:
            (dram if "dram" in key[0] else chip).append(math.log(joules / statistics.median(there)))
    return chip, dram


def fit(program, results, board, unseen, work):
    points = f"{work}/{board}.jsonl"
    if not os.path.exists(points):
        with gzip.open(f"{results}/h200-2026-11-{BOARDS[board]}.points.jsonl.gz") as source, open(points, "wb") as target:
            target.write(source.read())
    out = f"{work}/{board}.{unseen}.json"
    counters = f"{results}/h200-2026-11-21{board if board in SEEN else 'e'}.kernels.ncu.csv.gz"
    command = [program, "calibrate", "--fit-only", "--points", points, "--counters", counters,
               "--unseen", f"{results}/h200-2026-11-21{unseen}.unseen", "-o", out]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with open(out) as file:
        answer = json.load(file)
    return [math.log(kernel["measured_j"] / kernel["predicted_j"])
            for kernel in answer["unseen"]], answer["model"]


def spread_of(boards, benches, idle, errors):
    """Standard deviations of logarithms over these boards, as they hold for one more."""
    gains, drams = [], []
    for board in boards:
        chip, dram = ratios(benches[board], [benches[other] for other in boards if other != board])
        gains.append(statistics.median(chip))
        drams.append(statistics.median(dram) - statistics.median(chip))
    one_more = math.sqrt(1 + 1 / len(boards))
    form = [error for board in boards if board in errors for error in errors[board]]
    return {
        "gain": one_more * statistics.stdev(gains),
        "dram": one_more * statistics.stdev(drams),
        "idle": one_more * statistics.stdev(idle[board] for board in boards) / statistics.mean(idle[board] for board in boards),
        "form": math.sqrt(statistics.mean(error * error for error in form)),
    }


def main():
    program, results = sys.argv[1:3]
    rows = {board: points_of(f"{results}/h200-2026-11-{name}.points.jsonl.gz")
            for board, name in BOARDS.items()}
    benches, idle = {b: joules_a_loop(b, r)
                     for b, r in rows.items()}, {b: idle_watts(r) for b, r in rows.items()}
    with tempfile.TemporaryDirectory() as work:
        errors, cross, used = {}, {}, {}
        for left in SEEN:
            for board in "cde":
                log_ratios, model = fit(program, results, board, left, work)
                used = model.get("spread", {})
                if board == left:
                    errors[left] = log_ratios
                else:
                    cross.setdefault(left, []).extend(log_ratios)
    answer = {"spread": spread_of(list(BOARDS), benches, idle, errors), "boards": {}}
    answer["spread"]["form_sampled"] = sampled_error(results)
    for left in BOARDS:
        others = [board for board in BOARDS if board != left]
        spread = spread_of(others, benches, idle, errors)
        row = answer["boards"][left] = {"spread": spread}
        if left in cross:
            width = NORMAL * math.hypot(spread["form"], spread["gain"])
            row["kernels"] = len(cross[left])
            row["kernels_covered"] = sum(abs(error) <= width
                                         for error in cross[left]) / len(cross[left])
        chip, dram = ratios(benches[left], [benches[other] for other in others])
        inside = sum(abs(error) <= NORMAL * math.hypot(spread["form"], spread["gain"])
                     for error in chip)
        inside += sum(abs(error) <= NORMAL * math.hypot(spread["form"], spread["gain"],
                                                        spread["dram"]) for error in dram)
        row["microbenchmarks"] = len(chip) + len(dram)
        row["microbenchmarks_covered"] = inside / (len(chip) + len(dram))
    report(answer, used)


def sampled_error(results):
    """The part that samples of a whole GPU leave unexplained of programs and kernels that no fit has
    seen."""
    with open(f"{results}/h200-2026-11-21.breakdown.json") as file:
        programs = json.load(file)
    errors = []
    for program in programs:
        joules = {part["component"]: part["joules"] for part in program["parts"]}
        dynamic = program["joules"] - joules["static"]
        errors.append(math.log(dynamic / (dynamic - joules["rest"])))
    return math.sqrt(statistics.mean(error * error for error in errors))


def report(answer, used):
    if "--json" in sys.argv:
        print(json.dumps(answer, indent=1))
    print("spread "
          + ", ".join(f"{name} {100 * value:.1f} %" for name, value in answer["spread"].items()))
    for board, row in answer["boards"].items():
        text = f"board {board} left out: {row['microbenchmarks']} microbenchmarks, {100 * row['microbenchmarks_covered']:.0f} % inside"
        if "kernels" in row:
            text += f"; {row['kernels']} predictions of kernels never seen, {100 * row['kernels_covered']:.0f} % inside"
        print(text)
    for name, value in answer["spread"].items():
        assert used.get(name, 0) >= value, f"the program's spread of {name} is {used.get(name)}, the boards' {value:.4f}"
    for board, row in answer["boards"].items():
        assert row.get("kernels_covered", 1) >= 0.9, f"kernels of board {board}: too few inside"
        assert row["microbenchmarks_covered"] >= 0.9, f"microbenchmarks of board {board}: too few inside"


main()
