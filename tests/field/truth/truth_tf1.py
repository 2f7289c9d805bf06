"""TensorFlow 1 timelines (RunMetadata step_stats as Chrome trace). `stream:all` repeats the other
streams."""
import json
from collections import Counter, defaultdict

from common import devices_truth, read_bytes


def rows_of(path):
    events = json.loads(read_bytes(path))['traceEvents']
    names = {e['pid']: e['args']['name'] for e in events if e.get('ph') == 'M'
             and e.get('name') == 'process_name'}
    rows = defaultdict(list)
    for e in events:
        process = names.get(e.get('pid'), '')
        lower = process.lower()
        if e.get('ph') != 'X' or 'gpu:' not in lower or ('stream:' not in lower
                                                         and '/memcpy' not in lower) or 'stream:all' in lower:
            continue
        start = int(e['ts']) * 1000
        kind = 'copy' if 'memcpy' in e['name'].lower() else 'kernel'
        row = (start, start + int(e['dur']) * 1000, kind, e['args'].get('op', e['name']), None)
        if '/memcpy' in lower or 'stream:' in lower:
            rows[lower.split('gpu:')[1][0]].append(row)
    return {d: sorted(set(r), key=lambda x: (x[0], x[1], x[3])) for d, r in rows.items()}


def truth(path):
    events = json.loads(read_bytes(path))['traceEvents']
    names = {e['pid']: e['args']['name'] for e in events if e.get('ph') == 'M'
             and e.get('name') == 'process_name'}
    rows = rows_of(path)
    out = {'writer': 'TensorFlow 1 timeline', 'holds_gpu_work': bool(rows),
           'processes': dict(Counter(names.get(e['pid']) for e in events if e.get('ph') == 'X'))}
    if rows:
        out['devices'] = devices_truth(rows)
    return out
