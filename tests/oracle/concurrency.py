"""Kernels that run beside each other: communication that nothing hides, and SMs that no kernel's
blocks fill, against brute force over every stretch between two events.

Usage: concurrency.py PROGRAM [TRACE.json ...]   without traces: twenty random ones, several streams,
and DeepSeek's public one (deepseek-ai/profile-data, train.json) where GPUFATHOM_FETCHED has it
"""
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

COMMUNICATES = re.compile(
    r"nccl|::internode|::intranode|get_dispatch_layout|nvshmem|cross_device_reduce|all_?reduce",
    re.IGNORECASE)
DEEPSEEK = "deepseek-ai+profile-data/train.json"
SMS = 132
NAMES = ["ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
         "void deep_ep::internode::dispatch<false, 8>(int4*)",
         "void vllm::cross_device_reduce_1stage<__half, 8>()", "sm90_xmma_gemm_bf16",
         "void at::native::vectorized_elementwise_kernel<4>()",
         "void layer_norm::ln_fwd_kernel<float>()"]


def random_trace(seed):
    dice = random.Random(seed)
    events, number = [], 0
    for stream in range(1, dice.randint(2, 6)):
        at = dice.randint(0, 400)
        for _ in range(dice.randint(20, 200)):
            number += 1
            length = dice.choice([3, 17, 80, 300])
            blocks = dice.choice([1, 8, 20, 60, 131, 132, 133, 5000])
            where = {"device": 0, "stream": stream, "correlation": number,
                     "grid": [blocks, 1, 1], "block": [128, 1, 1]}
            events.append({"ph": "X", "cat": "kernel", "name": dice.choice(NAMES), "pid": 0,
                           "tid": stream, "ts": 1000 + at, "dur": length, "args": where})
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
                           "tid": stream, "ts": 1000 + at - 20, "dur": 5,
                           "args": {"correlation": number}})
            at += length + dice.choice([0, 1, 40])
    device = {"id": 0, "name": "NVIDIA H100", "numSms": SMS, "maxThreadsPerMultiprocessor": 2048}
    return {"deviceProperties": [device], "traceEvents": events}


def brute_force(trace):
    """Communication, what of it is exposed, and time x share of SMs without a block beside a small
    kernel; us."""
    kernels = [e for e in trace["traceEvents"] if e.get("cat") == "kernel"]
    sms = trace["deviceProperties"][0]["numSms"]
    rows = []
    for event in kernels:
        x, y, z = event["args"]["grid"]
        rows.append((event["ts"], event["ts"] + event["dur"], x * y * z / sms,
                     bool(COMMUNICATES.search(event["name"]))))
    times = sorted({t for row in rows for t in row[:2]})
    rows.sort()
    communicates = exposed = lost = first = 0
    for begin, end in zip(times, times[1:]):
        while first < len(rows) and rows[first][1] <= begin:
            first += 1
        running = [row for row in rows[first:] if row[0] <= begin and row[1] >= end]
        communicates += (end - begin) * any(row[3] for row in running)
        if running and all(row[3] for row in running):
            exposed += end - begin
        if any(row[2] < 1 and not row[3] for row in running):
            lost += (end - begin) * max(0, 1 - sum(min(row[2], 1) for row in running))
    return communicates, exposed, lost


def told(program, path):
    done = subprocess.run([program, "analyze", path, "--format", "json"],
                          capture_output=True, text=True)
    answer = json.loads(done.stdout)
    gains = {finding["id"]: finding["gain_ns"] / 1e3 for finding in answer["findings"]
             if finding["id"] in ("exposed_communication", "small_grids")}
    for finding in answer["findings"]:  # "39.6 ms of 46.9 ms communication is exposed"
        said = re.search(r" of ([\d.]+) (ns|us|ms|s) communication", finding["evidence"])
        if said:
            gains["communication"] = float(said[1]) * {"ns": 1e-3, "us": 1, "ms": 1e3,
                                                       "s": 1e6}[said[2]]
    gains["kernel_busy"] = sum(device["kernel_busy_ns"] for device in answer["devices"]) / 1e3
    return gains


def main(program, *paths):
    compared = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        made = []
        if not paths:
            for seed in range(20):
                made.append(pathlib.Path(folder, f"{seed}.json"))
                made[-1].write_text(json.dumps(random_trace(seed)))
            deepseek = pathlib.Path(os.environ.get("GPUFATHOM_FETCHED", "/none"), DEEPSEEK)
            paths = (deepseek,) if deepseek.exists() else ()
        for path in [*paths, *made]:
            whole, exposed, lost = brute_force(json.loads(pathlib.Path(path).read_text()))
            gains = told(program, str(path))
            # Numbers in words have three digits.
            for name, truth, room in (("exposed_communication", exposed, 1e-4),
                                      ("communication", whole, 5e-3), ("small_grids", lost, 1e-4)):
                if name not in gains:
                    continue
                compared += 1
                if abs(gains[name] - truth) > room * truth + 1:
                    wrong += 1
                    print(f"{path}: {name} {gains[name]:.3f} us, by brute force {truth:.3f} us")
            # Less than a tenth of the kernel time is not told.
            if "small_grids" not in gains and lost > 0.101 * gains["kernel_busy"]:
                wrong += 1
                print(f"{path}: {lost:.3f} us of SMs without a block are not told")
            if path in paths:
                print(f"{path}: communication {whole:.0f} us, hidden {whole - exposed:.0f} us, exposed "
                      f"{exposed:.0f} us, SMs without a block {lost:.0f} us; told {gains}")
    print(f"{compared} findings compared, {wrong} wrong")
    return 1 if wrong or (made and compared < 20) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
