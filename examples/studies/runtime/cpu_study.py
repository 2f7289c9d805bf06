#!/usr/bin/env python3
"""The runtime study on the CPU: three models, three batch sizes, eager SYNC and ASYNC (and
tf.function beside them).

    python3 -m venv .cache/tf && .cache/tf/bin/pip install tensorflow-cpu xprof
    .cache/tf/bin/python examples/studies/runtime/cpu_study.py --python .cache/tf/bin/python --xprof

Records each case --repeats times with tf_models.py (the Python given must have TensorFlow),
analyses every profile with gpufathom, keeps of each case the run whose overhead for one item is the
median, and writes into OUT (.cache/runtime_study)
  spreads.csv    phases over operations: minimum, median, mean, p95, maximum           (figure 3.4 of the thesis, CPU half)
  shares.csv     share of time of every phase, and CPU kernels against overhead        (figure 3.5)
  queue.csv      depth of the scheduling queue, time empty, phases when empty, loaded  (figure 3.6)
  per_item.csv   overhead and kernel time for one item over the batch size             (figure 3.7)
and a drawing (SVG) of each, and all of it into results.json. With --xprof the kernel time of
tf.function profiles is compared with XProf's op statistics: for eager operations on a CPU it has
none. Its table ends after 500 rows, so that the smallest operations of a large model are not in it.
Profiles that are there already are not recorded again.
"""
import argparse
import csv
import json
import os
import pathlib
import platform
import subprocess
import time

from draw import bars, curve, per_item, violins

HERE = pathlib.Path(__file__).parent
BATCHES = {"lenet5": (1, 8, 64), "resnet50": (1, 2, 4), "bert": (1, 2, 4)}
STEPS = {"lenet5": 5, "resnet50": 2, "bert": 2}
PHASES = ("gpu_kernel", "cpu_kernel", "dequeue", "memcpy", "wait", "launch", "enqueue", "queued",
          "other")


def record(args, model, mode, batch, repeat):
    folder = args.out / "profiles" / f"{model}_{mode}_b{batch}_r{repeat}"
    if not list(folder.rglob("*.xplane.pb")):
        subprocess.run([args.python, HERE / "tf_models.py", model, mode, str(batch),
                        str(STEPS[model]), folder], check=True, stderr=subprocess.DEVNULL)
    return folder


def analyse(args, folder, batch):
    answer = subprocess.run([args.gpufathom, "analyze", folder, "--batch", str(batch), "--format",
                             "json"], check=True, capture_output=True)
    return json.loads(answer.stdout)["runtime"]


def median_run(args, model, mode, batch):
    """Folder and runtime analysis of the run with the median overhead; the overheads of all."""
    runs = []
    for repeat in range(1, args.repeats + 1):
        folder = record(args, model, mode, batch, repeat)
        runs.append((folder, analyse(args, folder, batch)))
    runs.sort(key=lambda run: run[1]["kernels"]["overhead_per_item_ns"])
    return *runs[len(runs) // 2], [round(r["kernels"]["overhead_per_item_ns"]) for _, r in runs]


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as f:
        w = csv.DictWriter(f, fieldnames=list(rows[0]))
        w.writeheader()
        w.writerows(rows)


def op_statistics(folder):
    """Rows of XProf's table (it ends at 500), and total self-time by operation type, in ns, as
    XProf's tool framework_op_stats gives it for host operations."""
    from xprof.convert import raw_to_tool_data
    data, _ = raw_to_tool_data.xspace_to_tool_data([str(p) for p in folder.rglob("*.xplane.pb")],
                                                   "framework_op_stats", {})
    table = json.loads(data)[0]
    ids = [c["id"] for c in table["cols"]]
    totals = {}
    for row in table["rows"]:
        cells = dict(zip(ids, (c["v"] if c else None for c in row["c"])))
        if cells["type"] != "IDLE" and cells["host_or_device"] == "Host":
            totals[cells["type"]] = totals.get(cells["type"], 0) + cells["total_self_time"] * 1000
    return len(table["rows"]), totals


def compare(folder, runtime):
    listed, theirs = op_statistics(folder)
    ours = {o["type"]: p["total_ns"] for o in runtime["operations"][1:] for p in o["phases"]
            if p["phase"] == "cpu_kernel"}
    rows = [{"type": t, "xprof_ns": round(theirs.get(t, 0)), "gpufathom_ns": ours.get(t, 0)}
            for t in sorted(set(theirs) | set(ours))]
    rows.append({"type": "all", "xprof_ns": round(sum(theirs.values())),
                 "gpufathom_ns": sum(ours.values())})
    return [row | {"xprof_rows": listed} for row in rows]


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        return next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")),
                    platform.machine())


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--gpufathom", default="build/gpufathom")
    p.add_argument("--python", default="python3")
    p.add_argument("--out", type=pathlib.Path, default=pathlib.Path(".cache/runtime_study"))
    p.add_argument("--models", nargs="+", default=list(BATCHES))
    p.add_argument("--modes", nargs="+", default=["sync", "async", "function"])
    p.add_argument("--repeats", type=int, default=3)
    p.add_argument("--xprof", action="store_true",
                   help="compare with XProf (run this script with a Python that has it)")
    args = p.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    spreads, shares, queues, items, checks = [], [], [], [], []
    for model in args.models:
        for mode in args.modes:
            for batch in BATCHES[model]:
                folder, r, overheads = median_run(args, model, mode, batch)
                run = {"model": model, "mode": mode, "batch": batch}
                for phase in r["operations"][0]["phases"]:
                    s = phase["spread"]
                    spreads.append(run | {"phase": phase["phase"], "operations": s["count"],
                                          **{k: s[k]
                                             for k in ("min", "median", "mean", "p95", "max")}})
                k = r["kernels"]
                shares.append(run | {x["phase"]: round(x["share"], 4)
                                     for x in r["phases"]} | {"kernels": round(k["cpu_kernel"] + k["gpu_kernel"] + k["both"], 4), "overhead": round(k["overhead"], 4)})
                whole = k["overhead_per_item_ns"] / k["overhead"] * batch * STEPS[model]
                items.append(run | {"kernel_ns_per_item": round(r["phases"][1]["per_item_ns"]),
                                    "overhead_ns_per_item": round(k["overhead_per_item_ns"]),
                                    "least": overheads[0], "most": overheads[-1]})
                for q in r["queues"]:
                    if q["id"] != "framework":
                        continue
                    mostly = lambda phases: " ".join(f"{x['phase']}={x['share']:.3f}" for x in phases if x["share"])  # noqa: E731
                    queues.append(run | {"items": q["items"],
                                         "mean_depth": round(q["mean_depth"], 3),
                                         "max_depth": q["max_depth"], "empty": round(q["empty"], 4),
                                         **{f"{x['phase']}_ns_per_op": round(x["share"] * whole / q["items"]) for x in r["phases"] if x["phase"] in ("enqueue", "dequeue")},
                                         "wait_median_ns": q["wait"]["median"],
                                         "when_empty": mostly(q["when_empty"]), "when_loaded": mostly(q["when_loaded"])})
                    curve(args.out / f"queue_{model}_b{batch}.svg",
                          f"{model}, batch {batch}, ASYNC: operations in the scheduling queue", q)
                if args.xprof and mode == "function":
                    checks += [run | row for row in compare(folder, r)]
                if model == args.models[0] and batch == BATCHES[model][0]:
                    violins(args.out / f"spreads_{model}_{mode}.svg",
                            f"{model}, batch {batch}, {mode}: phases of an operation",
                            r["operations"][0]["phases"])
                print(f"{model} {mode} b{batch}: kernels {k['cpu_kernel']:.1%}, overhead {k['overhead']:.1%}, {k['overhead_per_item_ns'] / 1000:.1f} us an item", flush=True)
    write(args.out / "spreads.csv", spreads)
    write(args.out / "shares.csv", shares)
    write(args.out / "per_item.csv", items)
    bars(args.out / "shares.svg", "Share of time by phase", shares, PHASES)
    per_item(args.out / "per_item.svg", "Runtime overhead for one item", items)
    if queues:
        write(args.out / "queue.csv", queues)
    if checks:
        write(args.out / "xprof.csv", checks)
    for row in (c for c in checks if c["type"] == "all"):
        print(f"{row['model']} b{row['batch']}: kernel time {row['gpufathom_ns']} ns, XProf {row['xprof_ns']} ns ({row['gpufathom_ns'] / row['xprof_ns'] - 1:+.2%}, {row['xprof_rows']} rows)")
    result = {"made_by": "examples/studies/runtime/cpu_study.py", "date": time.strftime("%Y-%m-%d"),
              "machine": {"cpu": processor(), "cores": os.cpu_count()}, "repeats": args.repeats,
              "shares": shares, "per_item": items, "queues": queues,
              "xprof": [c for c in checks if c["type"] == "all"]}
    (args.out / "results.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
