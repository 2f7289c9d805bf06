"""Perfetto protobuf written by rocprofv3: kernel dispatches by their exact begin_ns and end_ns
annotations."""
from collections import defaultdict

from common import devices_truth, read_bytes
from truth_ncu import varint


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = int.from_bytes(data[at:at + 8], 'little'), at + 8
        elif wire == 5:
            value, at = int.from_bytes(data[at:at + 4], 'little'), at + 4
        elif wire == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f'wire type {wire}')
        yield number, value


def rows_of(path):
    names = {1: {}, 2: {}, 3: {}}
    rows = defaultdict(list)
    for number, packet in fields(read_bytes(path)):
        if number != 1:
            continue
        event = None
        for n, v in fields(packet):
            if n == 12:
                for kind, entry in fields(v):
                    if kind in names:
                        e = dict(fields(entry))
                        names[kind][e[1]] = e.get(2, b'').decode('utf-8', 'replace')
            elif n == 11:
                event = v
        if event is None:
            continue
        notes, category, label = {}, None, None
        for n, v in fields(event):
            if n == 3:
                category = names[1].get(v) if isinstance(v, int) else None
            elif n == 22:
                category = v.decode()
            elif n == 10:
                label = names[2].get(v)
            elif n == 23:
                label = v.decode('utf-8', 'replace')
            elif n == 4:
                a = dict(fields(v))
                key = a[10].decode() if 10 in a else names[3].get(a.get(1))
                notes[key] = a.get(3, a.get(4, a.get(6)))
        if category in ('kernel_dispatch', 'memory_copy') and 'begin_ns' in notes:
            kind = 'kernel' if category == 'kernel_dispatch' else 'copy'
            rows[str(notes.get('agent', 0))].append((notes['begin_ns'], notes['end_ns'], kind,
                                                     label or category, None))
    return rows


def truth(path):
    rows = rows_of(path)
    out = {'writer': 'rocprofv3 Perfetto trace', 'holds_gpu_work': bool(rows)}
    if rows:
        out['devices'] = devices_truth(rows)
    return out
