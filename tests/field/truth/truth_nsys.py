"""Nsight Systems SQLite export, read by column name with sqlite3."""
import sqlite3
from collections import defaultdict

from common import devices_truth, launch_truth


def tables(db):
    return {r[0]
            for r in db.execute("select name from sqlite_master where type in ('table','view')")}


def columns(db, table):
    return [r[1] for r in db.execute(f'pragma table_info({table})')]


def rows_of(path):
    db = sqlite3.connect(f'file:{path}?mode=ro', uri=True)
    have = tables(db)
    strings = dict(db.execute('select id, value from StringIds')) if 'StringIds' in have else {}
    rows = defaultdict(list)
    for table, kind in (('KERNEL', 'kernel'), ('MEMCPY', 'copy'), ('MEMSET', 'set'),
                        ('GRAPH_TRACE', 'kernel')):
        name = 'CUPTI_ACTIVITY_KIND_' + table
        if name not in have:
            continue
        cols = columns(db, name)
        label = next((c for c in ('demangledName', 'shortName', 'mangledName') if c in cols), None)
        for r in db.execute(f"select deviceId, start, end, correlationId, {label or 'null'} from {name}"):
            text = strings.get(r[4], r[4]) if label else ('graph launch' if table == 'GRAPH_TRACE'
                                                          else table)
            rows[r[0]].append((r[1], r[2], kind, str(text), r[3]))
    return rows


def truth(path):
    db = sqlite3.connect(f'file:{path}?mode=ro', uri=True)
    have = tables(db)
    rows = rows_of(path)
    out = {'writer': 'Nsight Systems export', 'holds_gpu_work': bool(rows),
           'cuda_tables': sorted(t for t in have if t.startswith('CUPTI_ACTIVITY')),
           'other_tables': sorted(t for t in have
                                  if not t.startswith(('CUPTI', 'ENUM', 'TARGET', 'META')))[:40]}
    if 'META_DATA_EXPORT' in have:
        out['versions'] = {k: v for k, v in db.execute('select name, value from META_DATA_EXPORT')
                           if 'VERSION' in str(k)}
    if 'META_DATA_CAPTURE' in have:
        out['captured'] = sorted({str(v)
                                  for k, v in db.execute('select name, value from META_DATA_CAPTURE') if 'EVENT_TYPE' in str(k)})
    if 'TARGET_INFO_GPU' in have:
        out['gpus_of_host'] = [r[0] for r in db.execute('select name from TARGET_INFO_GPU')]
    if 'CUPTI_ACTIVITY_KIND_RUNTIME' in have:
        out['api_calls'] = db.execute('select count(*) from CUPTI_ACTIVITY_KIND_RUNTIME').fetchone()[0]
    if 'DIAGNOSTIC_EVENT' in have:
        cols = columns(db, 'DIAGNOSTIC_EVENT')
        if 'severity' in cols:
            out['diagnostics'] = [str(r[0])[:160]
                                  for r in db.execute('select text from DIAGNOSTIC_EVENT where severity > 1 limit 12')]
    if 'NVTX_EVENTS' in have:
        out['nvtx'] = db.execute('select count(*) from NVTX_EVENTS').fetchone()[0]
        cols = columns(db, 'NVTX_EVENTS')
        text = 'coalesce(n.text, s.value)' if 'textId' in cols and 'StringIds' in have else 'n.text'
        join = 'left join StringIds s on s.id = n.textId' if 'textId' in cols and 'StringIds' in have else ''
        out['nvtx_names'] = [[r[0], r[1]]
                             for r in db.execute(f'select {text} t, count(*) c from NVTX_EVENTS n {join} where n.end is not null group by 1 order by 2 desc limit 15')]
    if rows:
        out['devices'] = devices_truth(rows)
        if len(rows) == 1 and 'CUPTI_ACTIVITY_KIND_RUNTIME' in have:
            strings = dict(db.execute('select id, value from StringIds'))
            launches, syncs = {}, []
            for s, e, c, n in db.execute('select start, end, correlationId, nameId from CUPTI_ACTIVITY_KIND_RUNTIME'):
                launches[c] = (s, e)
                if 'Synchronize' in strings.get(n, ''):
                    syncs.append((s, e))
            out['idle'] = launch_truth(next(iter(rows.values())), launches, sorted(syncs))
    return out
