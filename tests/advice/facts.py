#!/usr/bin/env python3
"""Facts for a person who judges a capture: one block of plain numbers from raw events, no opinion.

    facts.py TRACE... [--idle]     (--idle labels every gap of the steady part by docs/idle.md, which takes a while)

The steady part is the marked steps without the first quarter of them, or the last two thirds of the
device's time.
"""
import collections
import os
import re
import sys

import judge_idle
import raw

COLLECTIVE = re.compile(r"nccl|rccl|cross_device_reduce|all_?reduce|multimem|nvshmem", re.I)
MULTIPLY = re.compile(r"gemm|xmma|cutlass|cublas|conv|wgrad|dgrad|fprop|winograd|nvjet|Cijk|ck::|_mm_|matmul|tensile|scudnn|fft2d|cgemm", re.I)
FP32 = re.compile(r"sgemm|f32f32_f32f32_f32|simt|scudnn|gemv.*<.*float, float|winograd.*s.*float|fft2d|gemmSN|implicit_convolve_sgemm|_Cijk.*_SB_", re.I)
ATTENTION = re.compile(r"flash|fmha|attention|mha_|sdpa|paged", re.I)
COPYING = re.compile(r"direct_copy|bfloat16_copy|float16_copy|copy_kernel|copy_device_to_device|CatArray|nchwToNhwc|nhwcToNchw|Memcpy DtoD|transpose", re.I)
POINTWISE = re.compile(r"elementwise|vectorized|softmax|layer_?norm|batch_norm|dropout|reduce_kernel|BinaryFunctor|GeluCUDA|layer_norm|RowwiseMoments|bn_", re.I)


def share(part, whole):
    return f"{100 * part / whole:.1f}%" if whole else "-"


def us(ns):
    return f"{ns / 1000:.1f}us" if ns < 10_000_000 else f"{ns / 1e6:.1f}ms"


def steady_part(trace):
    first, last = trace.activities[0].start, max(a.end for a in trace.activities)
    steps = raw.steps_of(trace)
    launched = [(min((a.start for c in trace.calls if s <= c.start < e for a in c.started),
                     default=None)) for _, s, e in steps]
    starts = [x for x in launched if x is not None]
    if len(starts) >= 2:
        return starts[(len(starts) + 1) // 4], last, starts
    return first + (last - first) // 3, last, starts


def main():
    with_idle = "--idle" in sys.argv
    for path in [a for a in sys.argv[1:] if not a.startswith("--")]:
        trace = raw.read_trace(path)
        print(f"\n=== {os.path.basename(path)}")
        if not trace.activities:
            print(f"no device activity; {len(trace.calls)} calls, {len(trace.ops)} host operations")
            continue
        start, end, starts = steady_part(trace)
        used = {d.get("id"): d.get("name") for d in trace.devices}
        sms = next((d.get("numSms") for d in trace.devices if d.get("numSms")), 108)
        all_busy = sum(e - s for s, e in union([(a.start, a.end) for a in trace.activities]))
        span = max(a.end for a in trace.activities)
        print(f"devices {trace.device_ids()} of {sorted(set(map(str, used.values())))}, span {us(span)} busy {share(all_busy, span)}; "
              f"{len(trace.activities)} activities, {sum(a.call is None for a in trace.activities)} without a launch; steps start "
              f"{[round(x / 1e6, 1) for x in starts][:12]}; distributed {trace.metadata.get('distributedInfo', {}).get('world_size')}")
        acts = [a for a in trace.activities if a.end > start]
        window = end - start
        busy = sum(e - max(s, start) for s, e in union([(a.start, a.end) for a in acts]))
        kernels = [a for a in acts if a.kind == "kernel"]
        total = sum(k.end - k.start for k in kernels) or 1
        print(f"steady {us(start)}..{us(end)}: busy {share(busy, window)}, {len(kernels)} kernels, {len(kernels) * 1e6 / window:.1f}/ms, "
              f"kernel time {us(total)}")

        def of(test):
            return share(sum(k.end - k.start for k in kernels if test(k)), total)
        tiny = [k for k in kernels if k.end - k.start < 5000]
        print(f"tiny<5us: {share(len(tiny), len(kernels))} of count, {share(sum(k.end - k.start for k in tiny), window)} of window")
        lost = sum((k.end - k.start) * (1 - b / sms) for k in kernels
                   if not COLLECTIVE.search(k.name) and 0 < (b := blocks(k)) < sms)
        lost_all = sum((k.end - k.start) * (1 - b / sms) for k in kernels
                       if 0 < (b := blocks(k)) < sms)
        print(f"time share: multiply {of(lambda k: MULTIPLY.search(k.name))}, fp32-multiply {of(lambda k: FP32.search(k.name) and 'tf32' not in k.name)}, "
              f"attention {of(lambda k: ATTENTION.search(k.name))}, pointwise-eager {of(lambda k: POINTWISE.search(k.name) and 'triton' not in k.name)}, "
              f"triton {of(lambda k: 'triton' in k.name)}, copying {of(lambda k: COPYING.search(k.name))}, collective {of(lambda k: COLLECTIVE.search(k.name))}, "
              f"align1/2 {of(lambda k: re.search(r'align[12]($|[^0-9])', k.name))}, nchw<->nhwc {of(lambda k: re.search('nchwToNhwc|nhwcToNchw', k.name))}, "
              f"multi_tensor {of(lambda k: 'multi_tensor' in k.name)}, graph {of(lambda k: k.call and 'Graph' in k.call.name)}; "
              f"small grids lose {share(lost, total)} (with collectives {share(lost_all, total)})")
        low = sum(k.end - k.start for k in kernels
                  if 0 <= float(k.args.get("est. achieved occupancy %", -1) or -1) < 20)
        print(f"occupancy<20%: {share(low, total)}")
        coll = union([(k.start, k.end) for k in kernels if COLLECTIVE.search(k.name)])
        other = union([(k.start, k.end) for k in kernels if not COLLECTIVE.search(k.name)])
        exposed = sum(e - s for s, e in coll) - overlap(coll, other)
        copies = collections.Counter()
        for a in acts:
            if a.kind == "memcpy":
                key = re.sub(r"^Memcpy ", "", a.name)
                copies[key, "n"] += 1
                copies[key, "ns"] += a.end - a.start
                copies[key, "bytes"] += max(0,
                                            raw.number(a.args.get("bytes", a.args.get("Bytes")), 0))
        print(f"exposed collectives {share(exposed, window)}; copies: "
              + "; ".join(f"{k} x{copies[k, 'n']} {us(copies[k, 'ns'])} {copies[k, 'bytes'] / 1e6:.2f}MB" for k in sorted({k for k, _ in copies})))
        calls = collections.Counter()
        for c in trace.calls:
            if start <= c.start < end:
                calls[c.name, "n"] += 1
                calls[c.name, "ns"] += c.end - c.start
        names = sorted({n for n, _ in calls}, key=lambda n: -calls[n, "ns"])[:9]
        print("calls: " + "; ".join(f"{n} x{calls[n, 'n']} {us(calls[n, 'ns'])}" for n in names))
        by_name = collections.Counter()
        count = collections.Counter()
        for k in kernels:
            by_name[k.name] += k.end - k.start
            count[k.name] += 1
        for name, ns in by_name.most_common(9):
            print(f"   {share(ns, total):>6} x{count[name]:<5} {name[:130]}")
        ops = collections.Counter(o.name for o in trace.ops if o.kind != "python_function"
                                  and start <= o.start < end)
        marked = re.compile(r"item$|_local_scalar|embedding|softmax|scaled_dot|bmm|optimizer|Optimizer|_foreach|fused|compil|checkpoint|DataLoader|c10d|nonzero|native_layer|dynamo", re.I)
        print("ops: " + "; ".join(f"{n[:60]} x{c}" for n, c in ops.most_common(400)
                                  if marked.search(n))[:900])
        print("annotations: " + "; ".join(f"{n[:40]} x{c}" for n, c in collections.Counter(
            o.name for o in trace.ops if o.kind == "user_annotation").most_common(12)))
        if with_idle:
            judge = judge_idle.Judge(trace)
            idle = collections.Counter()
            for device in trace.device_ids():
                for gap in raw.gaps_of([a for a in trace.activities if a.device == device
                                        and a.end > start]):
                    for left, right, cause in judge.label(gap):
                        idle[cause] += right - left
            print("idle of the steady part: "
                  + ", ".join(f"{c} {share(n, window)}" for c, n in idle.most_common()))


def blocks(kernel):
    grid = kernel.args.get("grid") or [0]
    product = 1
    for side in grid if isinstance(grid, list) else [0]:
        product *= raw.number(side, 0)
    return product


def union(spans):
    merged = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def overlap(first, second):
    total, i, j = 0, 0, 0
    while i < len(first) and j < len(second):
        total += max(0, min(first[i][1], second[j][1]) - max(first[i][0], second[j][0]))
        if first[i][1] < second[j][1]:
            i += 1
        else:
            j += 1
    return total


if __name__ == "__main__":
    main()
