"""AMD and Hygon: rocprofv3 CSV, rocprof v1 CSV/JSON/SQLite, hipprof SQLite/CSV."""
import csv
import io
import json
import sqlite3
from collections import defaultdict

from common import devices_truth, launch_truth, read_bytes

COPY = ('__amd_rocclr_copyBuffer',)
SET = ('__amd_rocclr_fillBuffer',)


def kind_of(name):
    return 'kernel'  # rocclr's copy and fill kernels are kernels to the hardware


def rows_of(path):
    rows = defaultdict(list)
    if open(path, 'rb').read(6) == b'SQLite':
        db = sqlite3.connect(f'file:{path}?mode=ro', uri=True)
        have = {r[0] for r in db.execute("select name from sqlite_master where type='table'")}
        if 'KERN' in have and db.execute('select count(*) from KERN').fetchone()[0]:
            for n, g, s, e in db.execute('select KernelName, "gpu-id", BeginNs, EndNs from KERN'):
                rows[g].append((s, e, kind_of(n), n.strip('"'), None))
        if 'OPS' in have:
            cols = [r[1] for r in db.execute('pragma table_info(OPS)')]
            dev = 'dev_id' if 'dev_id' in cols else '"dev-id"'
            strings = dict(db.execute('select STR_ID, STR_NAME from STR_TABLE')) if 'STR_TABLE' in have else {}
            for n, g, s, e in db.execute(f'select Name, {dev}, BeginNs, EndNs from OPS'):
                rows[g].append((s, e, 'kernel',
                                str(strings.get(n,
                                                strings.get(int(n) if str(n).isdigit() else n, n))),
                                None))
        if 'COPY' in have:
            cols = [r[1] for r in db.execute('pragma table_info(COPY)')]
            dev = 'dev_id' if 'dev_id' in cols else None
            if dev:
                for g, s, e in db.execute('select dev_id, BeginNs, EndNs from COPY'):
                    rows[g].append((s, e, 'copy', 'copy', None))
        return rows
    text = read_bytes(path).decode('utf-8', 'replace')
    if text.lstrip().startswith('{'):
        events = json.loads(text)['traceEvents']
        processes = {str(e['pid']): e['args']['name'] for e in events if e.get('ph') == 'M'
                     and e.get('name') == 'process_name'}
        for e in events:
            if e.get('ph') == 'X' and processes.get(str(e.get('pid')), '').startswith('GPU'):
                a = e['args']
                rows[a['dev-id']].append((int(a['BeginNs']), int(a['EndNs']), 'kernel', a['Name'],
                                          None))
        return rows
    reader = csv.DictReader(io.StringIO(text))
    fields = reader.fieldnames or []
    if 'Kernel_Name' in fields and 'Kind' in fields:
        for r in reader:
            rows[r['Agent_Id']].append((int(r['Start_Timestamp']), int(r['End_Timestamp']),
                                        'kernel', r['Kernel_Name'], r['Correlation_Id']))
    elif 'KernelName' in fields and 'BeginNs' in fields:
        for r in reader:
            rows[r['gpu-id']].append((int(r['BeginNs']), int(r['EndNs']), 'kernel', r['KernelName'],
                                      r['Index']))
    return rows


def truth(path):
    raw = open(path, 'rb').read()
    rows = rows_of(path)
    sqlite = raw[:6] == b'SQLite'
    text = '' if sqlite else read_bytes(path).decode('utf-8', 'replace')
    head = text[:400]
    writer = ('hipprof (Hygon DCU) database' if sqlite and b'HIPTX' in raw[:20000]
              else 'rocprof (v1) database' if sqlite else
              'rocprofv3 kernel trace CSV' if '"Kind","Agent_Id"' in head else 'rocprofv3 HIP API trace CSV' if head.startswith('"Domain"') else
              'rocprofv3 counter collection CSV' if 'Counter_Name' in head else 'rocprof (v2) HIP API trace CSV' if head.startswith('Domain,') else
              'rocprof (v1) kernel CSV' if 'BeginNs' in head and 'KernelName' in head else 'rocprof (v1) JSON' if head.lstrip().startswith('{') else
              'rocprof/hipprof statistics CSV (sums by name)')
    out = {'writer': writer,
           'holds_gpu_work': bool(rows) or 'TotalDurationNs' in head or 'Counter_Name' in head}
    if rows:
        out['devices'] = devices_truth(rows)
    if 'TotalDurationNs' in head:
        table = list(csv.DictReader(io.StringIO(text)))
        out['rows'] = len(table)
        out['calls'] = sum(int(r['Calls']) for r in table)
        out['total_ns'] = sum(int(r['TotalDurationNs']) for r in table)
        out['note'] = 'sums by kernel name only: no span, so no busy share can be given'
    if 'Counter_Name' in head:
        table = list(csv.DictReader(io.StringIO(text)))
        out['dispatches'] = len({r['Dispatch_Id'] for r in table})
        out['counters'] = sorted({r['Counter_Name'] for r in table})
    if sqlite:
        db = sqlite3.connect(f'file:{path}?mode=ro', uri=True)
        out['tables'] = {n: db.execute(f'select count(*) from "{n}"').fetchone()[0]
                         for n, in db.execute("select name from sqlite_master where type='table'")}
    return out
