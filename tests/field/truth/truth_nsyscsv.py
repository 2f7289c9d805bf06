"""CSV reports of `nsys stats` (cuda_gpu_trace, nvtx_pushpop_trace) and printed tables."""
import csv
import io
from collections import defaultdict

from common import devices_truth, read_bytes


def rows_of(path):
    text = read_bytes(path).decode('utf-8', 'replace')
    lines = text.splitlines()
    head = next((i for i, l in enumerate(lines) if l.startswith('Start (ns),Duration (ns)')), None)
    rows = defaultdict(list)
    if head is None:
        return rows
    for r in csv.DictReader(io.StringIO('\n'.join(lines[head:]))):
        if not r['Start (ns)']:
            continue
        start = int(r['Start (ns)'])
        kind = 'copy' if 'memcpy' in r['Name'] else 'set' if 'memset' in r['Name'] else 'kernel'
        rows[r['Device']].append((start, start + int(r['Duration (ns)']), kind, r['Name'],
                                  r['CorrId']))
    return rows


def truth(path):
    rows = rows_of(path)
    text = read_bytes(path).decode('utf-8', 'replace')
    kind = ('nsys stats cuda_gpu_trace CSV' if rows else 'nsys stats nvtx_pushpop_trace CSV'
            if 'NameTree' in text[:400] else 'printed nsys stats tables')
    out = {'writer': 'Nsight Systems (' + kind + ')', 'holds_gpu_work': bool(rows),
           'lines': text.count('\n')}
    if rows:
        out['devices'] = devices_truth(rows)
    return out
