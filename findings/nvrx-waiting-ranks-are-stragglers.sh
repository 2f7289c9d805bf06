#!/usr/bin/env bash
# Guess: the straggler detection of nvidia-resiliency-ext leaves out NCCL's kernels, in which the fast ranks wait for the
# slow one, whatever kernels NCCL takes; of four ranks of which one computes 1.5 times slower it names that one.
# So it is: it leaves out kernels whose name has "ncclDev". Those of NCCL's symmetric memory are ncclSymDevKernel_* (2.27)
# and ncclSymkDevKernel_* (2.28), and count as work: the fast ranks are slow at waiting. All four ranks have the
# score 0.688 and all are stragglers; by the ring kernels it is 0.667 for the slow rank and 1 for the others.
# Why: each rank's kernels add up to the same time, so that no threshold can find the slow one.
# Versions: nvidia-resiliency-ext 0.4.1, torch 2.13.0, numpy 2.4.6 (CPU, gloo, four local processes). What CUPTI counts is
# stood in for; the package's __init__, which loads it, is passed over.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$tmp/venv/bin/pip" install -q --no-deps nvidia-resiliency-ext==0.4.1
cat >"$tmp/ranks.py" <<'PY'
import importlib.metadata, importlib.util, sys, types
import torch
name = "nvidia_resiliency_ext.straggler"
sys.modules[name] = types.ModuleType(name)
sys.modules[name].__path__ = [importlib.util.find_spec("nvidia_resiliency_ext").submodule_search_locations[0] + "/straggler"]
from nvidia_resiliency_ext.straggler.reporting import ReportGenerator
from nvidia_resiliency_ext.straggler.statistics import Statistic


def calls(microseconds):
    return {Statistic.MIN: microseconds, Statistic.MAX: microseconds, Statistic.MED: microseconds, Statistic.AVG: microseconds,
            Statistic.STD: 0.0, Statistic.NUM: 100}


def rank_of(rank, meeting):
    torch.distributed.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=4)
    compute = 1500.0 if rank == 1 else 1000.0
    for kernel in ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "ncclSymDevKernel_AllReduce_RSxLD_AGxST_sum_bf16",
                   "ncclSymkDevKernel_AllReduce_RSxLD_AGxST_sum_bf16"):
        # An all-reduce of 100 us ends on all ranks at once: who comes early is longer in it.
        report = ReportGenerator(["relative_perf_scores"], node_name=f"node{rank}").generate_report(
            {}, {"gemm": calls(compute), kernel: calls(1600.0 - compute)})
        if rank == 0:
            print(f"{kernel}: scores", *(f"{score:.3f}" for _, score in sorted(report.gpu_relative_perf_scores.items())),
                  "stragglers", sorted(each.rank for each in report.identify_stragglers()["straggler_gpus_relative"]), flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    print(*(f"{name} {importlib.metadata.version(name).partition('+')[0]}" for name in ("nvidia-resiliency-ext", "torch", "numpy")), flush=True)
    torch.multiprocessing.spawn(rank_of, args=(sys.argv[1],), nprocs=4)
PY
OMP_NUM_THREADS=1 "$tmp/venv/bin/python" "$tmp/ranks.py" "$tmp/meeting" >"$tmp/seen" 2>"$tmp/err" || { tail -n 5 "$tmp/err"; exit 1; }
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
nvidia-resiliency-ext 0.4.1 torch 2.13.0 numpy 2.4.6
ncclDevKernel_AllReduce_Sum_bf16_RING_LL: scores 1.000 0.667 1.000 1.000 stragglers [1]
ncclSymDevKernel_AllReduce_RSxLD_AGxST_sum_bf16: scores 0.688 0.688 0.688 0.688 stragglers [0, 1, 2, 3]
ncclSymkDevKernel_AllReduce_RSxLD_AGxST_sum_bf16: scores 0.688 0.688 0.688 0.688 stragglers [0, 1, 2, 3]
END
