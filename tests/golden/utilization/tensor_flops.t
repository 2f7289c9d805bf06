Tensor operations counted on an H200 equal 2 M N K for every input type, and tensor.flops equals them over the dense peak. Where
nothing but matrix instructions of full rate ran, it equals tensor.active, another counter, to its two digits; the int8 product ran
the instructions of an older chip (mma), which reach two thirds of the rate.

  $ python3 "$ROOT/tests/oracle/tensor_ops.py" "$EXAMPLES/gemm_types.jsonl" "$EXAMPLES/gemm_types.ncu.csv.gz"
  fp32 1024x1024x1024: operations equal, flops 0.0000 equal, active 0.0000
  fp32 4096x2048x1024: operations equal, flops 0.0000 equal, active 0.0000
  fp32 4096x4096x4096: operations equal, flops 0.0000 equal, active 0.0000
  tf32 1024x1024x1024: operations equal, flops 0.2987 equal, active 0.2987
  tf32 4096x2048x1024: operations equal, flops 0.6425 equal, active 0.6425
  tf32 4096x4096x4096: operations equal, flops 0.8822 equal, active 0.8822
  fp16 1024x1024x1024: operations equal, flops 0.3159 equal, active 0.3159
  fp16 4096x2048x1024: operations equal, flops 0.6919 equal, active 0.6919
  fp16 4096x4096x4096: operations equal, flops 0.9022 equal, active 0.9022
  bf16 1024x1024x1024: operations equal, flops 0.3134 equal, active 0.3134
  bf16 4096x2048x1024: operations equal, flops 0.6915 equal, active 0.6915
  bf16 4096x4096x4096: operations equal, flops 0.9036 equal, active 0.9036
  fp8 1024x1024x1024: operations equal, flops 0.1682 equal, active 0.1682
  fp8 4096x2048x1024: operations equal, flops 0.4825 equal, active 0.4825
  fp8 4096x4096x4096: operations equal, flops 0.8132 equal, active 0.8132
  int8 1024x1024x1024: operations equal, flops 0.1434 equal, active 0.2150
  int8 4096x2048x1024: operations equal, flops 0.2819 equal, active 0.4229
  int8 4096x4096x4096: operations equal, flops 0.4522 equal, active 0.6782
  fp64 1024x1024x1024: operations equal, flops 0.7837 equal, active 0.7837
  fp64 4096x2048x1024: operations equal, flops 0.9005 equal, active 0.9005
  fp64 4096x4096x4096: operations equal, flops 0.9478 equal, active 0.9478
