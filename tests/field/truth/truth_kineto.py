"""PyTorch (Kineto) JSON: whole-file reader on json with exact decimals."""
import json
from collections import Counter, defaultdict
from decimal import Decimal

from common import devices_truth, launch_truth, micros, read_bytes, union

KINDS = {'kernel': 'kernel', 'gpu_memcpy': 'copy', 'gpu_memset': 'set', 'memcpy': 'copy',
         'memset': 'set'}
BLOCKING = ('Synchronize',)


def load(path):
    document = json.loads(read_bytes(path), parse_float=Decimal)
    events = document.get('traceEvents', []) if isinstance(document, dict) else document
    base = int(document.get('baseTimeNanoseconds', 0)) if isinstance(document, dict) else 0
    return document, [e for e in events if isinstance(e, dict)], base


def rows_of(path):
    """device -> rows (start, end, kind, name, correlation)"""
    _, events, base = load(path)
    rows = defaultdict(list)
    for e in events:
        kind = KINDS.get(str(e.get('cat', '')).lower())
        if e.get('ph') == 'X' and kind:
            args = e.get('args', {})
            start = base + micros(e['ts'])
            rows[args.get('device', 0)].append((start, start + micros(e.get('dur', 0)), kind,
                                                e['name'], args.get('correlation')))
    return rows


def truth(path):
    document, events, base = load(path)
    rows = rows_of(path)
    out = {'writer': 'PyTorch profiler (Kineto)' if isinstance(document, dict)
           else 'JSON array of events', 'events': len(events),
           'categories': {f'{p}:{c}': n for (p, c), n in Counter((str(e.get('ph')), str(e.get('cat'))) for e in events).most_common(20)},
           'holds_gpu_work': bool(rows)}
    properties = document.get('deviceProperties') if isinstance(document, dict) else None
    names = {p.get('id'): p.get('name') for p in properties or []}
    if rows:
        out['devices'] = devices_truth(rows, names)
        launches, syncs = {}, []
        many = len(rows) > 1
        for e in events:
            if e.get('ph') == 'X' and e.get('cat') in ('cuda_runtime', 'cuda_driver', 'Runtime',
                                                       'xpu_runtime'):
                start = base + micros(e['ts'])
                interval = (start, start + micros(e.get('dur', 0)))
                args = e.get('args', {})
                key = (e.get('pid'), args.get('correlation')) if many else args.get('correlation')
                launches[key] = interval
                if any(b in e['name'] for b in BLOCKING):
                    syncs.append(interval)
        if not many:
            for device, r in rows.items():
                out['idle'] = launch_truth(r, launches, sorted(syncs))
    marks = [e for e in events if str(e.get('name', '')).startswith('ProfilerStep#')
             and e.get('cat') in ('user_annotation', 'cpu_op', 'Operator')]
    out['marked_steps'] = len({e['name'] for e in marks})
    out['mark_durations_ns'] = [micros(e['dur']) for e in marks][:40]
    cpu = [(micros(e['ts']), micros(e['ts']) + micros(e.get('dur', 0))) for e in events
           if e.get('ph') == 'X' and e.get('cat') == 'cpu_op']
    out['cpu_ops'] = len(cpu)
    out['cpu_op_span_ns'] = max((x[1] for x in cpu),
                                default=0) - min((x[0] for x in cpu), default=0)
    out['cpu_op_union_ns'] = union(cpu)
    out['launch_calls'] = sum(1 for e in events if e.get('ph') == 'X'
                              and ('LaunchKernel' in str(e.get('name'))))
    return out
