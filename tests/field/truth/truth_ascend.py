"""Ascend (torch_npu) traces and tables. NPU work: tasks that are neither events, notifications nor
waits."""
import csv
import io
import json
import sqlite3
from collections import Counter, defaultdict
from decimal import Decimal

from common import devices_truth, micros, read_bytes

NO_WORK = ('EVENT', 'NOTIFY', 'WAIT', 'RECORD', 'PLACE_HOLDER', 'PROFILER')


def work(name):
    upper = name.upper()
    return not any(w in upper for w in NO_WORK)


def kind(name):
    return 'copy' if 'MEMCPY' in name.upper() or 'MEMCOPY' in name.upper() or 'SDMA' in name.upper() else 'kernel'


def rows_of(path):
    raw = open(path, 'rb').read()
    rows = defaultdict(list)
    if raw[:6] == b'SQLite':
        db = sqlite3.connect(f'file:{path}?mode=ro', uri=True)
        strings = dict(db.execute('select id, value from STRING_IDS'))
        names = {g: strings.get(n)
                 for g, n in db.execute('select globalTaskId, name from COMPUTE_TASK_INFO')}
        for s, e, d, t, g in db.execute('select startNs, endNs, deviceId, taskType, globalTaskId from TASK'):
            label = names.get(g) or strings.get(t, str(t))
            if work(strings.get(t, '')):
                rows[d].append((s, e, kind(label), label, g))
        return rows
    text = read_bytes(path).decode('utf-8', 'replace')
    if text.lstrip().startswith('['):
        events = json.loads(text, parse_float=Decimal)
        names = {e['pid']: e['args']['name'] for e in events if e.get('ph') == 'M'
                 and e.get('name') == 'process_name'}
        for e in events:
            if e.get('ph') == 'X' and names.get(e['pid']) == 'Ascend Hardware' and work(e['name']):
                start = micros(e['ts'])
                rows[e['pid']].append((start, start + micros(e['dur']), kind(e['name']), e['name'],
                                       None))
        return rows
    reader = csv.DictReader(io.StringIO(text))
    if 'Accelerator Core' in (reader.fieldnames or []):
        for r in reader:
            start = micros(r['Start Time(us)'].strip())
            rows[0].append((start, start + micros(r['Duration(us)'].strip()), 'kernel', r['Name'],
                            None))
    return rows


def truth(path):
    raw = open(path, 'rb').read()
    rows = rows_of(path)
    text = '' if raw[:6] == b'SQLite' else read_bytes(path).decode('utf-8', 'replace')
    out = {'writer': 'Ascend PyTorch profiler ('
           + ('database' if raw[:6] == b'SQLite' else 'trace_view.json'
              if text.lstrip().startswith('[') else 'kernel_details.csv' if rows
              else 'cluster step_trace_time.csv') + ')',
           'holds_gpu_work': bool(rows) or 'Computing' in text[:200]}
    if rows:
        out['devices'] = devices_truth(rows)
        out['names'] = dict(Counter(r[3] for v in rows.values() for r in v).most_common(12))
    return out
