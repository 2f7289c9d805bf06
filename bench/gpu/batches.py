"""A function's calls on the GPU: warmed up, timed, and captured into graphs.

The host does not limit short kernels that a graph holds.
"""
import os

import torch


def board(nv):
    """NVML's handle of the GPU that this process sees first: NVML knows nothing of
    CUDA_VISIBLE_DEVICES. Numbers are those of the bus (CUDA_DEVICE_ORDER=PCI_BUS_ID)."""
    first = (os.environ.get("CUDA_VISIBLE_DEVICES") or "0").split(",")[0]
    return (nv.nvmlDeviceGetHandleByUUID(first) if first.startswith("GPU-")
            else nv.nvmlDeviceGetHandleByIndex(int(first)))


def warmed_up(build, calls=3):
    """The function that build() gives, after its first calls: libraries are loaded, kernels
    chosen."""
    call = build()
    for _ in range(calls):
        call()
    torch.cuda.synchronize()
    return call


def milliseconds(call, calls):
    """The GPU time of each of so many calls."""
    before, after = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    before.record()
    for _ in range(calls):
        call()
    after.record()
    after.synchronize()
    return before.elapsed_time(after) / calls


def calls_in(call, seconds):
    """The number of calls that fill so much time, at least one."""
    return max(1, int(seconds / max(milliseconds(call, 5) / 1e3, 1e-6)))


def graph_of(call, calls):
    """One graph of so many calls."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    return graph
