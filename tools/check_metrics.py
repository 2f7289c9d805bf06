#!/usr/bin/env python3
"""Checks every counter name of the metric catalogue against the CUPTI profiler host API, which needs no GPU.

    check_metrics.py PROGRAM

PROGRAM is gpufathom; its catalogue is read with `metrics --format json`. GPUFATHOM_CUPTI_DIR is the folder with libcupti.so.*
and libnvperf_host.so, for example nvidia/cu13/lib of the PyPI package nvidia-cuda-cupti. Exits 77 when it is unset (skipped),
1 when a name does not exist on a chip that the catalogue gives for it.
"""
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys

RANGE, PM = 0, 1
COUNTER = re.compile(r"(?:[A-Z_]+\.TriageCompute\.)?[a-z0-9]+__[a-z0-9_]+")


def struct(*fields):
    """A parameter struct of the host API: every one begins with its size and a reserved pointer."""
    return type("Params", (ctypes.Structure,), {"_fields_": [("size", ctypes.c_size_t), ("reserved", ctypes.c_void_p), *fields]})


Initialize = struct(("type", ctypes.c_int), ("chip", ctypes.c_char_p), ("availability", ctypes.c_void_p), ("host", ctypes.c_void_p))
Deinitialize = struct(("host", ctypes.c_void_p))
BaseMetrics = struct(("host", ctypes.c_void_p), ("type", ctypes.c_int), ("names", ctypes.POINTER(ctypes.c_char_p)), ("count", ctypes.c_size_t))


def params(kind, **values):
    p = kind(**values)
    last = getattr(kind, kind._fields_[-1][0])
    p.size = last.offset + last.size
    return p


def load(folder: pathlib.Path):
    ctypes.CDLL(str(folder / "libnvperf_host.so"), mode=ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(str(sorted(folder.glob("libcupti.so*"))[-1]))


def base_metrics(cupti, chip: str, profiler: int) -> set[str]:
    """Names of all counters, ratios and throughputs of a chip; empty when the chip lacks this kind of profiling."""
    start = params(Initialize, type=profiler, chip=chip.encode())
    if cupti.cuptiProfilerHostInitialize(ctypes.byref(start)):
        return set()
    names = set()
    for kind in range(3):  # counters, ratios, throughputs
        p = params(BaseMetrics, host=start.host, type=kind)
        if cupti.cuptiProfilerHostGetBaseMetrics(ctypes.byref(p)) == 0:
            names.update(p.names[i].decode() for i in range(p.count))
    cupti.cuptiProfilerHostDeinitialize(ctypes.byref(params(Deinitialize, host=start.host)))
    return names


def wanted(catalogue):
    """(chip, profiler, what needs it, counter) for every counter that the catalogue names."""
    for metric in catalogue["metrics"]:
        for source in metric["inputs"]:
            if source["source"] in ("report", "pm"):
                profiler = PM if source["source"] == "pm" else RANGE
                for counter in COUNTER.findall(source["expression"]):
                    if not counter.endswith("_src_"):  # stands for the counters of the tensor table
                        yield from ((chip, profiler, metric["id"], counter) for chip in source["chips"])
    for path in catalogue["tensor"]:
        for counter in COUNTER.findall(path["counters"]):
            yield path["chip"], RANGE, "tensor " + path["type"], counter


def main() -> int:
    folder = os.environ.get("GPUFATHOM_CUPTI_DIR")
    if not folder:
        print("skipped: GPUFATHOM_CUPTI_DIR is unset")
        return 77
    cupti = load(pathlib.Path(folder))
    catalogue = json.loads(subprocess.run([sys.argv[1], "metrics", "--format", "json"], check=True, capture_output=True).stdout)
    known, missing, checked = {}, [], 0
    for chip, profiler, need, counter in wanted(catalogue):
        if (chip, profiler) not in known:
            known[chip, profiler] = base_metrics(cupti, chip, profiler)
        checked += 1
        if counter not in known[chip, profiler]:
            missing.append(f"{chip} {'pm' if profiler else 'report'}: {need} needs {counter}, which does not exist")
    print("\n".join(missing) or f"{checked} counters on {len({c for c, _ in known})} chips: all exist")
    return 1 if missing or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
