"""Inputs that grow in one dimension: a function of n for each, which writes files and names the
commands that read them."""
import json
import sqlite3

# by name: (n of a full run, function of folder and n that gives the file to read and further
# arguments)
INPUTS = {}


def dimension(full):
    def declare(function):
        INPUTS[function.__name__] = (full, function)
        return function
    return declare


def event(category, name, start, duration, tid, pid=1, **args):
    return json.dumps({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid,
                       "ts": start, "dur": duration, "args": args})


def op(i, start, duration, name="aten::mm", tid=1, pid=1, **args):
    return event("cpu_op", name, start, duration, tid, pid, **{"External id": i, **args})


def launch(i, start, duration=4, tid=1, pid=1, name="cudaLaunchKernel"):
    return event("cuda_runtime", name, start, duration, tid, pid,
                 **{"External id": i, "correlation": i})


def kernel(i, start, duration=40, name="gemm", stream=7, device=0, correlation=None):
    return event("kernel", name, start, duration, stream, device,
                 **{"External id": i, "device": device, "stream": stream,
                    "correlation": i if correlation is None else correlation,
                    "grid": [8, 1, 1], "block": [128, 1, 1]})


def trace(folder, events, devices=1):
    properties = [{"id": d, "name": f"NVIDIA H200 {d}", "numSms": 132, "computeMajor": 9,
                   "computeMinor": 0} for d in range(devices)]
    path = folder / "trace.json"
    path.write_text('{"schemaVersion":1,"deviceProperties":'
                    + json.dumps(properties) + ',"traceEvents":[\n' + ",\n".join(events) + "]}\n")
    return path, []


def work(i, tid=1, pid=1, name="gemm", stream=7, device=0, op_name="aten::mm"):
    """An operation that launches a kernel, 100 us after the one before."""
    t = 1000 + 100 * i
    return [op(i + 1, t, 60, op_name, tid, pid), launch(i + 1, t + 10, 5, tid, pid),
            kernel(i + 1, t + 20, 40, name, stream, device)]


def every(n, make):
    return [line for i in range(n) for line in make(i)]


@dimension(20_000)
def kernels(folder, n):
    return trace(folder, every(n, work))


@dimension(10_000)
def kernel_names(folder, n):
    return trace(folder, every(n, lambda i: work(i,
                                                 name=f"void kernel_{i}<float, {i}>(Tensor<{i}>, int)", op_name=f"op::{i}")))


@dimension(10_000)
def streams(folder, n):
    return trace(folder, every(n, lambda i: work(i, stream=i)))


@dimension(20_000)
def overlap_on_a_stream(folder, n):
    """Every kernel ends after all others began."""
    return trace(folder, [kernel(i + 1, 1000 + i, 10 * n) for i in range(n)])


@dimension(5_000)
def devices(folder, n):
    return trace(folder, every(n, lambda i: work(i, device=i)), n)


@dimension(20_000)
def devices_with_kernels(folder, n):
    count = max(n // 40, 1)
    return trace(folder, every(n, lambda i: work(i, device=i % count)), count)


@dimension(10_000)
def host_threads(folder, n):
    return trace(folder, every(n, lambda i: work(i, tid=100 + i)))


@dimension(10_000)
def host_threads_at_once(folder, n):
    """Spans of all threads are open at one time."""
    return trace(folder, every(n, lambda i: [op(i + 1, 1000 + i, 10 * n, tid=100 + i),
                                             launch(i + 1, 2000 + 2 * n + i, 2, 100 + i),
                                             kernel(i + 1, 4000 + 12 * n + 50 * i)]))


@dimension(10_000)
def processes(folder, n):
    return trace(folder, every(n, lambda i: work(i, tid=100 + i, pid=100 + i)))


@dimension(10_000)
def nested_operations(folder, n):
    return trace(folder, every(n, lambda i: [op(i + 1, 1000 + i, 200 * n - 2 * i),
                                             launch(i + 1, 1000 + n + 50 * i),
                                             kernel(i + 1, 1010 + n + 50 * i)]))


@dimension(10_000)
def nested_modules(folder, n):
    frames = [event("python_function", f"nn.Module: Block_{i}", 1000 + i, 200 * n - 2 * i, 1,
                    **{"Python id": i, "Python parent id": i - 1})
              for i in range(n)]
    return trace(folder, frames + every(n,
                                        lambda i: [launch(i + 1, 1000 + n + 50 * i),
                                                   kernel(i + 1, 1010 + n + 50 * i)]))


@dimension(10_000)
def nested_annotations(folder, n):
    marks = [event("user_annotation", f"part {i} of it", 1000 + i, 200 * n - 2 * i, 1)
             for i in range(n)]
    return trace(folder, marks + every(n,
                                       lambda i: [launch(i + 1, 1000 + n + 50 * i),
                                                  kernel(i + 1, 1010 + n + 50 * i)]))


@dimension(10_000)
def operations_that_cross(folder, n):
    """Spans of one thread that overlap and do not nest."""
    return trace(folder, every(n, lambda i: [op(i + 1, 1000 + i, 5 * n),
                                             launch(i + 1, 1000 + 20 * n + 50 * i),
                                             kernel(i + 1, 1010 + 20 * n + 50 * i)]))


@dimension(10_000)
def forward_threads(folder, n):
    """Each forward operation on a thread of its own, all backward operations on one more."""
    def pair(i):
        return [op(2 * i + 1, 1000 + i, 1, tid=100 + i, **{"Sequence number": i}),
                op(2 * i + 2, 1000 + n + 100 * i, 60,
                   "autograd::engine::evaluate_function: MmBackward0", 2,
                   **{"Sequence number": i, "Fwd thread id": 1}),
                launch(2 * i + 2, 1010 + n + 100 * i, 5, 2), kernel(2 * i + 2, 1020 + n + 100 * i)]
    return trace(folder, every(n, pair))


@dimension(10_000)
def stream_waits(folder, n):
    waits = every(n, lambda i: [launch(n + i + 1, 10 * i, 2, name="cudaStreamWaitEvent"),
                                event("cuda_sync", "Stream Wait Event", 10 * i, 1, 7, 0,
                                      stream=i + 8, correlation=n + i + 1, device=0)])
    return trace(folder, waits + every(n,
                                       lambda i: [launch(i + 1, 10 * n + 100 * i),
                                                  kernel(i + 1, 10 * n + 100 * i + 10)]))


@dimension(10_000)
def nodes_of_a_graph(folder, n):
    calls = every(n // 1000, lambda i: [launch(i + 1, 1000 + 20_000 * i, name="cudaGraphLaunch")])
    nodes = [kernel(i + 1, 1050 + 20 * i, 15, f"gemm_{i % 50}", correlation=i // 1000 + 1)
             for i in range(n)]
    return trace(folder, calls + nodes)


@dimension(5_000)
def steps(folder, n):
    marks = [event("user_annotation", f"ProfilerStep#{i}", 1000 + 200 * i, 199, 1)
             for i in range(n)]
    return trace(folder, marks + every(2 * n, work))


@dimension(20_000)
def one_instant(folder, n):
    return trace(folder, every(n, lambda i: [op(i + 1, 1000, 10), launch(i + 1, 1000, 10),
                                             kernel(i + 1, 1000, 10)]))


@dimension(20_000)
def one_correlation(folder, n):
    return trace(folder, every(n, lambda i: [op(1, 1000 + 100 * i, 60), launch(1, 1010 + 100 * i),
                                             kernel(1, 1020 + 100 * i)]))


@dimension(20_000)
def arrows(folder, n):
    def arrow(i):
        start = {"ph": "s", "id": i, "pid": 1, "tid": 1, "ts": 1000 + 100 * i, "cat": "fwdbwd",
                 "name": "fwdbwd"}
        return [json.dumps(start),
                json.dumps({**start, "ph": "f", "tid": 2, "ts": 1050 + 100 * i, "bp": "e"})]
    return trace(folder, every(n, arrow) + every(n, work))


@dimension(20_000)
def export_of_nsight_systems(folder, n):
    path = folder / "run.sqlite"
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    db.execute("create table META_DATA_EXPORT(name text, value text)")
    db.execute("create table StringIds(id integer primary key, value text)")
    db.executemany("insert into StringIds values(?,?)",
                   [(i, f"kernel_{i}") for i in range(1, n + 1)])
    db.execute("create table CUPTI_ACTIVITY_KIND_KERNEL(start int, end int, deviceId int, streamId int, correlationId int, globalPid int, "
               "demangledName int, gridX int, gridY int, gridZ int, blockX int, blockY int, blockZ int)")
    db.executemany("insert into CUPTI_ACTIVITY_KIND_KERNEL values(?,?,0,7,?,16777216,?,1,1,1,128,1,1)",
                   [(1000 + 100 * i, 1040 + 100 * i, i, i + 1) for i in range(n)])
    db.commit()
    db.close()
    return path, []


@dimension(10_000)
def counters(folder, n):
    """A report with a launch for every kernel of the trace."""
    report = folder / "report.csv"
    rows = ['"ID","Process ID","Process Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","sm__throughput.avg.pct_of_peak_sustained_elapsed"',
            '"","","","","","","","","","","%"']
    rows += [f'"{i}","1","python","gemm_{i % 97}","1","7","(128, 1, 1)","(8, 1, 1)","0","9.0","{i % 100}"' for i in range(n)]
    report.write_text("\n".join(rows) + "\n")
    path, _ = trace(folder, every(n, lambda i: work(i, name=f"gemm_{i % 97}")))
    return path, ["--counters", report]


@dimension(20_000)
def power_log(folder, n):
    log = folder / "power.csv"
    rows = ["time_s, index, name, power.draw [W]",
            *(f"{i / 100:.2f}, 0, NVIDIA H200, {200 + i % 50}.00 W" for i in range(n))]
    log.write_text("\n".join(rows) + "\n")
    path, _ = trace(folder, every(1000, lambda i: [kernel(i + 1, 10 * n * i, 9 * n)]))
    return path, ["--power", log]
