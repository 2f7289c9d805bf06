A counter report alone gives the ladder of its kernels; how busy the GPU was has no data.

  $ export COLUMNS=80 LC_ALL=C
  $ zcat "$EXAMPLES"/lenet_train_b64.ncu-rep.gz > lenet.ncu-rep
  $ gpufathom analyze lenet.ncu-rep --full | sed -n '1,/^Time breakdown/p'
  lenet.ncu-rep                               NVIDIA H200, whole capture, 323.5 us
  Counter report only: how long the GPU was active is unknown. During its kernels:
  SM active 15.6 %, issue slot utilization 7.4 %, tensor pipe active 0.1 %.
  Largest loss: idle SMs, 273.2 us (84.4 %).
  
  Recommendations
    1. 43 % of kernel time multiplies matrices in FP32 outside the tensor cores.
       Allow TF32 or use mixed precision, if the accuracy of the model permits.
       [up to 138.5 us, 42.8 %]
       138 us of 150 us in convolutions, matrix products and attention, confirmed
       by tensor counters near 0; most in wgrad_alg0_engine 49.3 us,
       sgemm_largek_lds64 23.3 us, dgrad_engine 14.2 us
  
  Caveats
    - The report has no counters for tensor.flops. Collect them for the same step
      and pass that report with --counters.
      Command: How to collect missing counters, below
  
  Utilization by level                                           share of 323.5 us
    SM active                 ######                                        15.6 %
    issue slot utilization    ###                                            7.4 %
    tensor pipe active        #                                              0.1 %
    tensor instr. issued      #                                             <0.1 %
    tensor FLOP/s of peak                                                0.0-0.1 %
    matrix instr. issued                                                     0.0 %
    DRAM throughput           #                                              0.3 %
    Tensor pipes are active 0.6 % of the cycles with a warp; 0.6 % of the
    instructions issued are tensor instructions, of which 100.0 % are packed
    16-bit arithmetic and multiply no matrices.
    no data for GPU active: a counter report has no time between its kernels: give
    a trace of the same program, gpufathom analyze TRACE --counters REPORT
  
  Time breakdown                                          parts add up to 323.5 us
  $ gpufathom analyze lenet.ncu-rep --full | sed -n '/^Counters matched/,/^$/p'
  Counters matched to the trace                                               good
    50 of 50 trace kernels matched (50 in the report). Mean score 1.000. Counter
    report only: its kernels are placed one after the other, each with its
    duration under the profiler. Shares are of that time; the time between kernels
    is unknown.
  
  $ gpufathom analyze lenet.ncu-rep --format json > answer.json
  $ jq -c '[.levels[] | select(.id == "gpu.busy" or .id == "sm.active" or .id == "tensor.active") | [.id, .value, .why_missing]], [.quality[].code], (.kernels | length), .match.verdict, [.findings[].id]' answer.json
  [["gpu.busy",null,"a counter report has no time between its kernels: give a trace of the same program, gpufathom analyze TRACE --counters REPORT"],["sm.active",0.1556731472516118,""],["tensor.active",0.0009331178352916655,""]]
  []
  29
  "good"
  ["fp32_without_tensor_cores","missing_levels"]

It has no times, so that no span of them can be asked for.

  $ gpufathom analyze "$EXAMPLES"/lenet_train_b64.base.ncu.csv.gz --window step:1 2>&1 | sed 's/.*csv.gz: //'
  --window step:1: a counter report has no times (leave it out, or give a trace of the same program, and the report with --counters)
