"""Jobs whose hosts set the pace, simulated from the durations of a recorded trace; what is true is
known.

    hosts_test.py PROGRAM [--seeds 10] [--first 1] [--json]      (needs GPUFATHOM_CORPUS and NumPy; 77 where one is missing)

Every rank's host launches the same kernels and collectives one after the other; a device starts
what is launched when its stream is free, and no rank leaves a collective before all have arrived.
One host began late, so that the launches of the others lie ahead. Planted on another rank: its
input, or time outside any operator, in every step. What that costs in the long run is simulated
over 200 steps with and without it; what a rank's slow host costs within the capture, by simulating
the capture with that host's launches made at once.
"""
import argparse
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

corpus = os.environ.get("GPUFATHOM_CORPUS")
try:
    import numpy
except ImportError:
    corpus = None
if not corpus:
    print("GPUFATHOM_CORPUS is unset, or NumPy is not installed (./dev python)")
    sys.exit(77)

TRACE = pathlib.Path(corpus) / "public" / "hta_a100_nccl.json.gz"
STEPS, LONG = 6, 200
KINDS = ("none", "input", "other", "faster", "device")
CAUSES = {"input": "input", "other": "host_other"}


def recorded():
    """Durations of kernels and of hosts' pieces of work between two launches, and the collectives'
    shortest, in nanoseconds."""
    events = json.loads(gzip.decompress(TRACE.read_bytes()))["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    compute = [round(event["dur"] * 1000) for event in kernels
               if "nccl" not in event["name"].lower()]
    launches = sorted(event["ts"] for event in events if event.get("cat") == "cuda_runtime"
                      and "LaunchKernel" in event["name"])
    between = [round((later - earlier) * 1000) for earlier, later in zip(launches, launches[1:])]
    return compute, [piece for piece in between if 10_000 < piece < 400_000]


class Job:
    def __init__(self, seed, kernels, pieces):
        self.random = random = numpy.random.default_rng(seed)
        self.kind = KINDS[seed % len(KINDS)]
        self.ranks = int(random.choice([2, 4, 8]))
        count, every = int(random.integers(60, 160)), int(random.integers(4, 10))
        first = int(random.integers(0, max(len(kernels) - count, 1)))
        self.kernel = numpy.resize(numpy.array(kernels[first:]), count).astype(float)
        self.shared = numpy.arange(count) % every == every - 1
        self.kernel[self.shared] = random.integers(20_000, 60_000, int(self.shared.sum()))
        self.piece = random.choice(pieces, count).astype(float)
        host = self.piece.sum()
        busy = 0.3 if self.kind != "device" else 3.0
        self.kernel *= busy * host / self.kernel.sum()
        self.pace = random.uniform(0.95, 1.0, self.ranks)
        self.behind, self.late = (int(rank) for rank in random.choice(self.ranks, 2, replace=False))
        # The one that began late is no slower than the others; the lead of the others lasts for the
        # capture.
        share = random.uniform(0.12, 0.4)
        self.planted = share * host if self.kind != "none" else 0.0
        if self.kind == "faster":
            self.pace[self.late] = 0.97 - share - 0.05
        self.lead = STEPS * (self.planted
                             + 0.1 * host) if self.kind != "none" else random.uniform(0, 2) * host
        self.noise = random.normal(1, 0.01, (LONG, self.ranks))
        self.offset = [0] + [int(value) for value in random.integers(-3_000_000_000, 3_000_000_000, self.ranks - 1)]

    def run(self, steps, planted, at_once=None, lead=None):
        """When each rank's host works and launches, and when its device begins and ends, by step
        and kernel."""
        count = len(self.piece)
        launch, begin = numpy.zeros((self.ranks, steps,
                                     count)), numpy.zeros((self.ranks, steps, count))
        end, mark = numpy.zeros((self.ranks, steps, count)), numpy.zeros((self.ranks, steps + 1))
        host, free = numpy.zeros(self.ranks), numpy.zeros(self.ranks)
        host[self.behind] = self.lead if lead is None else lead
        for step in range(steps):
            mark[:, step] = host
            host[self.late] += planted
            for number in range(count):
                pieces = self.piece[number] * self.pace * self.noise[step]
                if at_once is not None:
                    pieces[at_once] = 0
                host += pieces
                launch[:, step, number] = host
                start = numpy.maximum(host + 5_000, free)
                free = (start.max() if self.shared[number] else start) + self.kernel[number]
                begin[:, step, number], end[:, step, number] = start, free
        mark[:, steps] = host
        return launch, begin, end, mark

    def in_the_long_run(self):
        """The gain of a step without the planted fault."""
        def pace(planted):
            end = self.run(LONG, planted)[2]
            return (end[:, -1, -1].max() - end[:, LONG // 2, -1].max()) / (LONG - 1 - LONG // 2)
        return pace(self.planted) - pace(0.0)

    def traces(self):
        launch, begin, end, mark = (numpy.rint(values).astype(numpy.int64)
                                    for values in self.run(STEPS, self.planted))
        for rank in range(self.ranks):
            events = []
            scatter = numpy.random.default_rng(rank).integers(-600, 600, begin[rank].shape)

            def add(name, kind, start, stop, thread, **args):
                start, stop = int(start) + self.offset[rank] + 4_448_000_000_000_000, int(stop) - int(start)
                events.append({"ph": "X", "cat": kind, "name": name,
                               "pid": 0 if kind == "kernel" else 100, "tid": thread,
                               "ts": start / 1000, "dur": stop / 1000, "args": args})

            for step in range(STEPS):
                add(f"ProfilerStep#{step + 3}", "user_annotation", mark[rank, step],
                    mark[rank, step + 1], 100)
                if rank == self.late and self.planted:
                    name = "checkpoint" if self.kind == "other" else "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
                    add(name, "user_annotation", mark[rank, step], mark[rank, step] + self.planted,
                        100)
                before = mark[rank, step] + (int(self.planted) if rank == self.late else 0)
                for number, shared in enumerate(self.shared):
                    now, link = launch[rank, step, number], step * len(self.shared) + number + 1
                    add("c10d::allreduce_" if shared else "aten::mm", "cpu_op", before, now, 100)
                    add("cudaLaunchKernel", "cuda_runtime", now - 3_000, now, 100, correlation=link)
                    name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)" if shared else "gemm"
                    more = {"Collective name": "allreduce", "In msg nelems": 1024 * (number + 1),
                            "Out msg nelems": 1024 * (number + 1), "dtype": "Float",
                            "Group size": self.ranks, "Process Group Name": "0",
                            "Process Group Ranks": str(list(range(self.ranks)))} if shared else {}
                    stop = end[rank, step, number] + (scatter[step, number] if shared else 0)
                    add(name, "kernel", begin[rank, step, number], stop, 7, correlation=link,
                        device=0, stream=7, **more)
                    before = now
            yield {"baseTimeNanoseconds": 1790857026000000000,
                   "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": self.ranks},
                   "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB"}],
                   "traceEvents": events}


def answer_of(program, job):
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for rank, trace in enumerate(job.traces()):
            paths.append(pathlib.Path(folder) / f"rank{rank}.json")
            paths[-1].write_text(json.dumps(trace))
        done = subprocess.run([program, "ranks", "--format", "json", *map(str, paths)],
                              stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def judge(program, seeds):
    kernels, pieces = recorded()
    found = missed = wrong = silent = by_stragglers = 0
    errors, said_of_true = [], []
    for seed in seeds:
        job = Job(seed, kernels, pieces)
        answer, gain = answer_of(program, job), job.in_the_long_run()
        behind = answer.get("falling_behind", [])
        right = [row for row in behind if row["rank"] == job.late
                 and row["cause"] == CAUSES.get(job.kind)]
        step = job.run(LONG, job.planted)[2][:, -1, -1].max() / LONG
        expected = job.kind in CAUSES and gain > 0.02 * step
        wrong += len(behind) - len(right) * expected
        found += expected and bool(right)
        missed += expected and not right
        silent += not expected and not behind
        if expected:
            first = answer["stragglers"][0] if answer["stragglers"] else {}
            by_stragglers += first.get("rank") == job.late and first.get("cause") == CAUSES[job.kind]
        if expected and right:
            errors.append(abs(right[0]["gain_step_ns"] - gain) / gain)
        if expected and not right:
            print(f"seed {seed}: {job.kind} on {job.late} of {job.ranks} is not found; gain {gain / 1e6:.2f} of {step / 1e6:.2f} ms", file=sys.stderr)
        if behind and not (expected and right):
            print(f"seed {seed}: {job.kind} on {job.late} of {job.ranks}, said: {behind}",
                  file=sys.stderr)
        of_slow = sum(row["gain_ns"] for row in answer["stragglers"] if row["rank"] == job.behind)
        real = job.run(STEPS, job.planted)[2][:, -1,
                                              -1].max() - job.run(STEPS, job.planted,
                                                                  at_once=job.behind,
                                                                  lead=0)[2][:, -1, -1].max()
        if job.kind != "device" and real > 0.02 * answer["span_ns"]:
            said_of_true.append(of_slow / real)
    return {"jobs": len(seeds), "planted": found + missed, "found": found,
            "by_stragglers_alone": by_stragglers,
            "precision": round(found / max(found + wrong, 1), 4), "recall": round(found / max(found + missed, 1), 4), "silent_where_nothing_is": silent,
            "gain_within_30_percent": round(sum(error <= 0.3 for error in errors) / max(len(errors), 1), 4),
            "median_gain_error": round(statistics.median(errors), 4) if errors else None,
            "slow_hosts": len(said_of_true), "slow_host_said_of_true_median": round(statistics.median(said_of_true), 3),
            "slow_host_said_of_true_most": round(max(said_of_true), 3)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = judge(options.program, range(options.first, options.first + options.seeds))
    if options.json:
        print(json.dumps(figures, indent=1))
        return
    assert figures["precision"] >= 0.95 and figures["recall"] >= 0.95 and figures["gain_within_30_percent"] >= 0.95, figures
    assert figures["slow_host_said_of_true_most"] <= 1.3, figures


if __name__ == "__main__":
    main()
