"""Reading and analysing large PyTorch traces: speed and memory as ratios of one run.

  ./dev bench ingest [--quick] [--hta] [--linear] [-o docs/results/ingest.json]

The traces are made of the captures in examples/: their events again and again, with new ids and
times (repeat_trace.cpp). Distinct names: 10 000. The richest of 18 real captures that were counted,
24 656 events with Python stacks and Triton kernels, has 1 029; all 18 together have 2 661. A longer
trace of the same program adds steps, not names, so this is beyond a real one.

Measured, each as the best of several runs, on two cores:
  walk      a bare simdjson on-demand walk over the plain file, one core (simdjson_walk.cpp)
  load      file to capture          (ingest.cpp)
  analyze   file to finished analysis, the command as users run it
  hta       HolisticTraceAnalysis from PyPI: load, idle and temporal breakdown (--hta; on a smaller trace, both tools on the same)
"""
import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import spent

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "bench"
TRACES = [f"examples/{n}.json.gz"
          for n in ("resnet50_amp_eager_b64", "resnet50_amp_compile_b64", "bert_amp_eager_b32")]
NAMES = 10_000
HTA = """
import sys, logging
logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis
a = TraceAnalysis(trace_files={0: sys.argv[1]})
a.get_idle_time_breakdown(visualize=False)
a.get_temporal_breakdown(visualize=False)
"""


def trace(size, suffix, varied=False):
    """A generated trace; made once by each build of its generator. `varied`: no duration recurs,
    and sizes differ."""
    path = CACHE / f"trace_{size // 1_000_000}mb{'_varied' if varied else ''}{suffix}"
    facts = path.with_name(path.name + ".facts")
    generator = ROOT / "build/bench/repeat_trace"
    if not facts.exists() or facts.stat().st_mtime < generator.stat().st_mtime:
        print(f"making {path.name} ...", file=sys.stderr)
        CACHE.mkdir(parents=True, exist_ok=True)
        made = subprocess.run([generator, *["--vary"] * varied, path, str(size), str(NAMES),
                               *TRACES], check=True, capture_output=True, cwd=ROOT)
        facts.write_bytes(made.stdout)
    return path, json.loads(facts.read_text())


def measure(command, runs):
    """Best wall time, and the CPU time and peak memory of that run; what it printed."""
    best = None
    for _ in range(runs):
        start = time.perf_counter()
        done = spent.run(command, ROOT)
        wall = time.perf_counter() - start
        if done.status != 0:
            sys.exit(f"{command[0]} ended with status {done.status}")
        run = {"wall_s": round(wall, 4), "cpu_s": round(done.cpu, 4), "peak_bytes": done.peak_bytes}
        if best is None or run["wall_s"] < best["wall_s"]:
            best = run
    return best, done.output


def hta_python():
    """HolisticTraceAnalysis in an environment of its own."""
    python = ROOT / ".cache" / "hta" / "bin" / "python"
    if not (python.parent / ".installed").exists():
        subprocess.run([sys.executable, "-m", "venv", python.parent.parent], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "HolisticTraceAnalysis"], check=True)
        (python.parent / ".installed").touch()
    return python


def analyze(path):
    return ["build/gpufathom", "analyze", path, "--format", "json", "-o", "/dev/null"]


def show(label, run, facts):
    print(f"  {label:<22} {run['wall_s']:8.3f} s  {facts['bytes'] / run['wall_s'] / 1e9:6.2f} GB/s  cpu {run['cpu_s']:7.3f} s"
          f"  peak {run['peak_bytes'] / 2**20:8.1f} MiB = {run['peak_bytes'] / facts['events']:6.1f} B/event")


def one_size(size, runs):
    plain, facts = trace(size, ".json")
    packed, _ = trace(size, ".json.gz")
    print(f"{facts['bytes'] / 1e9:.2f} GB of JSON, {facts['events']} events, {facts['names']} distinct names")
    result = {"trace": facts}
    for label, command in {"walk": ["build/bench/simdjson_walk", plain],
                           "load": ["build/bench/ingest", plain, "load"],
                           "load_gzip": ["build/bench/ingest", packed, "load"],
                           "analyze": analyze(plain), "analyze_gzip": analyze(packed)}.items():
        result[label], _ = measure(command, runs)
        show(label, result[label], facts)
    result["ratios"] = ratios = {
        "analyze_over_walk": round(result["analyze"]["wall_s"] / result["walk"]["wall_s"], 2),
        "load_over_walk": round(result["load"]["wall_s"] / result["walk"]["wall_s"], 2),
        # Processor time does not depend on what else the machine does; wall time on two free cores
        # lies between half of it and all of it.
        "analyze_cpu_over_walk_cpu": round(result["analyze"]["cpu_s"] / result["walk"]["cpu_s"], 2),
        "analyze_gb_per_s": round(facts["bytes"] / result["analyze"]["wall_s"] / 1e9, 3),
        "analyze_gzip_gb_per_s": round(facts["bytes"] / result["analyze_gzip"]["wall_s"] / 1e9, 3),
        "peak_bytes_per_event": round(result["analyze"]["peak_bytes"] / facts["events"], 1),
    }
    print("  " + ", ".join(f"{k} {v}" for k, v in ratios.items()))
    return result


def against_hta(size):
    plain, facts = trace(size, ".json")
    print(f"against HolisticTraceAnalysis on {facts['bytes'] / 1e6:.0f} MB, {facts['events']} events")
    theirs, _ = measure([hta_python(), "-W", "ignore", "-c", HTA, plain], 1)
    ours, _ = measure(analyze(plain), 3)
    show("hta", theirs, facts)
    show("analyze", ours, facts)
    ratios = {"hta_over_analyze_time": round(theirs["wall_s"] / ours["wall_s"], 1),
              "hta_over_analyze_cpu": round(theirs["cpu_s"] / ours["cpu_s"], 1),
              "hta_over_analyze_memory": round(theirs["peak_bytes"] / ours["peak_bytes"], 1)}
    print("  " + ", ".join(f"{k} {v}" for k, v in ratios.items()))
    return {"trace": facts, "hta": theirs, "analyze": ours, "ratios": ratios}


def main():
    options = argparse.ArgumentParser(prog="bench/run ingest", description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="0.3 GB instead of 1.5 GB")
    options.add_argument("--linear", action="store_true", help="also 1, 2 and 4 GB")
    options.add_argument("--hta", action="store_true",
                         help="also HolisticTraceAnalysis (from PyPI, into .cache/hta)")
    options.add_argument("--hta-bytes", type=int, default=140_000_000,
                         help="size of the trace for that")
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("-o", "--output", help="write all figures as JSON")
    o = options.parse_args()
    if hasattr(os, "sched_setaffinity"):  # two cores, wherever this runs
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    cpu = spent.processor()
    result = {"machine": {"cpu": cpu, "cores": len(os.sched_getaffinity(0)),
                          "load_average": os.getloadavg()[0]},
              "command": "./dev bench ingest " + " ".join(sys.argv[1:]),
              "date": time.strftime("%Y-%m-%d")}
    print(f"{cpu}, {result['machine']['cores']} cores used, load average {os.getloadavg()[0]:.1f} before the run")
    small, facts = trace(20_000_000, ".json")
    result["small"], _ = measure(analyze(small), 5)
    show("analyze, 20 MB", result["small"], facts)
    result["large"] = one_size(300_000_000 if o.quick else 1_500_000_000, o.runs)
    if o.linear:
        result["linear"] = [one_size(size, o.runs)
                            for size in (1_000_000_000, 2_000_000_000, 4_000_000_000)]
    if o.hta:
        result["hta"] = against_hta(o.hta_bytes)
    if o.output:
        Path(ROOT / o.output).write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
