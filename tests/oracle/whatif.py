"""The court of gains: programs of tests/advice whose steps were measured without a profiler, as
they are and mended.

Usage: whatif.py PROGRAM [FOLDER] [--json]   (FOLDER: what `tests/gpu/session.sh advice` recorded; else tests/advice/captures)
Without a runs.json in FOLDER the steps are those that docs/results/whatif.json has of the same
captures. Own time: what `whatif` says that a step takes without recording, against the step
measured so. Gains: the change is the tool's own choice, the recommendation of `analyze` that names
what was planted (tests/advice/programs/*.json), else the first that replay has a gain of, against
the difference of the two steps. A point is what the text says first: where the range spans more
than four times that is the range; what replay gives is judged there, too, in rows of its own. Ends
with
1 below what docs/whatif.md states.
"""
import json
import pathlib
import statistics
import subprocess
import sys

ADVICE = pathlib.Path(__file__).resolve().parents[1] / "advice"
OWN = ADVICE / "captures"
RESULTS = ADVICE.parents[1] / "docs" / "results" / "whatif.json"
NEAR, ROUGHLY, POINTS = 0.2, 0.3, 0.03  # of the gain, or of the step
HOST_BOUND = 1.2  # times as much at most as at least: what recording took matters
ROOM = 0.05  # by which kernels run faster or slower from run to run
WIDE, ROUNDING = 4, 0.03  # of a range: times its least, and a little, at most has a point
LEAST_OWN, LEAST_NEAR = 0.9, 0.75


def planted():
    """By program: the ids of which one names the fault, and whether the gain is one of an item;
    void pairs are left out."""
    found = {}
    for name, key in (("verdicts", "first_or_second"), ("causes", "first"), ("fields", "first"),
                      ("libraries", "first"), ("services", "first"), ("studies", "first")):
        path, judged = (ADVICE / "programs" / f"{name}{end}.json" for end in ("", "_verdicts"))
        verdicts = json.loads(judged.read_text())["captures"] if judged.exists() else {}
        void = {program for program, verdict in verdicts.items()
                if {"void", "gain_void"} & set(verdict)}
        if path.exists():
            found |= {program: (fault[key], fault.get("gain") == "an item")
                      for program, fault in json.loads(path.read_text())["faults"].items()
                      if fault.get("ranks", 1) == 1 and program not in void}
    return found


def asked(program, verb, path):
    done = subprocess.run([program, verb, "--format", "json", str(path)], capture_output=True,
                          text=True)
    return json.loads(done.stdout) if done.stdout else None


def judge_own(program, run, path):
    answer = asked(program, "whatif", path)
    if not answer or not answer["steps"] or abs(answer["steps"] - run.get("active", answer["steps"])) > 1:
        return None  # the whole capture stands for one step, or a step is the round of a loop
    real = run["alone"]["median_ms"]
    said, low, high = (answer[key] / 1e6 for key in ("own_ns", "own_low_ns", "own_high_ns"))
    return {"trace": run["trace"], "alone_ms": round(real, 3), "own_ms": round(said, 3),
            "error": round(said / real - 1, 4), "covered": low * (1 - ROOM) <= real <= high * (1 + ROOM),
            "host_bound": answer["own_high_ns"] > HOST_BOUND * answer["own_low_ns"], "width": round((high - low) / said, 3),
            "unchanged": round(abs(answer["replayed_ns"] / answer["captured_ns"] - 1), 5)}


def real_gain(name, of_item, runs):
    faulty, mended = runs[name], runs[f"{name}.mended"]
    scale = faulty["items"] / mended["items"] if of_item else 1
    return 1 - mended["alone"]["median_ms"] * scale / faulty["alone"]["median_ms"]


def measured_twice(name, runs):
    """Whether the gain that the first half of the repeats measured is near that of the second: no
    answer can be nearer."""
    halves = []
    for run in (runs[name], runs[f"{name}.mended"]):
        times = [one["median_ms"]
                 for one in run["alone"].get("repeats", [])] or run["alone"].get("repeats_ms", [])
        if len(times) < 4:
            return None
        halves.append([statistics.median(times[: len(times) // 2]),
                       statistics.median(times[len(times) // 2:])])
    first, second = (1 - mended / faulty for faulty, mended in zip(*halves))
    return abs(first - second) <= max(NEAR * second, POINTS)


def judge_gain(program, name, ids, real, path):
    findings = asked(program, "analyze", path)["findings"]
    known = [one for one in findings if one.get("mended_high") is not None]
    chosen = next((one for one in known if one["id"] in ids), known[0] if known else None)
    row = {"program": name, "real": round(real, 4),
           "named": any(one["id"] in ids for one in findings)}
    if not chosen:
        return row | {"chosen": None}
    low, high = chosen["mended_low"], chosen["mended_high"]
    row |= {"chosen": chosen["id"], "of_fault": chosen["id"] in ids, "low": round(low, 4),
            "high": round(high, 4),
            "covered": low * (1 - ROOM) <= real <= high * (1 + ROOM)}
    said, least, most = chosen["replayed"], chosen["replayed_low"], chosen["replayed_high"]
    if said is None:  # much of the time is unexplained
        return row
    return row | {"said": round(said, 4), "itself_low": round(least, 4),
                  "itself_high": round(most, 4),
                  "itself": least - POINTS <= real <= most + POINTS, "point": high <= WIDE * low + ROUNDING,
                  "near": abs(said - real) <= max(NEAR * real, POINTS), "roughly": abs(said - real) <= max(ROUGHLY * real, POINTS)}


def share(rows, key):
    return f"{sum(bool(row.get(key)) for row in rows)} of {len(rows)}"


def measured(captures):
    """The runs without a profiler, by program how much shorter the mended step is, and whether it
    was so twice."""
    faults = planted()
    if (captures / "runs.json").exists():
        listed = json.loads((captures / "runs.json").read_text())
        listed = listed if isinstance(listed, list) else listed["runs"]
        # of a session in parts
        listed += [json.loads(path.read_text()) for path in captures.glob("*.run.json")]
        runs = {run["program"]: run for run in listed if run.get("rank", 0) == 0 and "alone" in run}
        pairs = {name: of_item for name, (_, of_item) in faults.items() if name in runs
                 and f"{name}.mended" in runs}
        return (list(runs.values()),
                {name: real_gain(name, of_item, runs) for name, of_item in pairs.items()},
                {name: twice for name in pairs
                 if (twice := measured_twice(name, runs)) is not None})
    earlier = json.loads(RESULTS.read_text())["sets"]
    own = {row["trace"]: row["alone_ms"] for one in earlier for row in one["own"]}
    return ([{"trace": trace, "alone": {"median_ms": alone}} for trace, alone in own.items()],
            {row["program"]: row["real"] for one in earlier for row in one["gains"]}, {})


def capture_of(captures, name):
    return next((path for end in ("json.gz", "xplane.pb.gz", "gpf", "gpf.gz")
                 if (path := captures / f"{name}.{end}").exists()), None)


def main(program, *more):
    captures = next((pathlib.Path(word) for word in more if not word.startswith("--")), OWN)
    runs, real, twice = measured(captures)
    own = [row for run in runs if (captures / run["trace"]).exists()
           and (row := judge_own(program, run, captures / run["trace"]))]
    gains = [judge_gain(program, name, ids, real[name], path)
             for name, (ids, _) in planted().items()
             if name in real and (path := capture_of(captures, name))]
    host = [row for row in own if row["host_bound"]]
    answered = [row for row in gains if row["chosen"]]
    replayed = [row for row in answered if "said" in row]
    points = [row for row in replayed if row["point"]]
    only_range = [row for row in answered if not row.get("point")]
    of_fault = [row for row in points if row["of_fault"]]

    def width(rows, of=""):
        return round(statistics.median(row[f"{of}high"] - row[f"{of}low"] for row in rows),
                     3) if rows else None

    def error(rows):
        return round(statistics.median(abs(row["error"]) for row in rows), 4) if rows else None

    counts = {"own": len(own), "own_error_median": error(own),
              "own_error_median_host_bound": error(host), "own_covered": share(own, "covered"),
              "own_width_median_host_bound": round(statistics.median(row["width"] for row in host), 3) if host else None,
              "unchanged_within_2_percent": share([{"is": row["unchanged"] <= 0.02} for row in own], "is"),
              "gains": len(gains), "answered": share(gains, "chosen"), "covered": share(answered, "covered"),
              "range_width_median": width(answered), "points": f"{len(points)} of {len(answered)}",
              "near": share(points, "near"), "roughly": share(points, "roughly"), "points_covered": share(points, "covered"),
              "range_alone_covered": share(only_range, "covered"), "near_of_all_replayed": share(replayed, "near"),
              "roughly_of_all_replayed": share(replayed, "roughly"), "covered_by_change_itself": share(replayed, "itself"),
              "its_width_median": width(replayed, "itself_"),
              "measured_twice_near": f"{sum(twice[row['program']] for row in gains if row['program'] in twice)} of "
                                     f"{sum(row['program'] in twice for row in gains)}",
              "of_fault": {key: share(of_fault, key) for key in ("near", "roughly", "covered")}}
    if "--json" in more:
        print(json.dumps({"counts": counts, "own": own, "gains": gains}, indent=1))
    else:
        for row in [*own, *gains]:
            if not row.get("covered") or not row.get("near", True):
                print(row)
        print(json.dumps(counts, indent=1))
    near = sum(row["near"] for row in of_fault)
    good = sum(row["covered"]
               for row in own) >= LEAST_OWN * len(own) and near >= LEAST_NEAR * len(of_fault)
    good = good and sum(row["unchanged"] <= 0.02 for row in own) >= 0.95 * len(own)
    return 0 if good or captures != OWN else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
