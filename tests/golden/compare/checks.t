Rules that end a build: with 1 when one is broken, 3 when a run is incomplete, 4 when nobody can tell.

  $ cp "$EXAMPLES"/resnet50_amp_eager_b64.json.gz eager.json.gz
  $ cp "$EXAMPLES"/resnet50_fp32_eager_b64.json.gz fp32.json.gz
  $ gpufathom compare eager.json.gz fp32.json.gz --fail-on "step > 3%" --fail-on "idle > 3%" --junit junit.xml --github -o answer.json
  ::notice title=gpufathom compare::B is 1.57x slower than A (step 78.43 ms vs. 49.83 ms; 95 %25: 1.18-2.11x); its kernels take 404.2 %25 more (95 %25: +401.3 to +407.2 %25). Sources of the difference: kernels +60.52 ms, copies -30.39 us, host -32.03 ms, waiting +111.0 us, other idle +25.43 us. A single capture does not show what differs from run to run: record several of each version in turns (A B A B). A profiler slowed the host: by kernel time alone it is 0.20x as fast, and without the profiler likely 0.33x to 0.66x.
  ::error title=gpufathom%3A step > 3%25::fp32.json.gz: step +57.4 %25 against eager.json.gz (+17.6 %25 to +110.6 %25 with 95 %25 confidence)
  ::notice title=gpufathom%3A idle > 3%25::fp32.json.gz: idle -91.9 %25 against eager.json.gz
  gpufathom: --fail-on "step > 3%": fp32.json.gz: step +57.4 % against eager.json.gz (+17.6 % to +110.6 % with 95 % confidence)
  [1]
  $ jq -c '.checks[] | [.rule, .failed, .text]' answer.json
  ["step > 3%",true,"fp32.json.gz: step +57.4 % against eager.json.gz (+17.6 % to +110.6 % with 95 % confidence)"]
  ["idle > 3%",false,"fp32.json.gz: idle -91.9 % against eager.json.gz"]
  $ cat junit.xml
  <?xml version="1.0" encoding="UTF-8"?>
  <testsuites>
  <testsuite name="gpufathom compare" tests="2" failures="1" errors="0" skipped="0">
  <testcase classname="fp32.json.gz" name="step &gt; 3%">
  <failure message="fp32.json.gz: step +57.4 % against eager.json.gz (+17.6 % to +110.6 % with 95 % confidence)">fp32.json.gz: step +57.4 % against eager.json.gz (+17.6 % to +110.6 % with 95 % confidence) B is 1.57x slower than A (step 78.43 ms vs. 49.83 ms; 95 %: 1.18-2.11x); its kernels take 404.2 % more (95 %: +401.3 to +407.2 %). Sources of the difference: kernels +60.52 ms, copies -30.39 us, host -32.03 ms, waiting +111.0 us, other idle +25.43 us. A single capture does not show what differs from run to run: record several of each version in turns (A B A B). A profiler slowed the host: by kernel time alone it is 0.20x as fast, and without the profiler likely 0.33x to 0.66x.</failure>
  </testcase>
  <testcase classname="fp32.json.gz" name="idle &gt; 3%">
  <system-out>fp32.json.gz: idle -91.9 % against eager.json.gz B is 1.57x slower than A (step 78.43 ms vs. 49.83 ms; 95 %: 1.18-2.11x); its kernels take 404.2 % more (95 %: +401.3 to +407.2 %). Sources of the difference: kernels +60.52 ms, copies -30.39 us, host -32.03 ms, waiting +111.0 us, other idle +25.43 us. A single capture does not show what differs from run to run: record several of each version in turns (A B A B). A profiler slowed the host: by kernel time alone it is 0.20x as fast, and without the profiler likely 0.33x to 0.66x.</system-out>
  </testcase>
  </testsuite>
  </testsuites>

The other way round nothing is worse, which three steps show with 95 % and not with 99 %. Three steps of the same capture
show no difference, and cannot show that there is none of 10 %: undecided,
not ok.

  $ gpufathom compare fp32.json.gz eager.json.gz --fail-on "step > 3%" --fail-on "layer_type:MatMul > 3%" 2> words | sed -n '/^Rules/,/^$/p'; cat words
  Rules
    undecided  step > 3%: eager.json.gz: step -36.5 % against fp32.json.gz,
    undecided: -52.5 % to -15.0 % with 95 % confidence (+24.4 % with the 99 % that
    passing needs); about 3 captures of each version, recorded in turns, would
    decide, here is 1
    ok      layer_type:MatMul > 3%: eager.json.gz: layer_type:MatMul -73.1 %
    against fp32.json.gz
  
  gpufathom: --fail-on "step > 3%": eager.json.gz: step -36.5 % against fp32.json.gz, undecided: -52.5 % to -15.0 % with 95 % confidence (+24.4 % with the 99 % that passing needs); about 3 captures of each version, recorded in turns, would decide, here is 1
  $ gpufathom compare eager.json.gz eager.json.gz --fail-on "step > 60%" >/dev/null
  $ gpufathom compare eager.json.gz eager.json.gz --fail-on "step > 10%" --fail-on "step < -10%" --junit junit.xml -o answer.json
  gpufathom: --fail-on "step > 10%": eager.json.gz: step +0.0 % against eager.json.gz, undecided: -23.3 % to +30.4 % with 95 % confidence; about 9 captures of each version, recorded in turns, would decide, here is 1
  gpufathom: --fail-on "step < -10%": eager.json.gz: step +0.0 % against eager.json.gz, undecided: -23.3 % to +30.4 % with 95 % confidence; about 5 captures of each version, recorded in turns, would decide, here is 1
  [4]
  $ jq -c '.checks[] | [.failed, .outcome]' answer.json; grep -c '<error message=' junit.xml; grep -o 'failures=.*skipped="0"' junit.xml
  [false,"undecided"]
  [false,"undecided"]
  2
  failures="0" errors="2" skipped="0"

What nobody measured is undecided, too; a broken rule beside it stays broken.

  $ gpufathom compare eager.json.gz fp32.json.gz --fail-on "joules > 3%" > answer.txt
  gpufathom: --fail-on "joules > 3%": fp32.json.gz: undecided: no data for joules
  [4]
  $ sed -n '/^Rules/,/^$/p' answer.txt
  Rules
    undecided  joules > 3%: fp32.json.gz: undecided: no data for joules
  
  $ gpufathom compare eager.json.gz fp32.json.gz --fail-on "joules > 3%" --fail-on "kernels > 3%" 2> /dev/null > /dev/null
  [1]

A run that is not whole is no evidence: no rule is judged on it, unless that is asked for.

  $ gzip -dc fp32.json.gz | head -c 4500000 > cut.json
  $ gpufathom compare eager.json.gz cut.json --fail-on "kernels > 3%" -o answer.json
  gpufathom: cut.json: incomplete result: 1 x truncated_json: the file ends before its list of events does (first at byte 4500000)
  gpufathom: cut.json: incomplete result: 6 994 x calls_missing: of the 27 260 numbers of the runtime's calls, 6 994 in a row are not in the capture: the calls between were not recorded, and what they launched is missing
  gpufathom: --fail-on "kernels > 3%": cut.json: not judged: cut.json is incomplete (--allow-incomplete judges anyway)
  [3]
  $ jq -c '.checks[] | [.failed, .outcome]' answer.json
  [false,"refused"]
  $ gpufathom compare eager.json.gz cut.json --fail-on "kernels > 2000%" --allow-incomplete 2>&1 > /dev/null
  gpufathom: cut.json: incomplete result: 1 x truncated_json: the file ends before its list of events does (first at byte 4500000)
  gpufathom: cut.json: incomplete result: 6 994 x calls_missing: of the 27 260 numbers of the runtime's calls, 6 994 in a row are not in the capture: the calls between were not recorded, and what they launched is missing
  $ gpufathom compare eager.json.gz cut.json --fail-on "kernels > 3%" --allow-incomplete > /dev/null 2> /dev/null
  [4]
  $ gpufathom compare eager.json.gz cut.json > /dev/null 2> /dev/null
  [1]
  $ gpufathom compare eager.json.gz nowhere.json --fail-on "step > 3%" 2> /dev/null
  [3]
  $ gpufathom compare eager.json.gz cut.json --allow-incomplete
  gpufathom: --allow-incomplete requires --fail-on (see gpufathom compare --help)
  [2]

Other differences are named, and the batch is read from the shapes.

  $ gpufathom compare fp32.json.gz eager.json.gz | sed -n '/^Other differences/,/^$/p'
  Other differences: precision (A fp32, B bf16).
  
  $ jq -c '[.runs[] | [.batch, .batch_source, .precision, .profiler, (.item_ns | round)]]' answer.json
  [[64,"shapes","bf16","kineto with shapes",778600],[64,"shapes","fp32","kineto with shapes",1225444]]
  $ gpufathom compare eager.json.gz fp32.json.gz --batch 64,512 --format json | jq -c '[.changes[0] | .of, .verdict], [.runs[] | .batch], [.differences[].setting]'
  ["item","faster"]
  [64,512]
  ["batch","precision"]

No rule, no number.

  $ gpufathom compare eager.json.gz fp32.json.gz --fail-on "step > 3"
  gpufathom: --fail-on "step > 3": the limit has no unit (write it as "step > 3%": step, item, kernels, idle, copies, joules, a level such as gpu.busy, or a row such as idle:sync, layer_type:MatMul, kernel:NAME; then > or <, and a limit in %, a time (ns, us, ms, s), J, or points of a level (pp))
  [2]
  $ gpufathom compare eager.json.gz fp32.json.gz --batch 1,2,3
  gpufathom: --batch requires one number for all captures, or one for each: --batch 64,512
  [2]
  $ gpufathom compare eager.json.gz fp32.json.gz --github --format json
  gpufathom: --github prints to standard output: give -o FILE for the json
  [2]
