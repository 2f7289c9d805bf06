#!/usr/bin/env python3
"""Checks every counter name of the metric catalogue and of the energy model against the CUPTI
profiler host API, which needs no GPU.

    check_metrics.py PROGRAM

PROGRAM is gpufathom; its catalogue is read with `metrics --format json`. GPUFATHOM_CUPTI_DIR is the
folder with libcupti.so.* and libnvperf_host.so, for example nvidia/cu13/lib of the PyPI package
nvidia-cuda-cupti. With GPUFATHOM_CORPUS set, GH100 is asked with the counter availability of a real
H200. Exits 77 when no library is given (skipped), 1 when a name does not exist on a chip that the
catalogue gives for it, or exists but cannot be collected with its roll-up.
"""
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys

RANGE, PM = 0, 1
COUNTER = re.compile(r"((?:[A-Z_]+\.TriageCompute\.)?[a-z0-9]+__[a-z0-9_]+)((?:\.[a-z_]+)*)")


def struct(*fields):
    """A parameter struct of the host API: every one begins with its size and a reserved pointer."""
    return type("Params", (ctypes.Structure,),
                {"_fields_": [("size", ctypes.c_size_t), ("reserved", ctypes.c_void_p), *fields]})


Initialize = struct(("type", ctypes.c_int), ("chip", ctypes.c_char_p),
                    ("availability", ctypes.c_void_p), ("host", ctypes.c_void_p))
AddMetrics = struct(("host", ctypes.c_void_p), ("names", ctypes.POINTER(ctypes.c_char_p)),
                    ("count", ctypes.c_size_t))
BaseMetrics = struct(("host", ctypes.c_void_p), ("type", ctypes.c_int),
                     ("names", ctypes.POINTER(ctypes.c_char_p)), ("count", ctypes.c_size_t))


def params(kind, **values):
    p = kind(**values)
    last = getattr(kind, kind._fields_[-1][0])
    p.size = last.offset + last.size
    return p


def load(folder: pathlib.Path):
    ctypes.CDLL(str(folder / "libnvperf_host.so"), mode=ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(str(sorted(folder.glob("libcupti.so*"))[-1]))


class Host:
    """The host API for one chip and one kind of profiling."""

    def __init__(self, cupti, chip: str, profiler: int, availability: bytes | None):
        self.cupti, self.image = cupti, availability
        self.start = params(Initialize, type=profiler, chip=chip.encode())
        if availability:
            self.start.availability = ctypes.cast(ctypes.c_char_p(availability), ctypes.c_void_p)
        self.there = cupti.cuptiProfilerHostInitialize(ctypes.byref(self.start)) == 0
        self.names = set()
        for kind in range(3 if self.there else 0):  # counters, ratios, throughputs
            p = params(BaseMetrics, host=self.start.host, type=kind)
            if cupti.cuptiProfilerHostGetBaseMetrics(ctypes.byref(p)) == 0:
                self.names.update(p.names[i].decode() for i in range(p.count))

    def collects(self, name: str) -> bool:
        names = (ctypes.c_char_p * 1)(name.encode())
        p = params(AddMetrics, host=self.start.host, names=names, count=1)
        return self.cupti.cuptiProfilerHostConfigAddMetrics(ctypes.byref(p)) == 0


def wanted(catalogue, energy):
    """(chip, profiler, what needs it, counter, roll-up) for every counter that the catalogue and
    the energy model name."""
    for metric in catalogue["metrics"]:
        for source in metric["inputs"]:
            if source["source"] in ("report", "pm"):
                profiler = PM if source["source"] == "pm" else RANGE
                for counter, rollup in COUNTER.findall(source["expression"]):
                    if not counter.endswith("_src_"):  # stands for the counters of the tensor table
                        yield from ((chip, profiler, metric["id"], counter, rollup)
                                    for chip in source["chips"])
    for name in energy:
        yield "GH100", RANGE, "the energy model", *COUNTER.fullmatch(name).groups()
    for path in catalogue["tensor"]:
        for counter, _ in COUNTER.findall(path["counters"]):
            yield path["chip"], RANGE, "tensor " + path["type"], counter, ".sum"


def real_availability(chip: str, profiler: int) -> bytes | None:
    image = pathlib.Path(os.environ.get("GPUFATHOM_CORPUS") or "/nonexistent", "h200",
                         "h200_pm_availability.bin")
    return image.read_bytes() if (chip, profiler) == ("GH100", PM) and image.is_file() else None


def main() -> int:
    folder = os.environ.get("GPUFATHOM_CUPTI_DIR")
    if not folder:
        print("skipped: GPUFATHOM_CUPTI_DIR is unset")
        return 77
    cupti = load(pathlib.Path(folder))
    catalogue = json.loads(subprocess.run([sys.argv[1], "metrics", "--format", "json"], check=True,
                                          capture_output=True).stdout)
    energy = subprocess.run([sys.argv[1], "calibrate", "--list-counters"], check=True,
                            capture_output=True, text=True).stdout.split()
    hosts, missing, checked = {}, [], 0
    for chip, profiler, need, counter, rollup in wanted(catalogue, energy):
        if (chip, profiler) not in hosts:
            hosts[chip, profiler] = Host(cupti, chip, profiler, real_availability(chip, profiler))
        host, where = hosts[chip, profiler], f"{chip} {'pm' if profiler else 'report'}: {need} needs {counter}{rollup}"
        checked += 1
        if counter not in host.names:
            missing.append(f"{where}, which does not exist")
        elif host.image and counter.upper().startswith("NVL"):
            continue  # the board whose availability this is has no NVLink connected
        elif not host.collects(counter + rollup):
            missing.append(f"{where}, which cannot be collected")
            del hosts[chip, profiler]  # after a refusal it refuses everything
    print("\n".join(missing) or f"{checked} counters on {len({c for c, _ in hosts})} chips: all exist and can be collected")
    return 1 if missing or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
