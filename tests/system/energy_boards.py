"""Do the intervals of the energy model cover a board that nobody calibrated?

    energy_boards.py GPUFATHOM RESULTS [--json]

RESULTS holds the raw points of eight H200 boards and, of two of them, measurements of kernels that no
fit has seen; of four boards, two of them never calibrated, what eight recorded programs counted and
took. Each board is left out in turn. What the others say of each other gives the spread
(docs/energy.md, "Intervals"); with it,
  - kernels never seen of the board left out are predicted by the fit of another board, and
  - each of its microbenchmarks by the same microbenchmark of another board, and
  - recorded programs by the population of the others and the board's quick runs.
Printed is the share of the measured energies that lie inside their intervals. The spreads that the
program uses must not be narrower than those of all boards, and the intervals must cover 90 % for each board."""
import collections
import gzip
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

BOARDS = {"a": "20a", "b": "20b", "c": "20c", "d": "21d", "e": "21e", "f": "21f",
          "k": "29k", "l": "29l"}
POPULATION = "edcfkl"  # in the order of the shipped file
STRANGERS = {"i": "29i.quick", "j": "29j.quick"}  # never calibrated
KERNELS = "cde"  # boards whose fits predict kernels
SEEN = "de"  # boards on which kernels that no fit has seen were measured
NORMAL = 1.96
# The other microbenchmarks got other loops and operands after boards a and b: nothing to compare.
EARLY, UNCHANGED = "ab", ("shared_load", "l1_load", "l2_load", "dram_load", "shared_load_div",
                          "l1_load_div", "l2_load_div", "dram_load_div", "dram_tma_load",
                          "l2_tma_load")


def points_of(path):
    with gzip.open(path, "rt") as file:
        rows = [json.loads(line) for line in file]
    rows = [row for row in rows if row.get("seconds", 0) > 0 and "bench" in row]
    late = lag(rows)
    for row in rows:
        row["seconds"] -= late
    return rows


def lag(rows):
    """What the first interval of a run is longer than the others: the first update was seen promptly
    and the later ones by a reading of everything (take_out_lag of the program)."""
    lags = []
    for row in rows:
        times = [edge["t_s"] for edge in row.get("edges", [])]
        if len(times) < 4:
            continue
        later = (times[-1] - times[1]) / (len(times) - 2)
        if max(b - a for a, b in zip(times, times[1:])) <= 1.5 * later:
            lags.append(times[1] - later)
    return max(0, statistics.mean(lags)) if len(lags) >= 8 else 0


def idle_watts(rows):
    return statistics.median(row["energy_j"] / row["seconds"] for row in rows
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
        "form": rms(form),
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
            for board in KERNELS:
                log_ratios, model = fit(program, results, board, left, work)
                used = model.get("spread", {})
                if board == left:
                    errors[left] = log_ratios
                else:
                    cross.setdefault(left, []).extend(log_ratios)
        programs = program_errors(program, results, work)
    answer = {"spread": spread_of(list(BOARDS), benches, idle, errors), "boards": {}}
    answer["programs"] = programs
    sampled = [row["error"] for rows_of in programs.values() for row in rows_of]
    answer["spread"]["form_sampled"] = rms(sampled)
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


# Dense operations that an SM of GH100 finishes in a tensor cycle, by type: samples do not tell the
# type, nor reads of shared memory from writes, nor loads through L1 from bulk copies (docs/energy.md).
TENSOR_OPS = {"tensor.bf16.wgmma": 4096, "tensor.fp16.wgmma": 4096, "tensor.tf32.wgmma": 2048,
              "tensor.fp8": 8192}
STAND_INS = {"tensor.cycle": TENSOR_OPS,
             "shared.access": {"shared.load": 1, "shared.store": 1},
             "l1.fill": {"l1.load": 1, "tma.load": 1}}


def run(program, *arguments):
    subprocess.run([program, "calibrate", *arguments], check=True, stdout=subprocess.DEVNULL)
    with open(arguments[arguments.index("-o") + 1]) as file:
        return json.load(file)["model"]


def predicted(model, program):
    """(static, dynamic) joules of a program by a model: docs/energy.md, "Rules"."""
    picojoules = {row["feature"]: row["picojoules"] for row in model["coefficients"]}
    for name, kinds in STAND_INS.items():
        picojoules[name] = statistics.mean(times * picojoules[kind]
                                           for kind, times in kinds.items())
    voltage = model["voltage"]
    share = 1 - voltage["slope"] * (1 - program["sm_mhz"] / voltage["reference_mhz"])
    factor = min(1, max(voltage["floor"], share))**2
    warmer = program["celsius"] - model["reference_celsius"]
    static = (model["static_w"] + model["per_celsius_w"] * warmer) * program["seconds"]
    return static, sum(1e-12 * count * picojoules.get(name, 0) *
                       (1 if name.startswith("dram.") else factor)
                       for name, count in program["counts"].items())


def program_errors(program, results, work):
    """Of every recorded program the logarithm of its measured over its predicted dynamic energy, by
    the population without its board, adapted by the board's quick runs."""
    prefix = f"{results}/h200-2026-11-"
    with open(f"{prefix}29.programs.json") as file:
        recorded = json.load(file)
    errors = {}
    for board, programs in recorded.items():
        others = ",".join(prefix + BOARDS[other] for other in POPULATION if other != board)
        kind = run(program, "--boards", others, "-o", f"{work}/others.json")
        points = f"{prefix}{BOARDS[board]}.points.jsonl.gz" if board in BOARDS else \
            f"{prefix}{STRANGERS[board]}.points.jsonl"
        model = run(program, "--quick", "--fit-only", "--points", points, "--population",
                    f"{work}/others.json", "-o", f"{work}/adapted.json")
        errors[board] = []
        for one in programs:
            static, dynamic = predicted(model, one)
            before = sum(predicted(kind, one))
            errors[board].append({
                "program": one["program"],
                "error": math.log((one["joules"] - static) / dynamic),
                "of_all": (static + dynamic) / one["joules"] - 1,
                "of_all_before": before / one["joules"] - 1,
                "dynamic_share": 1 - static / one["joules"]})
    return errors


def rms(errors):
    return math.sqrt(statistics.mean(error * error for error in errors))


def judge_programs(programs):
    """Of each board: how far off, how wide the intervals are that the other boards' programs give,
    and how many hold what was measured."""
    rows = {}
    for board, mine in programs.items():
        others = rms([row["error"] for other in programs if other != board
                      for row in programs[other]])
        rows[board] = {
            "programs": len(mine),
            "mean_absolute_before": statistics.mean(abs(row["of_all_before"]) for row in mine),
            "mean_absolute": statistics.mean(abs(row["of_all"]) for row in mine),
            "mean": statistics.mean(row["of_all"] for row in mine),
            "largest": max(abs(row["of_all"]) for row in mine),
            "half_width": statistics.mean(NORMAL * others * row["dynamic_share"] for row in mine),
            "inside": statistics.mean(abs(row["error"]) <= NORMAL * others for row in mine)}
    return rows


def report(answer, used):
    answer["programs_by_board"] = judge_programs(answer["programs"])
    if "--json" in sys.argv:
        print(json.dumps({
            "command": "tests/system/energy_boards.py build/gpufathom docs/results/energy --json",
            "date": "2026-11-29",
            "hardware": "10 boards NVIDIA H200, driver 580",
            **answer}, indent=1))
    else:
        print_report(answer)
    inside = sum(row["programs"] * row["inside"] for row in answer["programs_by_board"].values())
    count = sum(row["programs"] for row in answer["programs_by_board"].values())
    assert inside >= 0.9 * count, "recorded programs: too few inside"
    for name, value in answer["spread"].items():
        assert used.get(name, 0) >= value, f"the program's spread of {name} is {used.get(name)}, the boards' {value:.4f}"
    for board, row in answer["boards"].items():
        assert row.get("kernels_covered", 1) >= 0.9, f"kernels of board {board}: too few inside"
        assert row["microbenchmarks_covered"] >= 0.9, f"microbenchmarks of board {board}: too few inside"


def print_report(answer):
    print("spread "
          + ", ".join(f"{name} {100 * value:.1f} %" for name, value in answer["spread"].items()))
    for board, row in answer["boards"].items():
        text = f"board {board} left out: {row['microbenchmarks']} microbenchmarks, {100 * row['microbenchmarks_covered']:.0f} % inside"
        if "kernels" in row:
            text += f"; {row['kernels']} predictions of kernels never seen, {100 * row['kernels_covered']:.0f} % inside"
        print(text)
    for board, row in answer["programs_by_board"].items():
        print(f"board {board} left out: {row['programs']} recorded programs, "
              f"{100 * row['mean_absolute_before']:.1f} % off on average before and "
              f"{100 * row['mean_absolute']:.1f} % after --quick, {100 * row['mean']:+.1f} % in the "
              f"mean, {100 * row['largest']:.1f} % at most; intervals {100 * row['half_width']:.1f} % "
              f"either side, {100 * row['inside']:.0f} % inside")


main()
