The critical path of a step: every nanosecond of it in one part.

  $ T=resnet50_amp_eager_b64.json.gz; cp $EXAMPLES/$T .
  $ gpufathom path $T --rows 5
  resnet50_amp_eager_b64.json.gz                                 3 steps, 149.5 ms
  The critical path of device 0 takes 50.41 ms a step, from the end of one step's
  GPU work to the end of the next (2 steps, 100.8 ms).
  
  Critical path by part                   only a shorter path makes a step shorter
    part                           count    a step    share
    host work                      1 854  33.23 ms   65.9 %
    profiler overhead (estimated)  1 853  17.13 ms   34.0 %
    compute kernels                    3  49.63 us    0.1 %
    kernel launch latency              1  6.296 us   <0.1 %
    kernel launch gap                  2  1.120 us   <0.1 %
    total                          3 713  50.41 ms  100.0 %
  
  Longest on the path
    part      kernel, or operator of the next launch  count    a step   share
    host      convolution_backward                      332  8.492 ms  16.8 %
    host      fill_                                     220  5.906 ms  11.7 %
    profiler  fill_                                     220  5.475 ms  10.9 %
    host      copy_                                     228  4.572 ms   9.1 %
    profiler  convolution_backward                      332  3.459 ms   6.9 %
  $ gpufathom path $T --format json > path.json
  $ jq -c '([.parts[].ns] | add) == .length_ns, ([.names[].ns] | add) == .length_ns, ([.pieces[].duration_ns] | add) == .length_ns' path.json
  true
  true
  true

It is one piece after the other, and as long as the steps that whatif replays.

  $ python3 -c "import json; p = json.load(open('path.json'))['pieces']; print(all(b['start_ns'] == a['start_ns'] + a['duration_ns'] for a, b in zip(p, p[1:])))"
  True
  $ jq -n --slurpfile path path.json --argjson step "$(gpufathom whatif $T --without sync --format json | jq .captured_ns)" '($path[0].length_ns / $path[0].steps | floor) == $step'
  true

The pieces are a table; a window without steps has one path.

  $ gpufathom query $T "select sum(duration_ns) == (select max(start_ns + duration_ns) - min(start_ns) from critical_path) as whole from critical_path" --format csv
  whole
  1
  $ gpufathom path $T --window 0:5ms | sed -n 2,3p
  The critical path of device 0 takes 4.938 ms, the whole window.
  
  $ cp $EXAMPLES/power_mixed.csv.gz . && gpufathom path power_mixed.csv.gz
  gpufathom: power_mixed.csv.gz: has no device activities: there is no path
  [1]
