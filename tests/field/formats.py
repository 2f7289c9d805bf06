#!/usr/bin/env python3
"""formats.py GPUFATHOM FILES_DIR [OUT.json]: verdicts on public files of other tools.

Rows are those of docs/results/public_formats.json; files lie in FILES_DIR/OWNER+NAME/PATH, and are
skipped where they are missing or have another hash. What must come out is computed here from each
file, by readers of its own. Nanoseconds and counts are held exactly; readings of monitors to a thousandth."""
import collections
import csv
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from decimal import Decimal

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = os.path.join(HERE, '../../docs/results/public_formats.json')
UNIT = {'s': 10**9, 'ms': 10**6, 'us': 10**3, 'ns': 1}


# The facts of a file.

def content(path):
    data = open(path, 'rb').read()
    return gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data


def table(path, begin=0):
    return list(csv.DictReader(io.StringIO(content(path).decode('utf-8-sig')[begin:])))


def database(path):
    if path.endswith('.gz'):
        plain = tempfile.NamedTemporaryFile(delete=False)
        plain.write(content(path))
        path = plain.name
    db = sqlite3.connect(f'file:{path}?mode=ro&immutable=1', uri=True)
    return db, {name for (name,) in db.execute("select name from sqlite_master where type in ('table', 'view')")}


def union(spans):
    busy, last = 0, None
    for start, end in sorted(spans):
        if last is None or start > last:
            busy, last = busy + end - start, end
        elif end > last:
            busy, last = busy + end - last, end
    return busy


def of_gpus(rows):
    """rows: (GPU, whether it is a kernel, start, end)."""
    out = {}
    for gpu in sorted({row[0] for row in rows}, key=str):
        own = [row for row in rows if row[0] == gpu]
        kernels = [row[2:] for row in own if row[1]]
        out[str(gpu)] = {
            'operations': len(own), 'kernels': len(kernels),
            'span': max(row[3] for row in own) - min(row[2] for row in own),
            'busy': union(row[2:] for row in own), 'kernel_busy': union(kernels),
            'kernel_sum': sum(end - start for start, end in kernels)}
    return out


def of_sums(rows):
    """rows: (launches, nanoseconds) of a report without times."""
    return {'dispatches': sum(count for count, _ in rows),
            'time': float(sum(time for _, time in rows))}


def rocprofv3_json(path):
    rows = []
    for process in json.loads(content(path))['rocprofiler-sdk-tool']:
        gpus = {agent['id']['handle']: i
                for i, agent in enumerate(a for a in process['agents'] if a['type'] == 2)}
        records = process['buffer_records']
        for one in records['kernel_dispatch']:
            rows.append((gpus[one['dispatch_info']['agent_id']['handle']], True,
                         one['start_timestamp'], one['end_timestamp']))
        for one in records['memory_copy']:
            to, of = one['dst_agent_id']['handle'], one['src_agent_id']['handle']
            rows.append((gpus[to if to in gpus else of], False, one['start_timestamp'],
                         one['end_timestamp']))
    return of_gpus(rows)


def rocprofv3_csv(path):
    gpus, rows = {}, []
    for row in table(path):
        gpu = gpus.setdefault(row['Agent_Id'], len(gpus))
        rows.append((gpu, True, int(row['Start_Timestamp']), int(row['End_Timestamp'])))
    return of_gpus(rows)


def rocpd(path):
    db, tables = database(path)
    rows = []
    for name in tables:
        if not name.startswith('rocpd_kernel_dispatch_'):
            continue
        of = name[len('rocpd_kernel_dispatch'):]
        agents = {i: (kind, gpu) for i, kind, gpu in db.execute(f'select id, type, type_index from "rocpd_info_agent{of}"')}
        for agent, start, end in db.execute(f'select agent_id, start, end from "{name}"'):
            rows.append((agents[agent][1], True, start, end))
        for to, source, start, end in db.execute(
                f'select dst_agent_id, src_agent_id, start, end from "rocpd_memory_copy{of}"'):
            rows.append((agents[to if agents[to][0] == 'GPU' else source][1], False, start, end))
    return of_gpus(rows)


def rpd(path):
    db, _ = database(path)
    kinds = dict(db.execute('select id, string from rocpd_string'))
    return of_gpus([(gpu, kinds[kind] in ('KernelExecution', 'Task'), start, end)
                    for gpu, kind, start, end in db.execute('select gpuId, opType_id, start, end from rocpd_op')])


def cupti(path, kernels):
    db, tables = database(path)
    rows = []
    for name, device in [(name, 'deviceId') for name in kernels] + [
            ('CUPTI_ACTIVITY_KIND_MEMCPY', 'deviceId'), ('CUPTI_ACTIVITY_KIND_MEMSET', 'deviceId'),
            ('CUPTI_ACTIVITY_KIND_MEMCPY2', 'dstDeviceId')]:
        if name in tables:
            rows += [(gpu, name in kernels, start, end)
                     for gpu, start, end in db.execute(f'select {device}, start, end from {name}')]
    return of_gpus(rows)


def nsys(path):
    return cupti(path, ['CUPTI_ACTIVITY_KIND_KERNEL'])


def nvprof(path):
    return cupti(path, ['CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL', 'CUPTI_ACTIVITY_KIND_KERNEL'])


def of_report(path):
    """The facts of the author's own SQLite export of the same report."""
    return nsys(path[:path.rindex('.nsys-rep')] + '.sqlite')


def gpu_table(path):
    """nvprof --print-gpu-trace --csv, nsys stats --report cuda_gpu_trace."""
    lines = content(path).decode(errors='replace').splitlines()
    at = next(i for i, line in enumerate(lines)
              if re.match(r'"?Start"?( \(\w+\))?,"?Duration', line))
    heading = next(csv.reader([lines[at]]))
    start, duration = heading[0], heading[1]
    if '(' in start:
        units, at = [start[-3:-1].strip('('), duration[-3:-1].strip('(')], at + 1
    else:
        units, at = next(csv.reader([lines[at + 1]]))[:2], at + 2
    rows = []
    for cells in csv.reader(line for line in lines[at:] if line and not line.startswith('==')):
        row = dict(zip(heading, cells))
        try:
            begin = int(Decimal(row[start]) * UNIT[units[0]])
            length = int(Decimal(row[duration]) * UNIT[units[1]])
        except (ArithmeticError, KeyError):
            continue
        gpu = re.search(r'\((\d+)\)$', row['Device'])
        rows.append((int(gpu[1]) if gpu else 0, '[CUDA mem' not in row['Name'], begin,
                     begin + length))
    return of_gpus(rows)


def us(text):
    return int((Decimal(text.strip()) * 1000).to_integral_value(rounding='ROUND_HALF_UP'))


def ascend_table(path):
    return of_gpus([(0, True, us(row['Start Time(us)']),
                     us(row['Start Time(us)']) + us(row['Duration(us)']))
                    for row in table(path)])


def ascend_trace(path):
    events = json.loads(content(path), parse_float=Decimal)
    events = events['traceEvents'] if isinstance(events, dict) else events
    names = {e['pid']: e['args']['name'] for e in events if e.get('ph') == 'M'
             and e['name'] == 'process_name'}
    rows, parts, collectives = [], [], []
    for event in events:
        if event.get('ph') != 'X':
            continue
        process, begin = names.get(event['pid']), us(str(event['ts']))
        span = (begin, begin + us(str(event['dur'])))
        if process in ('HCCL', 'Communication') and event['name'].startswith('hcom_'):
            collectives.append(span)
        if process != 'Ascend Hardware':
            continue
        kind = event.get('args', {}).get('Task Type', '').lower().replace('_', ' ')
        if kind.split(' ')[0] in ('event', 'notify', 'profiling', 'write', 'wait',
                                  'place') or kind.startswith('stream wait'):
            continue
        if kind in ('sdma', 'rdma'):
            parts.append(span)
            continue
        copy = kind in ('sdma sqe', 'pcie dma sqe', 'memcpy async') or (
            kind == 'other' and event['name'].lower().startswith(('memcopy', 'memcpy')))
        rows.append((0, not copy) + span)
    rows += [(0, True) + span for span in collectives]
    rows += [(0, False) + span for span in parts
             if not any(a <= span[0] <= b for a, b in collectives)]
    return of_gpus(rows)


def trtexec(path):
    def ns(number):
        return int(Decimal(str(number)) * 10**6)
    return of_gpus([(0, part == 'Compute', ns(query[f'start{part}Ms']), ns(query[f'end{part}Ms']))
                    for query in json.loads(content(path), parse_float=Decimal)
                    for part in ('H2d', 'Compute', 'D2h')])


def trtexec_layers(path):
    rows = json.loads(content(path), parse_float=Decimal)
    count = next(row['count'] for row in rows if 'count' in row)
    return of_sums([(count, row['timeMs'] * 10**6) for row in rows if 'name' in row])


def counters(path):
    return of_sums([(1, Decimal(row['End_Timestamp']) - Decimal(row['Start_Timestamp']))
                    for row in table(path)])


def proton_tree(path):
    rows = []

    def walk(node):
        rows.append((node.get('metrics', {}).get('count', 0),
                     node.get('metrics', {}).get('time (ns)', 0)))
        for child in node.get('children', []):
            walk(child)
    for node in json.loads(content(path)):
        if 'frame' in node:
            walk(node)
    return of_sums(rows)


# Metrics of exporters, and what gpufathom calls them: name, factor.
READINGS = {
    'nvidia_smi_power_draw_instant_watts': ('power.module', 1), 'nvidia_smi_utilization_gpu_ratio': ('monitor.gpu', 1),
    'nvidia_smi_clocks_current_sm_clock_hz': ('clock.sm', 1), 'nvidia_smi_memory_used_bytes': ('memory.used', 1),
    'DCGM_FI_DEV_POWER_USAGE': ('power.module', 1), 'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION': ('energy.module', 1e-3),
    'DCGM_FI_DEV_SM_CLOCK': ('clock.sm', 1e6), 'DCGM_FI_DEV_MEM_CLOCK': ('clock.memory', 1e6),
    'DCGM_FI_DEV_GPU_UTIL': ('monitor.gpu', 0.01), 'DCGM_FI_DEV_FB_USED': ('memory.used', 1 << 20),
    'DCGM_FI_DEV_GPU_TEMP': ('temperature.gpu', 1), 'DCGM_FI_PROF_GR_ENGINE_ACTIVE': ('gpu.busy', 1),
    'DCGM_FI_PROF_PIPE_TENSOR_ACTIVE': ('tensor.active', 1), 'DCGM_FI_PROF_DRAM_ACTIVE': ('dram.active', 1)}


def scrape_lines(path):
    """A scrape, or the lines of one that a page quotes."""
    return [line.strip() for line in content(path).decode().splitlines()
            if re.match(r'\s*(# (HELP|TYPE) |\w+\{.*\} \S+$)', line)]


def scrape(path):
    said = {}
    for line in scrape_lines(path):
        found = re.match(r'(\w+)\{.*\} (\S+)$', line)
        if found and found[1] in READINGS:
            metric, factor = READINGS[found[1]]
            said.setdefault(metric, float(found[2]) * factor)
    return said


READERS = {
    'rocprofv3 JSON': rocprofv3_json, 'rocprofv3 CSV': rocprofv3_csv, 'rocpd': rocpd, 'RPD': rpd, 'rocprof-compute': counters,
    'nvprof CSV': gpu_table, 'nvprof SQLite': nvprof, 'Nsight Systems SQLite': nsys, 'Nsight Systems report': of_report,
    'Nsight Systems Arrow': of_report, 'Nsight Systems HDF5': of_report, 'Nsight Systems JSON': of_report,
    'nsys stats CSV': of_report, 'Ascend kernel_details': ascend_table, 'Ascend trace_view': ascend_trace,
    'trtexec times': trtexec, 'trtexec layers': trtexec_layers, 'Proton tree': proton_tree,
    'nvidia_gpu_exporter': scrape, 'dcgm-exporter': scrape}


# The answers of gpufathom.

def answer(program, path):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, 'answer.json')
        done = subprocess.run([program, 'analyze', path, '--window', 'all', '--format', 'json',
                               '-o', out], capture_output=True, text=True)
        if not os.path.exists(out):
            return refusal(done.stderr, path)
        devices = json.load(open(out))['devices']
    return {str(gpu['id']): {'span': gpu['span_ns'], 'busy': gpu['busy_ns'],
                             'kernel_busy': gpu['kernel_busy_ns'],
                             'kernel_sum': gpu['kernel_time_sum_ns'],
                             'operations': gpu['gpu_events'], 'kernels': gpu['kernels']}
            for gpu in devices}


def refusal(text, path):
    """The message without the file's place and nsys's notes about its build."""
    text = re.sub(r'\[libprotobuf.*?\(export', '... (export', text, flags=re.DOTALL)
    return text.replace(path, 'FILE').replace(shutil.which('nsys') or ' ', 'nsys').strip()


def queried(program, path, sql):
    done = subprocess.run([program, 'query', path, sql, '--format', 'csv'], capture_output=True,
                          text=True)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def answer_of_scrapes(program, path):
    """The facts of a folder with the scrape twice, ten seconds apart: one scrape is an instant."""
    with tempfile.TemporaryDirectory() as folder:
        for i in range(2):
            name = os.path.join(folder, f'{i}.prom')
            open(name, 'w').write('\n'.join(scrape_lines(path)) + '\n')
            os.utime(name, (1_790_000_000 + 10 * i,) * 2)
        rows = queried(program, folder,
                       'select metric, avg(value) as value from counter_samples group by metric')
    return {row['metric']: float(row['value']) for row in rows if row['value']}


def judged(program, path, kind):
    """The expected text, the actual text, and the verdict."""
    if kind.startswith('refused: '):
        said = answer(program, path)
        return 'refused by the name of ' + kind[9:], said, 'right' if isinstance(said, str) and kind[9:] in said else 'wrong'
    truth = READERS[kind](path)
    if READERS[kind] is scrape:
        said = answer_of_scrapes(program, path)
        said = {metric: said.get(metric) for metric in truth}
        right = truth and all(said[m] is not None and abs(said[m] - v) <= 1e-3 * abs(v)
                              for m, v in truth.items())
        return truth, said, 'right' if right else 'wrong'
    if 'dispatches' in truth:
        rows = queried(program, path, 'select sum(coalesce(launches, 1)) as n, sum(coalesce(launches, 1) * duration_ns) as ns from report_kernels')
        said = {'dispatches': int(rows[0]['n']), 'time': float(rows[0]['ns'])}
        right = truth['dispatches'] == said['dispatches'] and abs(truth['time'] - said['time']) <= truth['dispatches']
        return truth, said, 'right' if right else 'wrong'
    said = answer(program, path)
    if isinstance(said, str):
        return truth, said, 'wrong' if truth else 'right'
    return truth, said, 'right' if said == truth else 'wrong'


def main():
    program, folder = sys.argv[1:3]
    result = json.load(open(ROWS))
    tally, out = collections.Counter(), []
    for row in result['results']:
        path = os.path.join(folder, row['repository'].replace('/', '+'),
                            row['path'] + row.get('made_suffix', ''))
        if not os.path.exists(path):
            tally['missing'] += 1
            continue
        if 'made' not in row and hashlib.sha256(open(path,
                                                     'rb').read()).hexdigest() != row['sha256']:
            tally['another file'] += 1
            continue
        truth, said, verdict = judged(program, path, row['format'])
        out.append({**row, 'truth': truth, 'said': said, 'verdict': verdict})
        tally[verdict] += 1
        if verdict != 'right':
            print(verdict, row['format'], path, truth, said)
    print(dict(tally))
    if len(sys.argv) > 3:
        result.update(files=len(out), right=tally['right'], results=out)
        with open(sys.argv[3], 'w') as file:
            json.dump(result, file, indent=1)
            file.write('\n')
    sys.exit(tally['wrong'] > 0)


if __name__ == '__main__':
    main()
