"""Nsight Compute: details and raw CSV, printed pages, and the .ncu-rep container by field
number."""
import csv
import io
import re
import struct
from collections import Counter, defaultdict

from common import read_bytes

SCALE = {'ns': 1, 'nsecond': 1, 'us': 1e3, 'usecond': 1e3, 'ms': 1e6, 'msecond': 1e6, 's': 1e9,
         'second': 1e9}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = struct.unpack_from('<d', data, at)[0], at + 8
        elif wire == 5:
            value, at = struct.unpack_from('<f', data, at)[0], at + 4
        elif wire == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f'wire type {wire}')
        yield number, value


def report(path):
    """-> kernels (name, {metric: value}), complete?"""
    data = open(path, 'rb').read()
    if data[:4] != b'NVR\0':
        return None, False
    at = 8 + struct.unpack_from('<I', data, 4)[0]
    strings, results, whole = [], [], True
    while at + 4 <= len(data):
        size = struct.unpack_from('<I', data, at)[0]
        header = data[at + 4:at + 4 + size]
        at += 4 + size
        sources = count = payload = 0
        for number, value in fields(header):
            if number == 1:
                sources = value
            elif number == 2:
                count = value
            elif number == 5:
                payload = value
            elif number == 4:
                strings += [v.decode('utf-8', 'replace') for n, v in fields(value) if n == 1]
        body = data[at:at + payload]
        if len(body) < payload:
            whole = False
        at += payload
        p, index = 0, 0
        while p + 4 <= len(body):
            n = struct.unpack_from('<I', body, p)[0]
            if p + 4 + n > len(body):
                whole = False
                break
            if index >= sources:
                results.append(body[p + 4:p + 4 + n])
            index += 1
            p += 4 + n
    kernels = []
    for message in results:
        name, metrics = None, {}
        for number, value in fields(message):
            if number in (6, 7) and isinstance(value, bytes):
                name = value.decode('utf-8', 'replace') if number == 7 or name is None else name
            elif number == 13:
                key = amount = None
                for n, v in fields(value):
                    if n == 1:
                        key = v
                    elif n == 2:
                        for m, x in fields(v):
                            amount = x.decode('utf-8', 'replace') if isinstance(x, bytes) else x
                if key is not None and key < len(strings):
                    metrics[strings[key]] = amount
        kernels.append((name, metrics))
    return kernels, whole


def number(text):
    text = text.replace(',', '').strip()
    try:
        return float(text)
    except ValueError:
        return None


def csv_kernels(text):
    lines = text.splitlines()
    head = next((i for i, l in enumerate(lines) if l.startswith('"ID","Process ID"')), None)
    if head is None:
        return None
    rows = list(csv.reader(io.StringIO('\n'.join(l for l in lines[head:] if l.startswith('"')))))
    columns = rows[0]
    kernels = []
    if 'Metric Name' in columns:
        at = {c: i for i, c in enumerate(columns)}
        groups = defaultdict(dict)
        names = {}
        for r in rows[1:]:
            if len(r) < len(columns):
                continue
            names[r[0]] = r[at['Kernel Name']]
            value = number(r[at['Metric Value']])
            if value is not None:
                groups[r[0]][r[at['Metric Name']]] = value * (SCALE.get(r[at['Metric Unit']], 1)
                                                              if 'Duration' in r[at['Metric Name']]
                                                              or 'time_duration' in r[at['Metric Name']] else 1)
        return [(names[k], groups[k]) for k in names]
    units = rows[1]
    at = columns.index('Kernel Name')
    for r in rows[2:]:
        metrics = {}
        for c, u, v in zip(columns, units, r):
            value = number(v)
            if value is not None:
                metrics[c] = value * (SCALE.get(u, 1) if 'time_duration' in c else 1)
        kernels.append((r[at], metrics))
    return kernels


RATIOS = ('sm__throughput.avg.pct_of_peak_sustained_elapsed',
          'gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed',
          'gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed',
          'sm__warps_active.avg.pct_of_peak_sustained_active')


def truth(path):
    raw = open(path, 'rb').read()
    whole = True
    if raw[:4] == b'NVR\0':
        kernels, whole = report(path)
        out = {'writer': 'Nsight Compute report'}
    else:
        text = read_bytes(path).decode('utf-8', 'replace')
        kernels = csv_kernels(text)
        if kernels is None:
            printed = re.findall(r'^\s+Duration\s+(\w+)\s+([\d.,]+)\s*$', text, re.M)
            out = {'writer': 'printed Nsight Compute pages' if printed
                   else 'own table made from Nsight Compute metrics', 'holds_gpu_work': True}
            if printed:
                out['kernels'] = len(printed)
                out['duration_ns'] = sum(float(v.replace(',', '')) * SCALE[u] for u, v in printed)
            else:
                out['rows'] = text.count('\n')
            return out
        out = {'writer': 'Nsight Compute CSV'}
    durations = [m.get('gpu__time_duration.sum', m.get('Duration')) for _, m in kernels]
    known = [d for d in durations if d is not None]
    by = Counter()
    for (n, _), d in zip(kernels, durations):
        by[n] += d or 0
    out.update({'holds_gpu_work': bool(kernels), 'kernels': len(kernels), 'complete': whole,
                'duration_ns': sum(known) if known else None,
                'with_duration': len(known), 'metrics': len(set().union(*[set(m) for _, m in kernels])) if kernels else 0,
                'top_kernel': [by.most_common(1)[0][0][:160], by.most_common(1)[0][1]] if by else None})
    for name in RATIOS:
        values = [(m[name], d) for (_, m), d in zip(kernels, durations)
                  if isinstance(m.get(name), (int, float)) and d]
        if values:
            out['mean_by_time '
                + name] = round(sum(v * d for v, d in values) / sum(d for _, d in values), 3)
    return out
