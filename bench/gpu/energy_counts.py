#!/usr/bin/env python3
"""Counts sampled over the whole GPU against counts of the same kernels under Nsight Compute.

energy_counts.py PROGRAM ITEMS.gpf ITEMS.jsonl NAMES.txt REPORT.ncu.csv.gz: the first three from
energy_breakdown.sh record, the last two from energy_unseen.py count. One line an item: sampled /
counted, per call; and tensor operations in a cycle of the tensor pipes.
"""
import bisect
import collections
import csv
import gzip
import io
import json
import subprocess
import sys

program, capture, items, names, report = sys.argv[1:]
SHARES = ("sm.active_any", "tensor.active", "pipe.fp64", "gpu.busy")

items = sorted((json.loads(line) for line in open(items)), key=lambda i: i["start_ns"])
starts = [i["start_ns"] for i in items]
answer = subprocess.run([program, "query", capture, "--format", "csv",
                         "select metric, start_ns, duration_ns, value from counter_samples where duration_ns > 0"], check=True, capture_output=True, text=True)
sampled, covered = collections.defaultdict(lambda: collections.defaultdict(float)), collections.defaultdict(int)
for metric, start, duration, value in list(csv.reader(io.StringIO(answer.stdout)))[1:]:
    start, duration = int(start), int(duration)
    at = bisect.bisect_right(starts, start) - 1
    if at < 0 or start + duration > items[at]["end_ns"]:
        continue
    name = items[at]["name"]
    sampled[name][metric] += float(value) * (duration if metric in SHARES else 1)
    covered[name] += duration if metric == "gpu.busy" else 0

rows = csv.reader(gzip.open(report, "rt"))
head = next(rows)
counters = [(i, c) for i, c in enumerate(head) if "__" in c]
# a spin kernel begins a stretch: n + 1 calls of an item, then one
kernel, stretches = head.index("Kernel Name"), []
for row in rows:
    if "spin" in row[kernel]:
        stretches.append(collections.defaultdict(float))
    elif stretches:
        for i, c in counters:
            try:
                stretches[-1][c] += float(row[i].replace(",", ""))
            except ValueError:
                pass
counted = {}
for n, line in enumerate(open(names)):
    name, calls = line.split()
    some, more = sorted(stretches[2 * n:2 * n + 2], key=lambda s: s["smsp__inst_executed.sum"])
    counted[name] = {c: (more[c] - some[c]) / int(calls) for c in more}

TABLE = [("inst", "inst.executed", ["smsp__inst_executed.sum"]),
         ("alu", "alu", ["smsp__thread_inst_executed_pipe_alu_pred_on.sum"]),
         ("fma", "fma", ["smsp__thread_inst_executed_pipe_fma_pred_on.sum"]), ("shared", "shared.wavefronts", ["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"]),
         ("L1 fill", "fill", ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum"]),
         ("L2 read", "l2.sm_reads", ["lts__t_sectors_srcunit_tex_op_read.sum"]), ("L2 write", "l2.sm_writes", ["lts__t_sectors_srcunit_tex_op_write.sum"]),
         ("DRAM rd", "dram_read", ["dram__sectors_read.sum"]), ("DRAM wr", "dram_write", ["dram__sectors_write.sum"])]
print(f"{'item':<22}" + "".join(f"{title:>9}" for title, _, _ in TABLE) + f"{'ops/cycle':>11}")
for item in items:
    name, span = item["name"], item["end_ns"] - item["start_ns"]
    if name not in counted or not covered[name]:
        continue
    s = {m: v * span / covered[name] / item["calls"] for m, v in sampled[name].items()}
    threads = s["inst.threads"] / s["inst.executed"]
    s |= {"alu": s["inst.alu"] * threads, "fma": s["inst.fma"] * threads,
          "fill": s["l1.fill_bytes"] / 32, "dram_read": s["dram.read"] / 32,
          "dram_write": s["dram.write"] / 32}
    line = f"{name:<22}"
    for _, metric, wanted in TABLE:
        n = sum(counted[name].get(c, 0) for c in wanted)
        # The part that caches hold back differs from run to run: below a thousandth of the L2 traffic there
        # is nothing to compare.
        line += f"{s[metric] / n:9.2f}" if n > 1e-3 * counted[name]["lts__t_sectors_srcunit_tex_op_read.sum"] else f"{'-':>9}"
    share = sampled[name]["tensor.active"] / covered[name]
    ops = sum(v for c, v in counted[name].items() if c.startswith("sm__ops_path_tensor_op"))
    print(line
          + (f"{ops / (share * 132 * s['sm.cycles']):11.0f}" if share > 0.05 else f"{'-':>11}"))
