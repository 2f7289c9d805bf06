"""The invariants of a capture: its tables against the program, the GPU's sensors and NVML.

Unions, counts and means are computed here anew from the rows that `gpufathom query` prints.
"""
import csv
import gzip
import io
import json
import subprocess
from statistics import fmean, median


def query(gpufathom, capture, sql):
    done = subprocess.run(
        [gpufathom, "query", "--format", "csv", "--rows", "0", capture, sql],
        capture_output=True, text=True, timeout=60,
    )
    if done.returncode != 0 and not done.stdout:  # 1 with an answer: the capture is not whole
        raise RuntimeError(f"query of {capture}: {done.stderr[-300:]}")
    return list(csv.DictReader(io.StringIO(done.stdout)))


def analysis(gpufathom, capture):
    """The whole answer, its exit code, and its first lines as a person reads them."""
    done = subprocess.run([gpufathom, "analyze", capture, "--format", "json"],
                          capture_output=True, text=True, timeout=120)
    try:
        return json.loads(done.stdout), done.returncode, done.stderr.strip()[:300]
    except ValueError:
        return None, done.returncode, done.stderr.strip()[:300]


def union(spans, begin, end):
    """Nanoseconds of [begin, end) inside at least one span."""
    covered, reached = 0, begin
    for start, stop in sorted(spans):
        start, stop = max(start, reached), min(stop, end)
        if stop > start:
            covered += stop - start
            reached = stop
    return covered


def weighted(samples, begin, end):
    """Mean of samples over [begin, end), and the share of it that they cover."""
    seconds = total = 0
    for start, duration, value, *_ in samples:
        inside = min(start + duration, end) - max(start, begin)
        if inside > 0:
            seconds += inside
            total += inside * value
    return (total / seconds, seconds / (end - begin)) if seconds else (None, 0)


# The GPU's busy counter goes on after a kernel's end as its tracer sees it: memory is written back,
# the time is noted, the next launch is read. Measured on an H200: 1.4 to 1.6 us a kernel.
AFTER_A_KERNEL = 1500
# Up to so many kernels a second a program may be 3 % slower while they are recorded; past it each
# may cost it so much.
FAST, COST_OF_A_KERNEL = 20_000, 1.5e-6
STEP_FOUND = "step found in samples against the program's clock"


class Checks:
    """A list of comparisons, each with its limit."""

    def __init__(self):
        self.rows = []

    def add(self, name, value, reference, error, limit, note=""):
        known = error is not None
        self.rows.append({
            "check": name, "value": value, "reference": reference, "error": error,
            "limit": limit, "ok": abs(error) <= limit if known else None, "note": note,
        })

    def ratio(self, name, value, reference, limit, note=""):
        error = None
        if value is not None and reference:
            error = value / reference - 1
        self.add(name, value, reference, error, limit, note)

    def count(self, name, value, total, limit, note=""):
        """So many of a total are wrong; the limit is a share."""
        self.add(name, value, total, value / total if total else None, limit, note)


def own_step_ms(report, begin, end):
    """The program's own mean step over its groups that lie in [begin, end)."""
    edges = [report["start_ns"], *report["ends_ns"]]
    inside = [edge for edge in edges if begin <= edge <= end]
    if len(inside) < 3:
        return None
    return (inside[-1] - inside[0]) / 1e6 / report["group"] / (len(inside) - 1)


class Capture:
    """A capture's rows, asked for once; what was launched and what ran are joined here."""

    def __init__(self, gpufathom, path):
        def numbers(sql, *names):
            return [tuple(int(row[name] or 0) for name in names)
                    for row in query(gpufathom, path, sql)]

        # A launcher opens windows too, and runs nothing.
        self.windows = numbers(
            """select start_ns, start_ns + duration_ns as end_ns, pid from recording_windows
               where pid in (select pid from activities where kind = 'kernel') order by 1""",
            "start_ns", "end_ns", "pid")
        self.steps = numbers("select start_ns, duration_ns from steps order by start_ns",
                             "start_ns", "duration_ns")
        kernels = numbers(
            """select start_ns, duration_ns, correlation, pid, graph_id is not null as graph, device
               from activities where kind = 'kernel'""",
            "start_ns", "duration_ns", "correlation", "pid", "graph", "device")
        others = numbers(
            """select start_ns, duration_ns, correlation, pid, device from activities
               where kind <> 'kernel'""",
            "start_ns", "duration_ns", "correlation", "pid", "device")
        calls = numbers(
            """select a.start_ns, correlation, t.pid, kind = 'launch' as launch
               from api_calls a join threads t on t.row = a.thread""",
            "start_ns", "correlation", "pid", "launch")
        self.calls = calls
        called = {(correlation, pid) for _, correlation, pid, _ in calls}
        ran = {row[2:4] for row in kernels} | {row[2:4] for row in others}
        self.kernels = [(start, length, graph, (correlation, pid) in called, device, pid,
                         correlation)
                        for start, length, correlation, pid, graph, device in kernels]
        self.others = [(start, length, device, pid) for start, length, _, pid, device in others]
        self.launches = [(start, (correlation, pid) in ran, pid)
                         for start, correlation, pid, launch in calls if launch]
        self.busy = [
            (int(row["start_ns"]), int(row["duration_ns"]), float(row["value"]),
             int(row["device"] or 0))
            for row in query(gpufathom, path, """select start_ns, duration_ns, value, device
                from counter_samples where metric = 'gpu.busy' and duration_ns > 0
                order by start_ns""")
        ]
        self.power = [
            (int(row["start_ns"]), float(row["value"]), int(row["device"] or 0)) for row in query(
                gpufathom, path, """select start_ns, value, device from counter_samples
                where metric = 'power.module' order by start_ns""")
        ]
        self.quality = {row["code"]: int(row["count"])
                        for row in query(gpufathom, path, "select code, count from quality")}


def check_activities(checks, capture):
    """Times that cannot be, and launches that do not meet their kernels."""
    everything = [(row[0], row[1], row[5]) for row in capture.kernels]
    everything += [(row[0], row[1], row[3]) for row in capture.others]
    impossible = sum(start <= 0 or length < 0 for start, length, _ in everything)
    checks.count("times of 0 or ends before starts", impossible, len(everything), 0)
    outside = sum(
        not any(begin <= start and start + length <= end
                for begin, end, process in capture.windows if process == pid)
        for start, length, pid in everything if start > 0
    )
    checks.count("activities outside every window", outside, len(everything), 0.005)
    # Kernels at the beginning of a window were launched before it.
    first = {}
    for begin, end, pid in capture.windows:
        numbers = [n for start, n, process, _ in capture.calls
                   if process == pid and begin <= start < end]
        first[begin, pid] = min(numbers, default=0)

    def waited(kernel):
        return any(number > kernel[6] for (begin, pid), number in first.items()
                   if pid == kernel[5] and begin - 10_000_000 <= kernel[0] < begin + 2_000_000_000)

    plain = [k for k in capture.kernels if not k[2] and (k[3] or not waited(k))]
    checks.count("kernels without a launch call", sum(not k[3] for k in plain), len(plain), 0.001,
                 f"{len(capture.kernels) - len(plain)} more are of graphs")
    for begin, end, pid in capture.windows[:3]:
        margin = (end - begin) // 10
        inside = [ran for start, ran, process in capture.launches
                  if process == pid and begin + margin < start < end - margin]
        name = f"launches without a kernel, window at {begin}"
        checks.count(name, sum(not ran for ran in inside), len(inside), 0.001)


def check_busy(checks, capture, begin, end, device, label):
    """Kernels' union against the sampled busy share of one device over the same time."""
    def spans(rows, place):
        return [(row[0], row[0] + row[1]) for row in rows if row[place] == device]

    kernels = spans(capture.kernels, 4)
    everything = kernels + spans(capture.others, 2)
    sampled, covered = weighted([row for row in capture.busy if row[3] == device], begin, end)
    kernel_busy = union(kernels, begin, end) / (end - begin)
    all_busy = union(everything, begin, end) / (end - begin)
    longer = union([(start, stop + AFTER_A_KERNEL) for start, stop in everything], begin, end)
    longer /= end - begin
    error = None if sampled is None else longer - sampled
    checks.add(f"kernel-busy against sampled busy, {label}", longer, sampled, error, 0.015,
               f"each {AFTER_A_KERNEL / 1e3:g} us longer; kernels alone {kernel_busy:.4f}, with "
               f"copies {all_busy:.4f}; samples cover {covered:.3f} of it")


def check_window(checks, capture, report, window, own_kernels):
    begin, end = max(window[0], report["start_ns"]), min(window[1], report["end_ns"])
    if end - begin < 200_000_000:
        return
    # Kernels that run while a window opens or closes are not all recorded.
    begin, end = begin + 20_000_000, end - 20_000_000
    label = f"window of {(end - begin) / 1e9:.2f} s"
    devices = sorted({row[4] for row in capture.kernels if row[5] == window[2]})
    for device in devices:
        check_busy(checks, capture, begin, end, device,
                   label + (f", device {device}" if device else ""))
    step_ms = own_step_ms(report, begin, end) if "ends_ns" in report else None
    count = sum(begin <= row[0] < end and row[5] == window[2] for row in capture.kernels)
    if own_kernels and step_ms:
        a_step = count / ((end - begin) / 1e6) * step_ms
        checks.ratio(f"kernels a step against the program's count, {label}", a_step, own_kernels,
                     0.01, f"{count} kernels")


def check_steps(checks, capture, report, answer):
    begin, end = report["start_ns"], report["end_ns"]
    ranks = [report, *report.get("ranks", [])]
    begin = min(rank["start_ns"] for rank in ranks)
    end = max(rank["end_ns"] for rank in ranks)
    marked = [s for s in capture.steps if begin <= s[0] and s[0] + s[1] <= end]
    checks.ratio("marks against the program's steps", len(marked),
                 sum(rank["steps"] for rank in ranks), 0.002)
    if answer is None:
        return
    steps = answer["window"].get("steps") or []
    if len(steps) < 2:
        return checks.add("steps of the analysis", len(steps), None, None, 0,
                          f"the window is {answer['window'].get('kind')}")
    first, last = steps[0], steps[-1]
    last_end = last["start_ns"] + last["duration_ns"]
    theirs = (last_end - first["start_ns"]) / 1e6 / len(steps)
    mine = own_step_ms(report, first["start_ns"] - 1_000_000, last_end + 1_000_000)
    checks.ratio("step of the analysis against the program's clock", theirs, mine, 0.005,
                 f"{len(steps)} steps; median {median(s['duration_ns'] for s in steps) / 1e6:.4f} "
                 f"ms; window {answer['window'].get('kind')}")


def check_energy(checks, capture, report):
    """Power integrated over the loop against NVML's counter as the program read it."""
    ranks = [report, *report.get("ranks", [])]
    devices = sorted({point[2] for point in capture.power})
    for device, rank in zip(devices, ranks):
        begin, end = rank["start_ns"], rank["end_ns"]
        inside = [point for point in capture.power
                  if point[2] == device and begin <= point[0] <= end]
        if len(inside) < 10 or not rank.get("energy_joules"):
            continue
        joules = 0.0
        for (start, watts, _), (stop, later, _) in zip(inside, inside[1:]):
            joules += (watts + later) / 2 * (stop - start) / 1e9
        joules *= (end - begin) / (inside[-1][0] - inside[0][0])
        checks.ratio("energy against NVML's counter" + (f", GPU {device}" if device else ""),
                     joules, rank["energy_joules"], 0.02)


def check_cost(checks, capture, report):
    """The program's own step inside windows against outside, side by side."""
    ratios, kernels, seconds = [], 0, 0
    for begin, end, pid in capture.windows:
        if pid != report.get("pid", pid):
            continue
        inside = own_step_ms(report, begin + 50_000_000, end)
        before = own_step_ms(report, begin - 900_000_000, begin - 30_000_000)
        after = own_step_ms(report, end + 200_000_000, end + 1_100_000_000)
        outside = [ms for ms in (before, after) if ms]
        if inside and outside:
            ratios.append(inside / fmean(outside) - 1)
            kernels += sum(begin <= row[0] < end and row[5] == pid for row in capture.kernels)
            seconds += (end - begin) / 1e9
    if not ratios:
        return
    if not kernels:
        return
    rate = kernels / seconds
    limit = 0.03 if rate <= FAST else max(0.03, rate * COST_OF_A_KERNEL)
    checks.add("program slower inside windows", fmean(ratios), 0, fmean(ratios), limit,
               f"{rate:.0f} kernels a second, {fmean(ratios) / rate * 1e6:.2f} us each; "
               f"{len(ratios)} windows: {', '.join(f'{r:+.4f}' for r in ratios)}")


def check_recorder(checks, summary, limit):
    seconds = summary["duration_ns"] / 1e9
    used = summary["recorder_cpu_seconds"]
    # Its start takes as much as some seconds of recording.
    checks.add("recorder's share of a core", used / seconds, None, used / seconds, limit,
               f"{used:.2f} s in {seconds:.1f} s, start included")


def check_link(checks, gpufathom, path):
    """The bytes that one of two GPUs sends over NVLink, the other receives."""
    rows = query(gpufathom, path, """select metric, device, sum(value) as bytes
        from counter_samples where metric in ('nvlink.rx', 'nvlink.tx') group by 1, 2""")
    total = {(row["metric"], int(row["device"])): float(row["bytes"]) for row in rows}
    if len(total) == 4 and total["nvlink.tx", 0]:
        checks.ratio("NVLink bytes received against those the other GPU sent",
                     total["nvlink.rx", 1], total["nvlink.tx", 0], 0.01)


def check_summary(recorded):
    """The recorder's own summary of a run whose capture is gone."""
    checks, summary = Checks(), recorded.summary
    checks.add("kernels recorded", summary["kernels"], None, 0 if summary["kernels"] else 1, 0)
    for device in summary["devices"]:
        checks.ratio(f"energy counter against power's integral, GPU {device['index']}",
                     device["energy_joules"], device["energy_integral_joules"], 0.02)
    links = [device["totals"] for device in summary["devices"]]
    if len(links) == 2 and "nvlink.tx" in links[0]:
        checks.ratio("NVLink bytes received against those the other GPU sent",
                     links[1]["nvlink.rx"], links[0]["nvlink.tx"], 0.01)
    check_recorder(checks, summary, 0.25)
    return checks.rows, {"kernels": summary["kernels"], "marks": summary["steps"]}


def check_kernels(gpufathom, recorded, own_kernels):
    """All that holds of a capture with kernels."""
    checks, report = Checks(), recorded.report
    capture = Capture(gpufathom, recorded.capture)
    checks.add("kernels recorded", len(capture.kernels), None,
               0 if capture.kernels else 1, 0, f"{len(capture.windows)} windows")
    check_activities(checks, capture)
    answer, code, complaint = analysis(gpufathom, recorded.capture)
    checks.add("analyze", code, 0, code, 0, complaint)
    if report and "start_ns" in report:
        for window in capture.windows[:4]:
            check_window(checks, capture, report, window, own_kernels)
        check_energy(checks, capture, report)
        check_link(checks, gpufathom, recorded.capture)
    if report and "ends_ns" in report:
        check_steps(checks, capture, report, answer)
        check_cost(checks, capture, report)
    if recorded.summary:
        check_recorder(checks, recorded.summary, 0.25)
    if answer:
        window = answer["window"]["duration_ns"] / 1e9
        checks.add("the answer's window, s", window, recorded.seconds,
                   0 if window <= recorded.seconds else window, 0)
    return checks.rows, {"quality": capture.quality, "windows": capture.windows,
                         "kernels": len(capture.kernels), "marks": len(capture.steps)}


def sampled_total(gpufathom, capture, metric, begin, end):
    rows = query(gpufathom, capture, f"""select sum(value) as total, sum(duration_ns) as covered
        from counter_samples where metric = '{metric}' and start_ns >= {begin}
        and start_ns + duration_ns <= {end}""")
    if not rows or not rows[0]["total"]:
        return None
    # Samples that never arrived are taken as the others are.
    return float(rows[0]["total"]) * (end - begin) / float(rows[0]["covered"])


def counted_by_ncu(path):
    """Sums over the kernels of one step."""
    names = {"dram.read": "dram__bytes_read.sum", "dram.write": "dram__bytes_write.sum",
             "inst.executed": "smsp__inst_executed.sum"}
    scale = {"Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}
    with gzip.open(path, "rt") as text:
        rows = list(csv.reader(line for line in text if line.startswith('"')))
    if len(rows) < 3:
        return {}, 0
    place, units = {name: at for at, name in enumerate(rows[0])}, rows[1]
    sums = {}
    for metric, counter in names.items():
        at = place.get(counter)
        if at is not None:
            factor = scale.get(units[at], 1)
            sums[metric] = sum(float(row[at].replace(",", "")) * factor for row in rows[2:])
    return sums, len(rows) - 2


def check_counts(gpufathom, recorded, ncu_report):
    """What the samples say of a step of the undisturbed program against ncu's sum over its
    kernels."""
    checks, report = Checks(), recorded.report
    if not report or "ends_ns" not in report:
        return checks.rows, {}
    counted, kernels = counted_by_ncu(ncu_report)
    for metric, theirs in counted.items():
        total = sampled_total(gpufathom, recorded.capture, metric, report["start_ns"],
                              report["end_ns"])
        mine = total / report["steps"] if total else None
        checks.ratio(f"{metric} a step against ncu", mine, theirs, 0.03, f"{kernels} kernels")
    return checks.rows, {}


def find_step_again(gpufathom, recorded, rows):
    """The rows of check_levels, that of the step with what today's program finds in the samples.
    The others are the program's own, and the recorder's."""
    if not recorded.capture:
        return rows
    answer, _, _ = analysis(gpufathom, recorded.capture)
    again = Checks()
    for row in rows:
        device = (answer or {}).get("samples", {}).get("devices", [{}])[0]
        if row["check"] != STEP_FOUND:
            again.rows.append(row)
            continue
        found = device.get("step_ns")
        again.ratio(STEP_FOUND, found / 1e6 if found else None, row["reference"], row["limit"],
                    f"confidence {device.get('step_confidence')}")
    return again.rows


def check_levels(recorded):
    """The program's step with the recorder beside it and without, in turns; the recorder's cost."""
    checks, report = Checks(), recorded.report
    if report and "ends_ns" in report:
        means = {
            kind: [
                ms for phase in recorded.phases if phase[0] == kind
                for ms in [own_step_ms(report, phase[1], phase[2])] if ms
            ]
            for kind in ("on", "off")
        }
        if means["on"] and means["off"]:
            spread = max(means["off"]) / min(means["off"]) - 1
            checks.ratio("program's step beside the recorder", fmean(means["on"]),
                         fmean(means["off"]), 0.01, f"without it {spread:.4f} apart")
        for device in (recorded.summary or {}).get("devices", [])[:1]:
            last = [phase for phase in recorded.phases if phase[0] == "on"][-1:]
            mine = own_step_ms(report, last[0][1], last[0][2]) if last else None
            found = device.get("step_ns")
            checks.ratio(STEP_FOUND,
                         found / 1e6 if found else None, mine, 0.005,
                         f"confidence {device.get('step_confidence')}")
    if recorded.summary:
        check_recorder(checks, recorded.summary, 0.10 + 0.45 / 1.5)
    for phase in recorded.phases:
        if phase[0] not in ("on", "off"):
            checks.add(f"{phase[0]}: exit code", phase[3], 0, phase[3], 0)
    return checks.rows, {}
