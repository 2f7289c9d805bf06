"""A physical simulator of jobs of many ranks, for judging who is blamed: hosts launch, streams run
in order, a collective ends on all ranks of its group when the last one has arrived, plus its
transfer. Data, tensor and pipeline parallelism and their products; pipelines as GPipe, 1F1B and
interleaved (each rank holds several chunks of the layers). All times in microseconds.

    job = Job(ranks=8, tensor=2, pipeline=2, schedule="1f1b", faults=[Fault("slow_gpu", rank=3,
    factor=1.2)]).run()
    job.total()                 when the last rank is done: a fault's gain is this less that of the job without it
    job.write("folder")         Kineto traces, one a rank
"""
import dataclasses
import json
import os
import random

BEGIN_NS = 1_790_000_000_000_000_000
COMPUTE, TENSOR, DATA = 7, 21, 20  # streams


@dataclasses.dataclass(frozen=True)
class Fault:
    kind: str                # slow_gpu, slow_host, input, slow_link, extra_kernels
    rank: int = -1
    factor: float = 1.0      # of slow_gpu, slow_host, slow_link; how many of extra_kernels
    microseconds: float = 0  # of input
    group: str = ""          # of slow_link
    steps: tuple = ()        # empty: all


@dataclasses.dataclass
class Event:
    kind: str  # host, call, step, kernel, collective
    name: str
    start: float
    duration: float = 0
    number: int = 0  # external id
    correlation: int = 0
    stream: int = 0
    collective: dict = None


class Job:
    def __init__(self, ranks, tensor=1, pipeline=1, schedule="gpipe", chunks=1, steps=4, layers=8,
                 kernel=400.0, host=40.0,
                 transfer=300.0, micro_batches=4, faults=(), seed=1, noise=0.02, named_ranks=None):
        """`named_ranks`: of larger groups a collective's description names so many, as PyTorch's
        profiler does beyond 30; None: all."""
        self.ranks, self.tensor, self.pipeline, self.data = ranks, tensor, pipeline, ranks // (tensor * pipeline)
        self.schedule, self.chunks, self.steps, self.layers = schedule, chunks, steps, layers
        self.kernel, self.host, self.transfer, self.noise = kernel, host, transfer, noise
        self.micro_batches = micro_batches if pipeline > 1 else 1
        self.faults, self.seed, self.named_ranks = faults, seed, named_ranks
        self.events = [[] for _ in range(ranks)]
        self.arrived, self.ended, self.done, self.fresh = {}, {}, {}, []

    def named(self, group):
        if self.named_ranks is None or len(group) <= self.named_ranks:
            return str(group)
        return f"[{', '.join(map(str, group[:self.named_ranks - 1]))}, ..., {group[-1]}]"

    def place(self, rank):
        return rank % self.tensor, rank // self.tensor % self.pipeline, rank // (self.tensor * self.pipeline)

    def rank_at(self, tensor, stage, data):
        return tensor + self.tensor * (stage + self.pipeline * data)

    def run(self):
        """All ranks in turn, each until it needs an end that is not known yet."""
        programs = [Rank(self, rank).program() for rank in range(self.ranks)]
        ready, waiting = list(range(self.ranks)), {}
        while ready:
            rank = ready.pop()
            for needed in programs[rank]:
                if needed not in self.ended:
                    waiting.setdefault(needed, []).append(rank)
                    break
            for key in self.fresh:
                ready += waiting.pop(key, [])
            self.fresh = []
        assert not waiting, "deadlock"
        return self

    def arrive(self, key, rank, start, group, duration):
        starts = self.arrived.setdefault(key, {})
        starts[rank] = start
        if len(starts) == len(group):
            self.ended[key] = max(starts.values()) + duration
            self.fresh.append(key)

    def total(self):
        return max(self.done.values())

    def write(self, folder, offsets=None, leave_out=()):
        os.makedirs(folder, exist_ok=True)
        for rank in range(self.ranks):
            if rank in leave_out:
                continue
            offset = offsets[rank] if offsets else 0.0
            jitter = random.Random(self.seed * 31 + rank)
            trace = {"schemaVersion": 1, "baseTimeNanoseconds": BEGIN_NS, "displayTimeUnit": "ms",
                     "deviceProperties": [{"id": i, "name": "NVIDIA H200", "numSms": 132,
                                           "computeMajor": 9, "computeMinor": 0,
                                           "totalGlobalMem": 150109880320} for i in range(8)],
                     "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": self.ranks},
                     "traceEvents": [self.described(event, rank, offset, jitter) for event in self.events[rank]]}
            with open(os.path.join(folder, f"rank{rank:05d}.json"), "w") as out:
                out.write(json.dumps(trace))  # json.dump is written in Python, and takes ten times as long

    def described(self, event, rank, offset, jitter):
        row = {"ph": "X", "name": event.name, "ts": round(event.start + offset, 3),
               "dur": round(event.duration, 3)}
        if event.kind in ("host", "step", "call"):
            category = {"host": "cpu_op", "step": "user_annotation",
                        "call": "cuda_runtime"}[event.kind]
            if "DataLoader" in event.name:
                category = "user_annotation"
            args = {"External id": event.number}
            if event.correlation:
                args["correlation"] = event.correlation
            return row | {"cat": category, "pid": 100, "tid": 100, "args": args}
        args = {"External id": event.number, "correlation": event.correlation, "device": rank % 8,
                "context": 1, "stream": event.stream,
                "grid": [132, 1, 1], "block": [256, 1, 1]}
        if event.kind == "collective":
            known = event.collective
            row["dur"] = round(self.ended[known["key"]] - event.start + jitter.random() * 1.5, 3)
            elements = known["bytes"] // 4
            args |= {"grid": [16, 1, 1], "Collective name": known["kind"],
                     "In msg nelems": elements, "Out msg nelems": elements,
                     "dtype": "Float", "Group size": len(known["group"]), "Process Group Name": known["name"],
                     "Process Group Description": known["name"], "Process Group Ranks": self.named(known["group"]), "Seq": known["number"]}
            if "from" in known:
                args |= {"Src Rank": known["from"], "Dst Rank": known["to"]}
        return row | {"cat": "kernel", "pid": rank % 8, "tid": event.stream, "args": args}


class Rank:
    """One rank's program as a generator of the ends that it needs."""

    def __init__(self, job, rank):
        self.job, self.rank = job, rank
        self.tensor, self.stage, self.data = job.place(rank)
        self.random = random.Random(job.seed * 1000 + rank)
        self.now = 1000.0 + self.random.random() * 50
        self.streams, self.number, self.correlation, self.sequence, self.step = {}, 0, 0, {}, 0
        self.tensor_group = [job.rank_at(t, self.stage, self.data) for t in range(job.tensor)]
        self.data_group = [job.rank_at(self.tensor, self.stage, d) for d in range(job.data)]

    def fault(self, kind, **match):
        for fault in self.job.faults:
            if fault.kind == kind and (not fault.steps or self.step in fault.steps) and \
                    all(getattr(fault, key) == value for key, value in match.items()):
                return fault
        return None

    def end_of(self, end):
        """A number, or the key of a collective."""
        while isinstance(end, tuple):
            while end not in self.job.ended:
                yield end
            end = self.job.ended[end]
        return end

    def host(self, name, duration, launches=False, exact=False):
        fault = self.fault("slow_host", rank=self.rank)
        if not exact:
            duration *= (fault.factor if fault else 1.0) * (1
                                                            + self.job.noise * self.random.random())
        self.number += 1
        called = self.now + duration / 2
        if launches:
            self.correlation += 1
            self.add(Event("call", "cudaLaunchKernel", called, 4.0, self.number, self.correlation))
        self.add(Event("host", name, self.now, duration, self.number))
        self.now += duration
        return called + 4.0

    def add(self, event):
        self.job.events[self.rank].append(event)

    def begin_on(self, stream, launched, after):
        start = launched + 3.0
        before = yield from self.end_of(self.streams.get(stream, 0.0))
        if before:
            start = max(start, before + 1.0)
        for other in after:
            end = yield from self.end_of(other)
            start = max(start, end + 1.0)
        return start

    def run_kernel(self, name, duration, operator, after=()):
        start = yield from self.begin_on(COMPUTE, self.host(operator, self.job.host, launches=True),
                                         after)
        fault = self.fault("slow_gpu", rank=self.rank)
        duration *= (fault.factor if fault else 1.0) * (1 + self.job.noise * self.random.random())
        self.streams[COMPUTE] = start + duration
        self.add(Event("kernel", name, start, duration, self.number, self.correlation, COMPUTE))
        return start + duration

    def run_collective(self, known, duration, stream, after):
        launched = self.host("record_param_comms", 30.0, launches=True)
        start = yield from self.begin_on(stream, launched, after)
        kernel = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"
        if known["kind"] == "allreduce":
            kernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
        self.add(Event("collective", kernel, start, 0, self.number, self.correlation, stream,
                       known))
        self.job.arrive(known["key"], self.rank, start, known["members"], duration)
        self.streams[stream] = known["key"]
        return known["key"]

    def all_reduce(self, name, group, size, duration, stream, after):
        if len(group) == 1:
            return 0.0
        number = self.sequence[name] = self.sequence.get(name, -1) + 1
        fault = self.fault("slow_link", group=name)
        known = {"key": (name, number), "kind": "allreduce", "name": name, "group": group,
                 "members": group, "bytes": size, "number": number}
        return (yield from self.run_collective(known, duration * (fault.factor if fault else 1.0),
                                               stream, after))

    def message(self, kind, other, tag, micro, after=()):
        sender, receiver = (self.rank, other) if kind == "send" else (other, self.rank)
        name = f"pp{self.tensor}_{self.data}"
        group = [self.job.rank_at(self.tensor, stage, self.data)
                 for stage in range(self.job.pipeline)]
        known = {"key": ("message", sender, receiver, tag), "kind": kind, "name": name,
                 "group": group, "members": [sender, receiver],
                 "bytes": 1 << 20, "number": tag, "from": sender, "to": receiver}
        # A stream a micro-batch: a send that waits for its receiver holds up none of the others.
        stream = 100 + 2 * (other * self.job.micro_batches + micro) + (kind == "send")
        return (yield from self.run_collective(known, 60.0, stream, after))

    def layers(self, forward, after):
        """The kernels of one micro-batch in one chunk."""
        job = self.job
        count = max(1, job.layers // (job.pipeline * job.chunks))
        duration = job.kernel / (job.micro_batches if job.pipeline > 1
                                 else 1) * (1 if forward else 2)
        end = 0.0
        for _ in range(count):
            end = yield from self.run_kernel("gemm_forward" if forward else "gemm_backward",
                                             duration,
                                             "aten::mm" if forward else "MmBackward0", after)
            after = []
            if job.tensor > 1:
                after = [(yield from self.all_reduce(f"tp{self.stage}_{self.data}",
                                                     self.tensor_group, 4 << 20, 80.0, TENSOR,
                                                     [end]))]
        return [end, *after]

    def neighbour(self, chunk, forward):
        """Rank and chunk that a chunk's output goes to, or none after the last."""
        job = self.job
        place = chunk * job.pipeline + self.stage + (1 if forward else -1)
        if not 0 <= place < job.chunks * job.pipeline:
            return None
        return job.rank_at(self.tensor, place % job.pipeline, self.data), place // job.pipeline

    def micro_batch(self, forward, chunk, micro):
        """Receives, computes and sends; a message's tag is its step, place and direction."""
        job = self.job

        def tag(place):
            return ((self.step * job.micro_batches + micro) * job.chunks * job.pipeline
                    + place) * 2 + forward

        place = chunk * job.pipeline + self.stage
        after = []
        source = self.neighbour(chunk, not forward)
        if source:
            after = [(yield from self.message("recv", source[0], tag(place), micro))]
        ends = yield from self.layers(forward, after)
        target = self.neighbour(chunk, forward)
        if target:
            yield from self.message("send", target[0], tag(place + (1 if forward else -1)), micro,
                                    ends)
        return ends

    def order(self):
        """(forward, chunk, micro-batch) in the order of the schedule."""
        job = self.job
        every = range(job.micro_batches)
        if job.schedule == "1f1b" and job.pipeline > 1:
            ahead = min(job.pipeline - 1 - self.stage, job.micro_batches)
            steps = [(True, 0, micro) for micro in range(ahead)]
            for micro in every:
                if micro + ahead < job.micro_batches:
                    steps.append((True, 0, micro + ahead))
                steps.append((False, 0, micro))
            return steps
        forward = [(True, chunk, micro) for chunk in range(job.chunks) for micro in every]
        return forward + [(False, chunk, micro) for chunk in reversed(range(job.chunks))
                          for micro in every]

    def program(self):
        job = self.job
        for self.step in range(job.steps):
            begin, reduced = self.now, []
            fault = self.fault("input", rank=self.rank)
            if fault:
                self.host("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                          fault.microseconds, exact=True)
            extra = self.fault("extra_kernels", rank=self.rank)
            for _ in range(int(extra.factor) if extra else 0):  # shorter than their launches
                yield from self.run_kernel("augment", 15.0, "aten::mul")
            for forward, chunk, micro in self.order():
                ends = yield from self.micro_batch(forward, chunk, micro)
                if not forward and micro == job.micro_batches - 1:
                    for _ in range(max(1, job.layers // (2 * job.pipeline * job.chunks))):
                        reduced.append((yield from self.all_reduce(f"dp{self.tensor}_{self.stage}",
                                                                   self.data_group, 32 << 20,
                                                                   job.transfer, DATA, ends)))
            yield from self.run_kernel("adam", 200.0, "Optimizer.step#AdamW.step", reduced)
            yield from self.synchronize()
            self.add(Event("step", f"ProfilerStep#{self.step}", begin, self.now - begin))
            self.now += 3
        job.done[self.rank] = self.now

    def synchronize(self):
        last = 0.0
        for end in list(self.streams.values()):
            last = max(last, (yield from self.end_of(end)))
        begin, self.now = self.now, max(self.now, last) + 5.0
        self.correlation += 1
        self.number += 1
        self.add(Event("call", "cudaStreamSynchronize", begin, self.now - begin, 0,
                       self.correlation))
        self.add(Event("host", "aten::item", begin - 1, self.now - begin + 2, self.number))
        self.now += 2
