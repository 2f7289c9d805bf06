"""Power and utilization logs. Columns are named by hand in logs.json, because a header alone does
not say what a log means."""
import csv
import io
import json
import os
import re
from datetime import datetime

from common import read_bytes

SPEC = json.load(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'logs.json')))


def number(cell):
    found = re.search(r'-?\d+(\.\d+)?', cell)
    return float(found.group()) if found else None


def moment(cell):
    cell = cell.strip()
    if re.fullmatch(r'\d{9,11}(\.\d+)?', cell):
        return float(cell)
    for form in ('%Y/%m/%d %H:%M:%S.%f', '%Y-%m-%d %H:%M:%S', '%Y-%m-%d %H:%M:%S.%f'):
        try:
            return datetime.strptime(cell, form).timestamp()
        except ValueError:
            pass
    return datetime.fromisoformat(cell).timestamp()


def truth(path):
    spec = SPEC[os.path.basename(path)]
    lines = [l for l in read_bytes(path).decode('utf-8-sig', 'replace').splitlines() if l.strip()]
    out = {'writer': spec['writer'], 'holds_gpu_work': spec['holds_gpu_work'],
           'note': spec.get('note')}
    if 'devices' not in spec:
        return out
    lines = lines[spec.get('skip', 0):]
    rows = list(csv.reader(io.StringIO('\n'.join(lines)), skipinitialspace=True))
    devices = {}
    for row in rows:
        for device, columns in spec['devices'].items():
            if spec.get('by') is not None and (len(row) <= spec['by'] or row[spec['by']] != device):
                continue
            try:
                when = moment(row[spec['time']]) if spec.get('time') is not None else None
            except (ValueError, IndexError):
                continue
            entry = devices.setdefault(device, {'samples': 0, 'times': []})
            entry['samples'] += 1
            if when is not None:
                entry['times'].append(when)
            for name, column in columns.items():
                value = number(row[column]) if isinstance(column,
                                                          int) and column < len(row) else number('.'.join(row[c] for c in column)) if isinstance(column, list) else None
                if value is not None:
                    entry.setdefault(name, []).append(value)
    result = {}
    for device, e in devices.items():
        r = {'samples': e['samples']}
        t = e['times']
        if t:
            r['seconds'] = round(max(t) - min(t), 3)
        for name, values in e.items():
            if name in ('samples', 'times'):
                continue
            r['mean_' + name] = round(sum(values) / len(values), 4)
            r['max_' + name] = max(values)
            if len(values) == len(t) and len(t) > 1 and t == sorted(t):
                area = sum((values[i] + values[i + 1]) / 2 * (t[i + 1] - t[i])
                           for i in range(len(t) - 1))
                span = t[-1] - t[0]
                r['time_mean_' + name] = round(area / span, 4) if span else None
                if name == 'watts':
                    r['joules'] = round(area, 2)
        result[device] = r
    out['log_devices'] = result
    return out
