#!/usr/bin/env python3
"""run.py GPUFATHOM FILES_DIR [OUT.json]: score of the field gate.

Every file of manifest.json that lies in FILES_DIR is given to `GPUFATHOM analyze`; files that are
missing are skipped. Figures are compared with truths.json (the whole capture, `--window all`):
shares within 0.1 points, kernels exactly. Sentences are held to checks.json: what an answer or a refusal must say and must not say; statements.json says it in words."""
import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 120


def load(name):
    return json.load(open(os.path.join(HERE, name)))


def call(tool, path, *options):
    try:
        done = subprocess.run([tool, 'analyze', os.path.basename(path), *options],
                              cwd=os.path.dirname(path) or '.', capture_output=True, timeout=LIMIT)
        return done.returncode, done.stdout.decode('utf-8',
                                                   'replace'), done.stderr.decode('utf-8', 'replace')
    except subprocess.TimeoutExpired:
        return None, '', 'time limit'


def figures(truth, document):
    """-> list of differences between the devices of the answer and the truth"""
    found = {str(d['id']): d for d in document.get('devices', [])}
    out = []
    for name, t in truth.get('devices', {}).items():
        d = found.get(name) or (next(iter(found.values()))
                                if len(found) == len(truth['devices']) == 1 else None)
        if d is None:
            out.append(f'device {name} is not in the answer')
            continue
        if not d.get('span_ns'):
            out.append(f'device {name}: no span')
            continue
        for key, field in (('busy_percent', 'busy_ns'), ('kernel_percent', 'kernel_busy_ns')):
            value = 100.0 * d[field] / d['span_ns']
            if abs(value - t[key]) > 0.1:
                out.append(f'device {name}: {field} {value:.2f} %, true {t[key]:.2f} %')
        if d.get('kernels') != t['kernels']:
            out.append(f'device {name}: {d.get("kernels")} kernels, true {t["kernels"]}')
    if 'duration_ns' in truth and isinstance(truth.get('kernels'), int) and found:
        d = next(iter(found.values()))
        if d.get('kernels') != truth['kernels'] or abs(d.get('kernel_time_sum_ns',
                                                             0) - truth['duration_ns']) > 1 + 0.001 * truth['duration_ns']:
            out.append(f'{d.get("kernels")} kernels of {d.get("kernel_time_sum_ns")} ns, true {truth["kernels"]} of {truth["duration_ns"]}')
    return out


def log_figures(truth, text):
    """energy and utilization that the printed answer of a log names"""
    devices = truth.get('log_devices', {})
    out = []
    joules = sum(d.get('joules', 0) for d in devices.values())
    printed = re.search(r'([\d.]+) (k|M)?J in ', text)
    if printed and joules:
        value = float(printed.group(1)) * {'k': 1e3, 'M': 1e6, None: 1}[printed.group(2)]
        if abs(value - joules) > 0.01 * joules:
            out.append(f'{value:.1f} J, true {joules:.1f} J over {len(devices)} device(s)')
    busy = [d['time_mean_utilization'] for d in devices.values() if 'time_mean_utilization' in d]
    printed = re.search(r'runs? kernels\s+(?:at least )?([\d.]+) %', text)
    if printed and busy and abs(float(printed.group(1)) - sum(busy) / len(busy)) > 2.5:
        out.append(f'utilization {printed.group(1)} %, true {sum(busy) / len(busy):.1f} %')
    return out


def judge(tool, path, entry, truth, check, statement):
    code, text, error = call(tool, path)
    if code is None or code < 0 or code > 1:
        return 'crash', [f'exit {code}: {error[-200:]}'], True
    said = (text + '\n' + error).replace(entry['file'], 'FILE')
    faults = [f'says: {m.group(0)}' for p in check['must_not'] for m in [re.search(p, said)] if m]
    faults += [f'does not say: {p}' for p in check['must'] if not re.search(p, said)]
    named = not check['writer'] or bool(re.search(check['writer'],
                                                  re.sub(r'\(understood:.*', '', said)))
    answered = bool(text.strip())
    if not answered:
        if statement['expect'] == 'analysis':
            return 'refused falsely', ['a file that can be read is refused: ' + error[:160]], named
        return ('refused falsely', faults, named) if faults else ('refused rightly', [], named)
    if statement['expect'] == 'refuse':
        return 'wrong', ['an answer where there is nothing to answer'] + faults, named
    _, whole, _ = call(tool, path, '--window', 'all', '--format', 'json')
    try:
        numbers = figures(truth, json.loads(whole))
    except ValueError:
        numbers = ['no JSON']
    numbers += log_figures(truth, text)
    if numbers:
        return 'wrong', numbers + faults, named
    return (check['severity'], faults, named) if faults else ('right', [], named)


def main(tool, files, out=None):
    tool = os.path.abspath(tool)
    truths, checks, statements = load('truths.json'), load('checks.json'), load('statements.json')
    verdicts, skipped = {}, 0
    for entry in load('manifest.json'):
        path = os.path.join(os.path.abspath(files), entry['file'])
        if not os.path.exists(path):
            skipped += 1
            continue
        if hashlib.sha256(open(path, 'rb').read()).hexdigest() != entry['sha256']:
            print(f'{entry["file"]}: another file than the one that was judged, skipped')
            skipped += 1
            continue
        verdict, faults, named = judge(tool, path, entry, truths[entry['file']],
                                       checks[entry['file']], statements[entry['file']])
        verdicts[entry['file']] = {'verdict': verdict, 'faults': faults, 'writer_named': named}
        print(f'{verdict:16} {entry["file"]}'
              + (f'  {"; ".join(faults)[:150]}' if faults else '' if named
                 else '  (writer not named)'))
    count = Counter(v['verdict'] for v in verdicts.values())
    good = count['right'] + count['refused rightly']
    print(f'\n{good} of {len(verdicts)} right: '
          + ', '.join(f'{n} {k}' for k, n in count.most_common()) + f'; {sum(not v["writer_named"] for v in verdicts.values())} writers not named; {skipped} files skipped')
    if out:
        json.dump(verdicts, open(out, 'w'), indent=1)
    return 0 if good == len(verdicts) else 1


if __name__ == '__main__':
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:4]))
