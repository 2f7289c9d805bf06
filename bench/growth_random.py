"""Inputs that grow in one dimension and are random in it: what regular data hides (equal spans,
sorted times, medians that stay) shows here. Each n gives the same file every time."""
import itertools
import random
import sqlite3

from growth_inputs import dimension, event, kernel, launch, op, trace


def sums(lengths):
    return list(itertools.accumulate(lengths, initial=1000))


def lengths(rng, n, middle=100):
    """Positive times of heavy scatter, as kernels and gaps have them: thousandths of a
    microsecond."""
    return [round(middle * rng.lognormvariate(0, 1) + .001, 3) for _ in range(n)]


def call_and_kernel(rng, i, start, name="gemm", tid=1, stream=7, device=0):
    return [launch(i + 1, round(start, 3), 3, tid),
            kernel(i + 1, round(start + rng.expovariate(.05) + 4, 3),
                   round(rng.lognormvariate(3, 1), 3), name, stream, device)]


@dimension(40_000)
def random_steps(folder, n):
    """Marks of ordinary scatter, each with a kernel."""
    rng = random.Random(n)
    spans = [round(200 * rng.uniform(.88, 1.12), 3) for _ in range(n)]
    marks = [event("user_annotation", f"ProfilerStep#{i}", start, span, 1)
             for i, (start, span) in enumerate(zip(sums(spans), spans))]
    return trace(folder, marks + [line for i, start in enumerate(sums(spans)[:-1])
                                  for line in call_and_kernel(rng, i, start + 5)])


@dimension(40_000)
def random_steps_unmarked(folder, n):
    """Steps of one kernel each, or of two, so that there are as many steps as kernels."""
    rng = random.Random(n)
    spans = [round(200 * rng.uniform(.88, 1.12), 3) for _ in range(n)]
    return trace(folder, [kernel(i + 1, start, round(span * rng.uniform(.5, .9), 3))
                          for i, (start, span) in enumerate(zip(sums(spans), spans))])


@dimension(40_000)
def random_marks_nested(folder, n):
    """Marks of a few families that nest and cross on several threads."""
    rng = random.Random(n)
    marks = [event("user_annotation", rng.choice([f"train_step {i}", f"epoch {i}", "iteration",
                                                  "forward", f"ProfilerStep#{i}"]),
                   rng.randrange(100 * n), rng.randrange(1, 50_000 if rng.random() < .02 else 400),
                   rng.randrange(1, 4))
             for i in range(n)]
    return trace(folder, marks + [line for i in range(n // 2)
                                  for line in call_and_kernel(rng, i, rng.randrange(100 * n),
                                                              tid=rng.randrange(1, 4))])


@dimension(20_000)
def random_names(folder, n):
    """As many names as kernels, and a few that recur."""
    rng = random.Random(n)

    def name(i):
        return rng.choice([f"void kernel_{rng.getrandbits(64):x}<float, {i}>(Tensor<{i}>, int)",
                           f"gemm_{int(rng.paretovariate(1))}", "elementwise"])
    starts = sums(lengths(rng, n))
    return trace(folder,
                 [line for i in range(n) for line in call_and_kernel(rng, i, starts[i], name(i))])


@dimension(40_000)
def random_starts(folder, n):
    """In no order, many of them equal, over a few hundred instants."""
    rng = random.Random(n)
    return trace(folder, [line for i in range(n)
                          for line in (launch(i + 1, rng.randrange(300), rng.randrange(3)),
                                                              kernel(i + 1, rng.randrange(300), rng.choice([0, 1, 1, rng.randrange(300)]), f"k{rng.randrange(9)}"))])


@dimension(20_000)
def random_streams_and_devices(folder, n):
    """Kernels and copies that overlap on streams whose number grows too, on 64 devices: each
    device's idle time is told apart by what the host did meanwhile, so that an answer is of the size of devices times events."""
    rng = random.Random(n)
    count = max(n // 40, 1)
    starts = sums(lengths(rng, n, 30))

    def one(i):
        device, stream = rng.randrange(64), rng.randrange(count)
        if rng.random() < .3:
            return [launch(i + 1, starts[i], 3, name="cudaMemcpyAsync"),
                    event("gpu_memcpy", "Memcpy " + rng.choice(["HtoD", "DtoH", "DtoD"]),
                          round(starts[i] + 5, 3), round(rng.lognormvariate(4, 1), 3), stream,
                          device,
                          device=device, stream=stream, correlation=i + 1,
                          bytes=rng.randrange(1 << 20))]
        return call_and_kernel(rng, i, starts[i], f"k{rng.randrange(60)}", rng.randrange(8), stream,
                               device)
    return trace(folder, [line for i in range(n) for line in one(i)], 64)


def nested(rng, start, end, depth, left):
    """A random tree of spans inside [start, end), as operations nest."""
    at = start
    while left[0] > 0 and end - at > 1:
        at += rng.uniform(0, (end - at) / 3)
        until = at + rng.uniform(0, end - at)
        left[0] -= 1
        yield at, until, depth
        if depth < 60:
            yield from nested(rng, at, until, depth + 1, left)
        at = until


@dimension(20_000)
def random_nesting(folder, n):
    """Trees of operations and Python frames on several threads, kernels launched anywhere in them,
    and waits."""
    rng = random.Random(n)
    lines, left = [], [n]
    for start in itertools.count(1000, 5000):
        if left[0] <= 0:
            break
        thread = rng.randrange(1, 9)
        for begin, end, depth in nested(rng, start, start + 5000 * rng.choice([1, 1, 1, 3]), 0,
                                        left):
            i = n - left[0]
            begin, span = round(begin, 3), round(end - begin, 3)
            if depth % 3 == 2:
                lines.append(event("python_function",
                                   rng.choice(["nn.Module: Block_%d" % rng.randrange(50),
                                               "run.py(3): step"]), begin, span, thread,
                                   **{"Python id": i}))
            else:
                lines.append(op(i, begin, span, f"aten::op{rng.randrange(200)}", thread))
            if rng.random() < .5:
                lines += call_and_kernel(rng, n + i, begin + span / 2, f"k{rng.randrange(300)}",
                                         thread)
            if rng.random() < .05:
                lines.append(event("cuda_runtime", "cudaStreamSynchronize", begin, span, thread,
                                   correlation=3 * n + i))
    rng.shuffle(lines)
    return trace(folder, lines)


@dimension(40_000)
def random_spans_crossing(folder, n):
    """Operations that begin one after the other and end far behind, across each other: hundreds are
    open at a launch."""
    rng = random.Random(n)
    starts = sums(lengths(rng, n))
    spans = [op(i, starts[i], round(100 * n * rng.uniform(.2, 1), 3),
                rng.choice(["aten::mul", "aten::item", "layer"])) for i in range(n)]
    return trace(folder, spans
                 + [line for i in range(n) for line in call_and_kernel(rng, i, starts[i] + 1)])


@dimension(40_000)
def random_spans_deep(folder, n):
    """As many operations as kernels, each inside the one before it."""
    rng = random.Random(n)
    starts = sums(lengths(rng, n))
    end = starts[-1] + 1000
    around = sorted(rng.uniform(0, 1000) for _ in range(n))
    spans = [op(n + i, round(at, 3), round(end + 1000 - 2 * at, 3),
                rng.choice(["aten::mul", "aten::item", "layer"])) for i, at in enumerate(around)]
    return trace(folder, spans
                 + [line for i in range(n) for line in call_and_kernel(rng, i, starts[i] + 1)])


@dimension(20_000)
def random_threads(folder, n):
    """Every launch on a thread drawn from as many, with the flow of its operation."""
    rng = random.Random(n)
    starts = sums(lengths(rng, n, 50))

    def one(i):
        tid = rng.randrange(max(n // 4, 1))
        arrow = {"ph": "s", "id": i, "pid": 1, "tid": tid, "ts": starts[i], "cat": "ac2g",
                 "name": "ac2g"}
        return [op(i + 1, starts[i], round(rng.expovariate(.01), 3), tid=tid),
                *call_and_kernel(rng, i, starts[i], tid=tid), str(arrow).replace("'", '"')]
    return trace(folder, [line for i in range(n) for line in one(i)])


KERNEL = -13  # the id of a word of a closed list is of the program's choosing
METRICS = ("gpu.busy", "sm.active_any", "issue.active", "tensor.active", "dram.active",
           "power.module")


@dimension(20_000)
def random_samples(folder, n):
    """A recording: noisy samples of hardware counters over kernels of random lengths, a third as
    many, in windows with gaps."""
    rng = random.Random(n)
    path = folder / "run.gpf"
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    db.executescript("pragma application_id = 1735419489; pragma user_version = 1;"
                     "create table strings(id integer primary key, text text not null);"
                     "create table source(path text, format text, framework text, events integer, bytes integer);"
                     "create table _devices(row integer primary key, id integer, name integer, vendor integer, compute_major integer, compute_minor integer);"
                     "create table _activities(row integer primary key, start_ns integer, duration_ns integer, device integer, stream integer, name integer,"
                     " kind integer, correlation integer);"
                     "create table _recording_windows(row integer primary key, start_ns integer, duration_ns integer, pid integer);"
                     "create table _counter_samples(row integer primary key, start_ns integer, duration_ns integer, device integer, metric integer, value real);"
                     "create table _metadata(row integer primary key, key integer, value integer);"
                     "create table _quality(row integer primary key, code integer, count integer, detail integer);"
                     "insert into source values('run', 'gpufathom_record', '', 0, 0);")
    words = ["", "NVIDIA H200", "nvidia", "record.interval_ns", "200000", "record.complete", "yes",
             *METRICS, *(f"kernel_{i}" for i in range(24))]
    db.executemany("insert into strings values(?,?)", [*enumerate(words), (KERNEL, "kernel")])
    db.execute("insert into _devices values(0, 0, 1, 2, 9, 0)")
    db.executemany("insert into _metadata values(?,?,?)", [(0, 3, 4), (1, 5, 6)])
    period = 200_000
    loads = [[rng.random() for _ in METRICS] for _ in range(24)]
    at, kernels = 0, []
    while at < n * period:
        kind, length = rng.randrange(24), int(rng.lognormvariate(12, 1)) + 1
        kernels.append((at, length, kind))
        at += length + int(rng.expovariate(1 / 60_000))
    db.executemany("insert into _activities values(?,?,?,0,7,?,?,?)",
                   [(i, start, length, 7 + len(METRICS) + kind, KERNEL, i)
                    for i, (start, length, kind) in enumerate(kernels)])
    db.execute("insert into _recording_windows values(0, 0, ?, -1)", (n * period,))
    now, rows = 0, []
    for i in range(n):
        while now + 1 < len(kernels) and kernels[now + 1][0] <= i * period:
            now += 1
        busy = kernels[now][0] + kernels[now][1] > i * period
        for metric in range(len(METRICS)):
            level = loads[kernels[now][2]][metric] * busy * rng.uniform(.9, 1.1)
            rows.append((len(rows), i * period + rng.randrange(200), period, 0, 7 + metric,
                         100 + 500 * level if metric == 5 else min(level, 1)))
    db.executemany("insert into _counter_samples values(?,?,?,?,?,?)", rows)
    db.commit()
    db.close()
    return path, []


@dimension(20_000)
def random_collectives(folder, n):
    """NCCL kernels of many groups between others, on two streams."""
    rng = random.Random(n)
    starts = sums(lengths(rng, n, 60))

    def one(i):
        if rng.random() < .5:
            return call_and_kernel(rng, i, starts[i], f"k{rng.randrange(40)}")
        kind, group = rng.choice(["AllReduce", "AllGather", "ReduceScatter",
                                  "SendRecv"]), rng.randrange(max(n // 50, 1))
        return [launch(i + 1, starts[i], 3),
                event("kernel", f"ncclDevKernel_{kind}_Sum_f32", round(starts[i] + 5, 3),
                      round(rng.lognormvariate(4, 1), 3), 20, 0,
                      **{"device": 0, "stream": 20, "correlation": i + 1,
                         "Collective name": kind.lower(), "Process Group Name": str(group),
                         "Group size": 2, "Process Group Ranks": "[0, 1]",
                         "In msg nelems": rng.randrange(1, 1 << 20), "dtype": "Float"})]
    return trace(folder, [line for i in range(n) for line in one(i)])
