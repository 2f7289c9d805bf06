A counter report alone: each kernel's operations, bytes and place under the roofline, from its counters.

  $ report="$EXAMPLES/gemm_types.ncu.csv.gz"
  $ gpufathom work "$report" --rows 4
  gemm_types.ncu.csv.gz                                    whole capture, 6.860 ms
  
  Roofline                                                       measured ceilings
    kernel                         time   FLOP/s  bytes/s  of its ceiling  ceiling
    sm80_xmma_ge..__5x_cublas  3.049 ms        -  145.6 G           3.2 %  memory
    sm90_xmma_ge..__5x_cublas  2.545 ms  60.76 T  754.5 G          98.3 %  compute
    sm90_xmma_ge..__5x_cublas  340.6 us  403.5 T  1.024 T         > 100 %  compute
    nvjet_sm90_h..z_coopA_NNT  207.3 us  745.9 T  931.3 G          79.5 %  compute
  
  no data: operators, MFU, items and copies: a counter report has kernels alone
  (for all: gpufathom work TRACE --counters REPORT)

All kernels together have the operations and bytes that the report's own rows add up to.

  $ counted() { gpufathom query "$report" "select cast(sum(value) as integer) s from kernel_counters where metric glob '$1'" --format json | jq -c '.rows[0][0] // .[0].s'; }
  $ gpufathom work "$report" --format json | jq -c '[.roofline[] | .scope] | unique'
  ["kernel"]
  $ gpufathom work "$report" --format json | jq '[.roofline[] | select(.flops_source == "measured") | .flops] | add | floor'
  940597837824
  $ counted 'sm__ops_path_tensor_src_*.sum'
  940597837824
  $ gpufathom work "$report" --format json | jq '[.roofline[] | .bytes] | add | floor'
  3385601280
  $ counted 'dram__bytes_*.sum'
  3385601280

Where the report has no operations, it is said what to collect.

  $ gpufathom work "$EXAMPLES/lenet_train_b64.ncu-rep.gz" --rows 2
  lenet_train_b64.ncu-rep.gz                               whole capture, 323.5 us
  
  Roofline                                                       measured ceilings
    kernel                 time  FLOP/s  bytes/s  of its ceiling  ceiling
    reduce_kernel      81.06 us       -  19.33 G           0.4 %  memory
    wgrad_alg0_engine  49.31 us       -  25.52 G           0.6 %  memory
  
  no data: operators, MFU, items and copies: a counter report has kernels alone
  (for all: gpufathom work TRACE --counters REPORT); FLOP: collect
  sm__ops_path_tensor_src_*.sum (regex: in ncu --metrics)
