"""Two programs on one GPU, apportioned from one recording, against each alone.

The zoo's two_programs (training and decoding) say how many steps each made in the span that
`analyze` apportions; a step of each reads so many bytes alone, as Nsight Compute counted, and takes
so many joules. Prints and writes both.

Usage: tenants_against_counts.py GPUFATHOM CAPTURE ZOO.json COUNTS_ZOO.json [OUT.json]. ZOO.json is
the table of the run that made the capture, COUNTS_ZOO.json one that holds the two programs' counts.
"""
import json
import subprocess
import sys

PROGRAMS = ("gpt_training", "decode_eager")
READ = "dram.read a step against ncu"


def load(path):
    with open(path) as text:
        return json.load(text)


def steps_between(clock, start, end):
    """Steps of a program in a span: its clock is read after groups of them."""
    edges = [clock["start_ns"], *clock["ends_ns"]]
    shared = (max(0, min(to, end) - max(since, start)) / (to - since)
              for since, to in zip(edges, edges[1:]))
    return clock["group"] * sum(shared)


def bytes_of_a_step(table, program):
    checks = next(run["checks"] for run in table["runs"]
                  if run["program"] == program and run["mode"] == "counts")
    return next(check["reference"] for check in checks if check["check"] == READ)


def main():
    gpufathom, capture, table, counts = sys.argv[1:5]
    answer = json.loads(subprocess.run([gpufathom, "analyze", "--json", capture],
                                       capture_output=True, text=True, check=True).stdout)
    shared = answer["tenants"][0]
    start, end = shared["start_ns"], shared["start_ns"] + shared["span_ns"]
    run = next(run for run in load(table)["runs"] if run["program"] == "two_programs")
    rows = []
    for program, clock in zip(PROGRAMS, run["report"]["children"]):
        told = next(one for one in shared["tenants"] if one["pid"] == clock["pid"])
        read = next(one for one in told["amounts"] if one["id"] == "dram.read")
        steps = steps_between(clock, start, end)
        alone = steps * bytes_of_a_step(load(counts), program)
        rows.append({"program": program, "steps": steps, "read_alone_bytes": alone,
                     "read_bytes": read["value"], "read_low": read["low"],
                     "read_high": read["high"],
                     "inside": read["low"] <= alone <= read["high"],
                     "joules": told["nj"] / 1e9, "joules_low": told["low_nj"] / 1e9,
                     "joules_high": told["high_nj"] / 1e9})
        print(f"{program:14} {steps:6.1f} steps read {alone / 1e9:7.1f} GB alone; told "
              f"{read['value'] / 1e9:7.1f}, between {read['low'] / 1e9:.1f} and "
              f"{read['high'] / 1e9:.1f}")
    whole = next(one["value"] for one in shared["total"] if one["id"] == "dram.read")
    both = sum(row["read_alone_bytes"] for row in rows)
    print(f"together {both / 1e9:.1f} GB, the GPU's counters {whole / 1e9:.1f}")
    result = {"span_ns": shared["span_ns"], "overlap_ns": shared["overlap_ns"],
              "programs": rows, "read_alone_bytes": both, "read_bytes": whole}
    if len(sys.argv) > 5:
        with open(sys.argv[5], "w") as out:
            json.dump(result, out, indent=1)


if __name__ == "__main__":
    main()
