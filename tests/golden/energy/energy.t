Energy needs something that measured power; what is missing is said.

  $ T=$EXAMPLES/resnet50_amp_eager_b64.json.gz C=$EXAMPLES/resnet50_amp_eager_b64.ncu.csv.gz
  $ gpufathom energy "$T" 2>&1 | sed "s,$EXAMPLES/,,"
  gpufathom: resnet50_amp_eager_b64.json.gz: no energy: power was not measured: record with `gpufathom record`, or log it during the run and pass --power: nvidia-smi --query-gpu=timestamp,index,power.draw.instant --format=csv,nounits -lms 100

A log of another time does not belong to the trace:

  $ gpufathom energy "$T" --power "$EXAMPLES/power_mixed.csv.gz" 2>&1 | sed "s,$EXAMPLES/,,"
  gpufathom: resnet50_amp_eager_b64.json.gz: no energy: the readings of power begin 989 s after the span ends. Log power over the whole run, on the same clock

A small model, of round numbers:

  $ cat > model.json <<'END'
  > {"schema": "gpufathom.energy/1", "gpu": "NVIDIA H200", "static_w": 130, "static_low": 128, "static_high": 132, "active_w": 10, "active_low": 8, "active_high": 12,
  >  "sm_mhz_low": 1700, "sm_mhz_high": 1980, "gain_error": 0.05, "coefficients": [
  >  {"feature": "l2.load", "picojoules": 800, "low": 700, "high": 900}, {"feature": "dram.read", "picojoules": 2500, "low": 2400, "high": 2600},
  >  {"feature": "dram.write", "picojoules": 1900, "low": 1850, "high": 1950}, {"feature": "tensor.bf16.wgmma", "picojoules": 0.7, "low": 0.6, "high": 0.8}]}
  > END

A trace, a counter report and a made-up log of a steady 240 W over the trace's time: parts sum to the measured energy, in the whole, in each row, and over the rows.

  $ awk 'BEGIN { print "unix_time_s,power_instant_w,energy_mj,sm_clock_mhz,temp_c"; for (i = 0; i < 40; ++i) printf "%.3f,240,%d,1980,41\n", 1795186726.9 + i / 10, 24000 * i }' > power.csv
  $ gpufathom energy "$T" --model model.json --counters "$C" --power power.csv --batch 64 --format json > energy.json
  $ jq -r '.schema, (.energy.devices[] | "\(.source) \(.counts_source) \(.nj)")' energy.json
  gpufathom.energy_use/1
  energy_counter counter_report 35877882480
  $ jq -r '.energy.devices[] | .nj as $e | ([.parts[].nj] | add - $e), (.steps, .layer_types, .layers, .kernels | ([.[].nj] | add - $e)), ([.steps, .layer_types, .layers, .kernels | .[] | ([.parts[].nj] | add) - .nj] | map(select(. != 0)) | length)' energy.json | tr '\n' ' '
  0 0 0 0 0 0  (no-eol)
  $ jq -r '.energy.devices[0] | .step.count, (.step.joules * 1000 | round), (.step.joules_per_item * 1000 | round), (.layer_types[:3][] | "\(.name) \(.ns)"), [.warnings[].code]' -c energy.json
  3
  11959
  187
  (idle) 104113352
  Normalization 19586406
  Convolution 14220597
  ["not_counted","tma","window_too_short"]

One step alone; by its own clock the sensor cannot resolve it, and that is said:

  $ gpufathom energy "$T" --model model.json --counters "$C" --power power.csv --window step:10 --format json | jq -c '.energy.devices[0] | .nj, [.warnings[].code]'
  10720612800
  ["not_counted","tma","window_too_short"]

The text fits 80 columns and says what is not known:

  $ LC_ALL=C gpufathom energy "$T" --model model.json --counters "$C" --power power.csv --batch 64 > energy.txt; awk '{ if (length($0) > 80 && !/^--?[a-z]|ncu|__/) print "long: " $0 }' energy.txt; sed -n 2,24p energy.txt; grep "^  !" energy.txt | cut -c1-60
  
  Energy breakdown                          energy counter, counts from the report
    NVIDIA H200: 35.88 J in 149.5 ms, 240.0 W.
    component                     share    energy      95 % interval
    static power   ############  54.2 %   19.43 J   17.87 .. 21.13 J
    active SMs     #              1.0 %  360.1 mJ  269.1 .. 457.5 mJ
    DRAM           ####          18.5 %   6.645 J   5.062 .. 8.541 J
    not explained  ######        26.3 %   9.439 J    6.82 .. 11.74 J
    Intervals include the spread between boards and the model's error on unseen
    kernels, not the values of operands: zeros take a quarter to two thirds of the
    energy of random data.
    A step takes 11.96 J in 49.83 ms, 186.9 mJ per item; energy-delay product
    0.5959 J s (mean of 3 steps).
  
    layer type (parts in %)    energy  static  compute  on chip  DRAM  rest
    (idle)                    13.53 J     100        0        0     0     0
    Normalization             9.340 J      29        0        0    27    44
    Convolution               6.728 J      29        0        0    27    44
    Activation                2.588 J      23        0        0    42    35
    Elementwise               1.949 J      22        0        0    45    33
    Pooling                  863.6 mJ      34        0        0    14    52
    Optimizer                443.5 mJ      25        0        0    36    39
    Copy                     376.5 mJ      35        0        0    11    54
    ! the capture lacks the counters of 2 of the model's featu
    ! TMA copies bypass the load-store counters of L1 and shar
    ! the span of 0.149 s contains 1.5 updates of the sensor (

What it costs by the user's factors: 0.3 of a currency and 400 g a kWh, and a site that takes 1.2 J for each of its GPUs'.

  $ gpufathom energy "$T" --model model.json --counters "$C" --power power.csv --batch 64 --price 0.3 --co2 400 --site-overhead 1.2 | sed -n '/cost of one/,/item/p'
    cost of one    energy        kWh      price      g CO2
    span          35.88 J  1.196e-05  3.588e-06   0.004784
    step          11.96 J  3.986e-06  1.196e-06   0.001595
    item         186.9 mJ  6.229e-08  1.869e-08  2.492e-05
  $ gpufathom energy "$T" --model model.json --counters "$C" --power power.csv --batch 64 --price 0.3 --format json | jq -c '.costs[] | [.of, (.joules * 1000 | round), (.kilowatt_hours * 3.6e9 / .joules | round), (.price / .kilowatt_hours * 10 | round), .co2_grams]'
  ["span",35878,1000,3,null]
  ["step",11959,1000,3,null]
  ["item",187,1000,3,null]
  $ gpufathom energy "$T" --model model.json --counters "$C" --power power.csv --format json | jq -c '.costs, .sweep'
  []
  []
  $ gpufathom energy "$T" --model model.json --counters "$C" --power power.csv --price -1
  gpufathom: --price: '-1' is not a number of 0 or more (see gpufathom energy --help)
  [2]
  $ gpufathom energy "$T" --model model.json --counters "$C" --power power.csv --co2 400 --site-overhead 0.5
  gpufathom: --site-overhead: '0.5' is not a number from 1 to 10 (see gpufathom energy --help)
  [2]

Other clocks, predicted; a model without voltage predicts none.

  $ gpufathom energy "$T" --counters "$C" --power power.csv --sweep --price 0.3 2>/dev/null | sed -n '/SM clock, GPU/,$p' | sed '/^  !/,$d' | head -20
    SM clock, GPU 0          time            energy      race to idle
    1980 MHz         1.00 .. 1.00  35.88 .. 35.88 J  35.88 .. 35.88 J
    1880 MHz         1.00 .. 1.05  35.12 .. 36.90 J  35.88 .. 37.00 J
    1780 MHz         1.00 .. 1.11  34.40 .. 38.06 J  35.88 .. 38.25 J
    1680 MHz         1.00 .. 1.18  33.71 .. 39.36 J  35.88 .. 39.66 J
    1580 MHz         1.00 .. 1.25  33.05 .. 40.85 J  35.88 .. 41.23 J
    1480 MHz         1.00 .. 1.34  32.63 .. 42.59 J  35.88 .. 43.02 J
    1380 MHz         1.00 .. 1.43  32.63 .. 44.64 J  35.88 .. 45.08 J
    Predicted, by the model's voltage: no clock is cheaper whether memory or the
    SM clock sets the pace: measure it. Cheapest: 1480 MHz, 170.0 mJ an item at a
    price of 1.42e-08 if memory sets the pace, 1980 MHz, 186.9 mJ an item at a
    price of 1.56e-08 if the SM clock does.
  $ gpufathom energy "$T" --counters "$C" --power power.csv --sweep --price 0.3 --format json 2>/dev/null | jq -c '.sweep[0] | .cheapest_by_clock_mhz, .cheapest_by_memory_mhz, ([.clocks[] | (.price_low / (.item_low * 0.3 / 3.6e6) * 1e6 | round)] | unique), ([.clocks[] | (.item_high / .joules_high * 1e9 | round)] | unique | length)'
  1980
  1480
  [1000000]
  1
  $ gpufathom energy "$T" --model model.json --counters "$C" --power power.csv --sweep --format json | jq -c '.sweep'
  []

Without a model there is the measured energy, by time:

  $ zcat "$T" | sed 's/NVIDIA H200/Unknown GPU X/g' > other.json
  $ gpufathom energy other.json --power power.csv | sed -n "2,5p;/no energy model/,$"p
  
  Energy breakdown                                 energy counter, nothing counted
    Unknown GPU X: 35.88 J in 149.5 ms, 240.0 W.
    levels: no data
    ! there is no energy model for Unknown GPU X: energy is split by time alone,
    and levels have no data. Measure one with `gpufathom calibrate --points
    points.jsonl -o model.json` and pass --model

Models that are none, or of another GPU:

  $ echo '{"schema":"gpufathom.analysis/1"}' > wrong.json; gpufathom energy "$T" --power power.csv --model wrong.json
  gpufathom: wrong.json: is not an energy model of gpufathom (write one with `gpufathom calibrate --points FILE -o FILE`, or use the shipped one)
  [1]
  $ head -c 2000 "$ROOT/share/energy/NVIDIA-H200.energy.json" > cut.json; gpufathom energy "$T" --power power.csv --model cut.json
  gpufathom: cut.json: is not an energy model: the JSON is truncated or damaged (write one with `gpufathom calibrate --points FILE -o FILE`, or use the shipped one)
  [1]
  $ gpufathom energy "$T" --power power.csv --model missing.json
  gpufathom: missing.json: cannot be read: No such file or directory (--model requires a file written by `gpufathom calibrate -o`)
  [1]
  $ gpufathom energy other.json --power power.csv --model "$ROOT/share/energy/NVIDIA-H200.energy.json" 2>&1 | sed "s,$ROOT/,,"
  gpufathom: share/energy/NVIDIA-H200.energy.json: is a model of NVIDIA H200, and the capture is of Unknown GPU X (energies of one chip say nothing of another: calibrate on a GPU of the same kind)

A recording with the energy counters, made over the stand-in driver of the tests, holds the components without any kernel:

  $ GPUFATHOM_LIBRARY_PATH=$FAKES GPUFATHOM_FAKE=single_pass=40 gpufathom record -q --metrics energy --duration 1.5 -o run.gpf
  $ gpufathom energy run.gpf --model model.json --format json | jq -c '.energy.devices[0] | .counts_source, ([.parts[].component]), ([.parts[].nj] | add) == .nj'
  "samples"
  ["static","active","tensor","l2","dram","rest"]
  true
  $ gpufathom energy run.gpf --window step:1
  gpufathom: run.gpf: --window step:1: the capture has no kernels and therefore no steps (use all, stable or START:END, or record with --kernels)
  [1]

A real recording of an H200, cut to four steps of ResNet-50 in FP32 at batch 512 and the warm-up before them: parts and rows sum exactly here too, and kernels have
parts of their own.

  $ zcat "$EXAMPLES/resnet50_fp32_b512_energy.gpf.gz" > real.gpf
  $ gpufathom energy real.gpf --model model.json --window steps --batch 512 --format json > real.json
  gpufathom: real.gpf: incomplete result: 346 x lost_samples: counter samples that never arrived: the rate was too high for this machine
  [1]
  $ jq -r '.energy.devices[] | .nj as $e | ([.parts[].nj] | add - $e), (.steps, .layer_types, .layers, .kernels | ([.[].nj] | add - $e)), ([.steps, .layer_types, .layers, .kernels | .[] | ([.parts[].nj] | add) - .nj] | map(select(. != 0)) | length)' real.json | tr '\n' ' '
  0 0 0 0 0 0  (no-eol)
  $ jq -c '.energy.devices[0] | [.source, .counts_source, (.mean_watts | round), (.sm_mhz | round), .step.count, (.step.joules | round), (.coverage * 100 | round)], [.parts[] | "\(.component) \(.share * 100 | round)"], [.warnings[].code]' real.json
  ["energy_counter","samples",657,1976,4,363,93]
  ["static 20","active 1","tensor 0","l2 7","dram 12","rest 60"]
  ["samples_missing","tma"]
  $ jq -c '.energy.devices[0].layer_types[:4][] | [.name, (.nj / .ns | round), ([.parts[] | select(.component == "dram") | .nj] | add) / .ns > 20]' real.json
  ["Convolution",617,true]
  ["Normalization",734,true]
  ["MatMul",624,true]
  ["Elementwise",872,true]
  $ gpufathom analyze real.gpf --model model.json --window steps --format json | jq -c '.energy.devices[0].nj' > analyze.nj; jq .energy.devices[0].nj real.json | diff - analyze.nj && echo the same in analyze
  gpufathom: real.gpf: incomplete result: 346 x lost_samples: counter samples that never arrived: the rate was too high for this machine
  the same in analyze
  $ head -c 300000 real.gpf > torn.gpf; gpufathom energy torn.gpf 2>&1 | head -2
  gpufathom: torn.gpf: database error: database disk image is malformed (the file is damaged: copy it again, or save what is left with "sqlite3 FILE .recover")

Without --model the one shipped for the GPU is taken, and named:

  $ gpufathom energy run.gpf --format json | jq -r '.energy.model | split("/") | last'
  NVIDIA-H200.energy.json

A power log of another time is no silence: analyze says that it gave no energy.

  $ gpufathom analyze "$EXAMPLES"/lenet_train_b64.json.gz --power "$EXAMPLES"/power_mixed.csv.gz 2>&1 >/dev/null | sed 's|[^ ]*/||g'
  gpufathom: lenet_train_b64.json.gz: incomplete result: no energy from power_mixed.csv.gz: the readings of power end 854 s before the span begins. Log power over the whole run, on the same clock
  $ gpufathom import $EXAMPLES/lenet_train_b64.json.gz $EXAMPLES/power_mixed.csv.gz -o joined.gpf > out && gpufathom joined.gpf 2>&1 > out | sed 's#from [^ ]*/#from #'
  gpufathom: joined.gpf: incomplete result: no energy from power_mixed.csv.gz: the readings of power end 854 s before the span begins. Log power over the whole run, on the same clock

The loss to the clock is a bar of its own in the account of the peak: at 915 of 1830 MHz products take twice their time, and the parts still sum to the span.

  $ sed 's/,1980,/,915,/' power.csv > slow.csv
  $ for p in power slow; do gpufathom work "$T" --counters "$C" --power $p.csv --format json | jq -c '.accounts[0] | .span_ns - ([.parts[].ns] | add), (.parts[] | select(.id == "work" or .id == "padding" or .id == "lower_clock") | [.id, .ns]), (.causes[] | select(.cause == "lower_clock") | .text)'; done
  0
  ["work",4715265]
  ["padding",100965]
  0
  ["work",4715265]
  ["padding",100965]
  ["lower_clock",4486681]
  "SM clock of 915 MHz, and the peak is stated for 1830; 240 W: static 54 %, dram 21 %, instructions 3 %, not explained 22 %"

A log that does not say which GPU it is of is of the one that worked; one of another number is not, and the answer says so. By hand:
power rises from 110 W by 10 W a second, for 1.99 s: 1.99 * (110 + 9.95) J.

  $ python3 - <<'PY'
  > import json
  > kernel = lambda at: {"ph": "X", "cat": "kernel", "name": "k", "pid": 3, "tid": 7, "ts": 1795187700 * 10**6 + at * 10**5, "dur": 90000, "args": {"device": 3, "stream": 7}}
  > json.dump({"schemaVersion": 1, "traceEvents": [kernel(at) for at in range(20)]}, open("third.json", "w"))
  > for name, column, cell in (("plain.csv", "", ""), ("five.csv", "index,", "5,")):
  >     open(name, "w").write(f"unix_time_s,{column}power_instant_w\n" + "".join(f"{1795187699 + at / 10:.1f},{cell}{100 + at}\n" for at in range(50)))
  > PY
  $ gpufathom energy third.json --power plain.csv --json | jq -c '.energy.devices[] | [.device, .nj]'
  [3,238700500000]
  $ python3 - <<'PY'
  > import json
  > trace = json.load(open("third.json"))
  > beside = [{**k, "args": {"device": 2, "stream": 7}} for k in trace["traceEvents"]]
  > json.dump({**trace, "traceEvents": trace["traceEvents"] + beside}, open("two.json", "w"))
  > PY
  $ gpufathom energy two.json --power plain.csv --json 2>&1 | jq -c '(.energy.devices[] | [.device, .nj]), (.quality[] | select(.code == "assumed_device") | .detail)'
  [2,238700500000]
  "the power log does not say which of 2 GPUs it is of: its readings are taken as those of GPU 2; log index too"
  $ gpufathom energy third.json --power five.csv
  gpufathom: third.json: no energy: power was measured of GPU 5, which ran nothing of this capture. A program that was given some of the GPUs (CUDA_VISIBLE_DEVICES) counts them from 0: leave the column index out of a log of the one that it used
  [1]
