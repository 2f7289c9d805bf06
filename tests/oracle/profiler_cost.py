"""How often the program's own step, measured without the profiler, lies where a capture says that
it lies: between the median step (of two the shorter, since the first warms up) less its part of
window.profiler_ns, and that step, +- 5 %.

Usage: profiler_cost.py PROGRAM [FOLDER ...] [--json FILE]
FOLDER: what tests/advice/programs/run recorded; without one, the captures of tests/advice/captures.
Several give a table by what the profiler recorded (stacks, shapes, memory). The steps without the
profiler are those of FOLDER/runs.json, else those that docs/results/whatif.json has of the traces.
Ends with 1 below the share that docs/definitions.md states of the captures.
"""
import argparse
import gzip
import json
import pathlib
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CAPTURES = HERE.parent / "advice" / "captures"
RESULTS = HERE.parents[1] / "docs" / "results" / "whatif.json"
ROOM, LEAST = 0.05, 39
SETTINGS = {"record_shapes": "shapes", "with_stack": "stacks", "profile_memory": "memory",
            "with_modules": "modules"}


def alone_of(folder):
    """Milliseconds of a step without the profiler, by trace."""
    if (folder / "runs.json").exists():
        runs = json.loads((folder / "runs.json").read_text())
        return {run["trace"]: run["alone"]["median_ms"]
                for run in (runs["runs"] if isinstance(runs, dict) else runs)
                if "trace" in run and "alone" in run}
    sets = json.loads(RESULTS.read_text())["sets"]
    return {row["trace"]: row["alone_ms"] for one in sets for row in one["own"]}


def recorded(path):
    """The settings of the profiler, as the head of its trace says."""
    if not path.name.endswith(".json.gz"):
        return "JAX" if "xplane" in path.name else "recorded by gpufathom"
    with gzip.open(path, "rt", errors="replace") as trace:
        head = trace.read(1 << 16).split('"traceEvents"')[0]
    words = [word for key, word in SETTINGS.items() if f'"{key}": 1' in head]
    return ", ".join(words) or "nothing more"


def analysis_of(program, path):
    """The whole program's answer; packed profiles are unpacked first."""
    with tempfile.TemporaryDirectory() as folder:
        if path.name.endswith((".pb.gz", ".gpf.gz")):
            plain = pathlib.Path(folder) / path.name[:-3]
            plain.write_bytes(gzip.decompress(path.read_bytes()))
            path = plain
        done = subprocess.run([program, "analyze", str(path), "--format", "json"],
                              capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout.strip() else None


def judged(program, folder):
    """One row a capture with steps and a profiler that slowed its host."""
    for trace, alone in alone_of(folder).items():
        path = folder / trace
        if not path.is_file():
            continue
        window = (analysis_of(program, path) or {"window": {"steps": []}})["window"]
        if not window["steps"] or window["profiler_ns"] is None:
            continue
        step = statistics.median_low(one["duration_ns"] for one in window["steps"]) / 1e6
        low = step * (1 - window["profiler_ns"] / window["duration_ns"])
        marked = window["step_confidence"] is None
        yield {"trace": trace, "recorded": recorded(path), "marked": marked,
               "alone_ms": round(alone, 3),
               "low_ms": round(low, 3), "step_ms": round(step, 3),
               "inside": low * (1 - ROOM) <= alone <= step * (1 + ROOM)}


def summed(rows):
    widths = [1 - row["low_ms"] / row["step_ms"] for row in rows]
    return {"captures": len(rows), "inside": sum(row["inside"] for row in rows),
            "below": sum(row["alone_ms"] < row["low_ms"] * (1 - ROOM) for row in rows),
            "above": sum(row["alone_ms"] > row["step_ms"] * (1 + ROOM) for row in rows),
            "width_median": round(statistics.median(widths), 3),
            "width_mean": round(statistics.mean(widths), 3)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    rows = [{"folder": folder.name, **row} for folder in options.folders or [CAPTURES]
            for row in judged(options.program, folder)]
    # The program may count other steps than those found without marks.
    marked = [row for row in rows if row["marked"]]
    groups = {"all": rows, "marked": marked,
              "unmarked": [row for row in rows if not row["marked"]]}
    for key in ("folder", "recorded"):
        for name in sorted({row[key] for row in marked}):
            groups[f"marked, {key}: {name}"] = [row for row in marked if row[key] == name]
    table = {name: summed(group) for name, group in groups.items() if group}
    for row in rows:
        if not row["inside"]:
            print(f"{row['folder']}/{row['trace']} ({row['recorded']}): {row['alone_ms']} ms alone, "
                  f"told {row['low_ms']} to {row['step_ms']}")
    for name, one in table.items():
        print(f"{name}: {one['inside']} of {one['captures']} inside, {one['below']} faster than told, "
              f"{one['above']} slower; width {one['width_median']:.1%} of a step median, "
              f"{one['width_mean']:.1%} mean")
    if options.json:
        options.json.write_text(json.dumps({"what": __doc__.split("\n\n")[0].replace("\n", " "),
                                            "table": table, "rows": rows}, indent=1) + "\n")
    own = table["all"] if not options.folders else {"inside": LEAST}
    return 1 if own["inside"] < LEAST else 0


if __name__ == "__main__":
    raise SystemExit(main())
