"""Times a program's steps without a profiler, and captures some of them with one."""
import gzip
import itertools
import os
import shutil
import statistics
import time

import torch
from torch.profiler import ProfilerActivity, profile, schedule

from setting import Program, Running, Setting

WARM_UP_STEPS = 6


def warm_up(setting: Setting, running: Running, program: Program):
    """Until all is tuned and allocated; a program that never settles gets two steps."""
    for _ in range(2 if program.measured < WARM_UP_STEPS else WARM_UP_STEPS):
        running.step()
    setting.synchronise()


def meet_profiler(setting: Setting):
    """One empty session: what a profiler leaves in the process is then there for every program."""
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if setting.cuda else [])
    with profile(activities=activities):
        torch.zeros(8, device=setting.device).sum()
    setting.synchronise()


def time_steps(setting: Setting, running: Running, steps: int, seconds: float):
    """Median time from one step's end to the next by the GPU's clock, and by the host's over all.

    The host is left to run ahead of the GPU, as it does in the program itself.
    """
    moments, hosts = [], []
    begin = time.perf_counter()
    for count in itertools.count():
        if count > steps and time.perf_counter() - begin > seconds:
            break
        if setting.cuda:
            moments.append(torch.cuda.Event(enable_timing=True))
            moments[-1].record()
        hosts.append(time.perf_counter())
        running.step()
    setting.synchronise()
    wall_ms = (time.perf_counter() - begin) / len(hosts) * 1e3
    # The first difference holds the start from an idle GPU.
    host = [(after - before) * 1e3 for before, after in itertools.pairwise(hosts)][1:]
    device = [before.elapsed_time(after) for before, after in itertools.pairwise(moments)][1:]
    times = device or host
    return {
        "steps": len(hosts),
        "median_ms": statistics.median(times),
        "spread_ms": statistics.median(abs(t - statistics.median(times)) for t in times),
        "wall_ms": wall_ms,
        "host_median_ms": statistics.median(host),
        "clock": "cuda events" if device else "host",
    }


def together(timings):
    """One timing is as it is; of several the median, and all of them beside it."""
    if len(timings) == 1:
        return timings[0]
    known = dict(timings[0])
    for key in ("median_ms", "wall_ms", "host_median_ms"):
        known[key] = statistics.median(timing[key] for timing in timings)
    return known | {"repeats": timings}


def capture(setting: Setting, running: Running, program: Program, trace: str):
    """Writes a trace of `program.active` steps after some under a profiler that is already warm."""
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if setting.cuda else [])
    lead = 1 if program.measured < WARM_UP_STEPS else 3
    times = []

    def steps(count, after=lambda: None):
        for _ in range(count):
            begin = time.perf_counter()
            running.step()
            times.append((time.perf_counter() - begin) * 1e3)
            after()

    how = {"activities": activities, "record_shapes": program.shapes}
    how |= {"with_stack": program.stacks, "with_modules": program.stacks}
    how |= {"profile_memory": program.memory}
    if program.marks:
        plan = schedule(wait=0, warmup=lead, active=program.active)
        with profile(**how, schedule=plan,
                     on_trace_ready=lambda p: p.export_chrome_trace(trace)) as p:
            steps(lead + program.active, p.step)
    else:
        profiler = profile(**how)
        profiler.prepare_trace()
        steps(lead)
        profiler.start_trace()
        steps(program.active)
        setting.synchronise()
        profiler.stop_trace()
        profiler.export_chrome_trace(trace)
    setting.synchronise()
    return {
        "host_ms_under_profiler": statistics.median(times[lead:]),
        "active": program.active,
        "recorded": {key: getattr(program, key) for key in ("stacks", "shapes", "marks", "memory")},
    }


def compress(trace: str):
    with open(trace, "rb") as plain, gzip.open(f"{trace}.gz", "wb", 9) as packed:
        shutil.copyfileobj(plain, packed)
    os.unlink(trace)
    return os.path.getsize(f"{trace}.gz")


def run(setting: Setting, program: Program, folder: str):
    """Builds, times and captures one program; what is known of it, as plain values."""
    torch.manual_seed(0)
    begin = time.perf_counter()
    running = program.build(setting)
    try:
        warm_up(setting, running, program)
        ready = time.perf_counter()
        # Ranks must make the same number of steps, whatever time they take.
        seconds = 0.5 if program.measured >= 30 and program.ranks == 1 else 0
        steps = setting.pick(program.measured, 4)
        if program.repeats > 1:
            seconds = 0.2
        seconds = setting.pick(seconds, 0)
        before = max(1, program.repeats // 2)
        timings = [time_steps(setting, running, steps, seconds) for _ in range(before)]
        suffix = f".rank{setting.rank}" if program.ranks > 1 else ""
        trace = os.path.join(folder, f"{program.name}{suffix}.json")
        under = capture(setting, running, program, trace)
        size = compress(trace)
        for _ in range(program.repeats - before):
            timings.append(time_steps(setting, running, steps, seconds))
        alone = together(timings)
    finally:
        running.close()
    known = {
        "program": program.name,
        "rank": setting.rank,
        "items": running.items,
        "alone": alone,
        **under,
        "trace": os.path.basename(trace) + ".gz",
        "trace_bytes": size,
        "ready_s": round(ready - begin, 2),
        "total_s": round(time.perf_counter() - begin, 2),
        "torch": torch.__version__,
    }
    if setting.cuda:
        known["gpu"] = torch.cuda.get_device_name()
        known["memory_bytes"] = torch.cuda.max_memory_allocated()
    return known
