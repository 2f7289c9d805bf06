"""nvprof: SQLite (.nvprof/.nvvp), Visual Profiler session XML, CSV tables."""
import csv
import io
import sqlite3
from collections import defaultdict
from decimal import Decimal

from common import devices_truth, launch_truth, read_bytes

UNITS = {'s': 10**9, 'ms': 10**6, 'us': 10**3, 'ns': 1}


def rows_of(path):
    rows = defaultdict(list)
    if open(path, 'rb').read(6) == b'SQLite':
        db = sqlite3.connect(f'file:{path}?mode=ro', uri=True)
        strings = dict(db.execute('select _id_, value from StringTable'))
        for table, kind in (('KERNEL', 'kernel'), ('CONCURRENT_KERNEL', 'kernel'),
                            ('MEMCPY', 'copy'), ('MEMCPY2', 'copy'), ('MEMSET', 'set')):
            name = 'CUPTI_ACTIVITY_KIND_' + table
            cols = [r[1] for r in db.execute(f'pragma table_info({name})')]
            if not cols:
                continue
            label = 'name' if 'name' in cols else 'null'
            for d, s, e, c, n in db.execute(f'select deviceId, start, end, correlationId, {label} from {name}'):
                if s or e:  # CUPTI leaves both 0 where it has no times
                    rows[d].append((s, e, kind, strings.get(n, table), c))
        return rows
    text = read_bytes(path).decode('utf-8', 'replace')
    lines = [l for l in text.splitlines() if l and not l.startswith('==')]
    if lines and lines[0].startswith('"Start","Duration","Grid X"'):
        reader = csv.reader(io.StringIO('\n'.join(lines)))
        head, units = next(reader), next(reader)
        at = {n: i for i, n in enumerate(head)}
        for r in reader:
            if len(r) < len(head) or not r[0] or not r[1]:
                continue
            start = int((Decimal(r[0]) * UNITS[units[0]]).to_integral_value())
            duration = int((Decimal(r[1]) * UNITS[units[1]]).to_integral_value())
            name = r[at['Name']]
            if name.startswith('[Unified Memory'):
                continue
            kind = 'copy' if 'memcpy' in name else 'set' if 'memset' in name else 'kernel'
            rows[r[at['Device']]].append((start, start + duration, kind, name, None))
    return rows


def truth(path):
    raw = open(path, 'rb').read()
    rows = rows_of(path)
    if raw[:6] == b'SQLite':
        out = {'writer': 'nvprof / Visual Profiler database', 'holds_gpu_work': bool(rows)}
    elif raw[:5] == b'<?xml':
        out = {'writer': 'Visual Profiler session (settings only, no activity)',
               'holds_gpu_work': False}
    elif rows:
        out = {'writer': 'nvprof --print-gpu-trace --csv', 'holds_gpu_work': True}
    else:
        out = {'writer': 'nvprof summary CSV (sums by name)', 'holds_gpu_work': True,
               'note': 'no span: no busy share can be given'}
    if rows:
        out['devices'] = devices_truth(rows)
        if raw[:6] == b'SQLite' and len(rows) == 1:
            db = sqlite3.connect(f'file:{path}?mode=ro', uri=True)
            out['records_without_times'] = sum(db.execute(f'select count(*) from CUPTI_ACTIVITY_KIND_{x} where start = 0 and end = 0').fetchone()[0] for x in ('CONCURRENT_KERNEL', 'MEMCPY', 'MEMSET'))
            launches = {}
            for table in ('RUNTIME', 'DRIVER'):
                try:
                    for s, e, c in db.execute(f'select start, end, correlationId from CUPTI_ACTIVITY_KIND_{table}'):
                        launches[c] = (s, e)
                except sqlite3.OperationalError:
                    pass
            syncs = []
            out['idle'] = launch_truth(next(iter(rows.values())), launches, syncs)
    return out
