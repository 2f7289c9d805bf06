What cannot be true of a GPU is told, whatever wrote it (docs/evidence.md; tests/evidence/ does this to every reader). A trace
whose kernels are changed by what is given as $1:

  $ change() { gunzip -c $EXAMPLES/lenet_train_b64.json.gz | python3 -c "
  > import json, sys
  > trace = json.load(sys.stdin)
  > events = trace['traceEvents']
  > kernels = [event for event in events if event.get('cat') == 'kernel']
  > $1
  > json.dump(dict(trace, traceEvents=events), sys.stdout)"; }
  $ told() { gpufathom query "$1" "select code, count, detail from quality" --format csv 2> /dev/null; }

Half of its kernels are lost: no busy time, no idle cause is that of the program, and no advice is built on them.

  $ change "events = [event for event in events if event not in kernels[::2]]" > lost.json
  $ told lost.json
  code,count,detail
  no_kernel,75,"75 of 150 launches have no kernel in the capture: kernels were lost, for up to 9.86 ms, and their time shows as idle"
  [1]
  $ gpufathom analyze lost.json --format json > lost.out 2> /dev/null
  [1]
  $ python3 -c "
  > import json
  > answer = json.load(open('lost.out'))
  > print([finding['id'] for finding in answer['findings']], [answer['levels'][0][end] for end in ('low', 'high')])"
  ['advice_withheld', 'missing_counters', 'observer_effect'] [0.03321321099619254, 0.9814406374943189]
  $ gpufathom analyze lost.json 2> /dev/null | grep -A 1 "^Incomplete\|Recommendations are withheld"
  Incomplete: 75 x no_kernel: 75 of 150 launches have no kernel in the capture:
  kernels were lost, for up to 9.86 ms, and their time shows as idle
  --
    - Recommendations are withheld: the kernel records of this capture are
      inconsistent (see data quality), so its busy and idle times are not those of

One is lost:

  $ change "events.remove(kernels[70])" > one.json
  $ told one.json
  code,count,detail
  no_kernel,1,"1 of 150 launches have no kernel in the capture: kernels were lost, for up to 21.5 us, and their time shows as idle"
  [1]
  $ gpufathom analyze one.json > one.out
  gpufathom: one.json: incomplete result: 1 x no_kernel: 1 of 150 launches have no kernel in the capture: kernels were lost, for up to 21.5 us, and their time shows as idle
  [1]

Times that cannot be, and records that are there twice:

  $ change "for event in kernels: event['ts'] -= 2000" > early.json
  $ told early.json
  code,count,detail
  kernel_before_launch,150,"150 of 162 kernels and copies begin before the call that launched them, by up to 1.99 ms: the clocks of host and device disagree, or the times were changed"
  [1]
  $ change "for event in kernels: event['dur'] *= 20" > long.json
  $ told long.json
  code,count,detail
  stream_overlap,98,"98 of 162 kernels and copies overlap with another one of their stream, which runs one at a time: 14.2 ms as recorded, 9.23 ms if each ended where the next begins"
  [1]
  $ change "events += kernels" > twice.json
  $ told twice.json
  code,count,detail
  repeated_kernel,150,"150 kernels and copies are in the capture twice: the same times, stream, name and launch"
  [1]

Launches into a graph that is being captured run nothing, nor does a host function, and a call of the driver inside one of the
runtime has the kernel of both:

  $ change "
  > call = next(event for event in events if event.get('name') == 'cudaLaunchKernel')
  > for number, name in enumerate(('cudaStreamBeginCapture', 'cudaLaunchKernel', 'cudaLaunchKernel', 'cudaStreamEndCapture', 'cudaLaunchHostFunc')):
  >     events.append(dict(call, name=name, ts=call['ts'] - 100 + 10 * number, dur=5, args={'correlation': 900000 + number}))
  > events.append(dict(call, cat='cuda_driver', name='cuLaunchKernel', ts=call['ts'] + 0.1, dur=0.1, args={'correlation': 900009}))" > captured.json
  $ told captured.json
  code,count,detail
  numbers_fall,2,"2 of 208 calls of the runtime have a lower number than the call before them on their thread: the host's clock went back, or numbers were changed"

A power log in milliwatts, one whose counter jumps, one that contradicts itself, one whose clock goes back:

  $ log() { gunzip -c $EXAMPLES/power_mixed.csv.gz | awk -F, -v OFS=, -v CONVFMT=%.6f "NR > 1 { $1 } { print }"; }
  $ log '$2 *= 1000; $3 *= 1000' > milliwatts.csv
  $ told milliwatts.csv
  code,count,detail
  implausible_reading,5866,implausible readings are ignored (first: power.module = 79484): is the unit right?
  [1]
  $ log 'if (NR > 1500) $4 += 1000000000' > jump.csv
  $ told jump.csv
  code,count,detail
  implausible_reading,1,"the energy counter of GPU 0 goes by 1.00001e+06 J in 24.4 ms, which no board can: it is left out, energy is that of the power readings"
  [1]
  $ log '$4 = $4 / 1000' > unit.csv
  $ told unit.csv
  code,count,detail
  readings_disagree,1,"the energy counter of GPU 0 gained 10.24 J while its power adds up to 1.018e+04 J: one of them is wrong, and both are ignored"
  [1]
  $ log 'if (NR > 1500) $1 -= 5' > back.csv
  $ told back.csv
  code,count,detail
  clock_back,1,"the log's times of GPU 0 go backwards: when its power was read is not known, and its power and energy are left out"
  [1]

One that has a hole where the kernels run:

  $ log 'if ($1 > 1795187768.10 && $1 < 1795187768.30) next' > hole.csv
  $ gpufathom analyze $EXAMPLES/bert_amp_eager_b32.json.gz --power hole.csv 2>&1 > /dev/null | sed 's/.*: incomplete/incomplete/'
  incomplete result: 1 x readings_missing: power and energy readings have gaps while GPU 0 is active: in 44.1 ms of 44.1 ms of kernels and copies

No answer about energy is built on them; what remains that can be trusted gives one.

  $ joules() { gpufathom analyze $EXAMPLES/bert_amp_eager_b32.json.gz --power $1 --format json 2> /dev/null | python3 -c "
  > import json, sys
  > print([(device['source'], round(device['nj'] / 1e9, 1)) for device in (json.load(sys.stdin).get('energy') or {}).get('devices', [])])"; }
  $ for log in $EXAMPLES/power_mixed.csv.gz milliwatts.csv jump.csv unit.csv back.csv; do joules $log; done
  [('energy_counter', 44.6)]
  [('energy_counter', 44.0)]
  [('power_instant', 38.3)]
  []
  []
