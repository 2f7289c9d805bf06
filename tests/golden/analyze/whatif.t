A captured program runs again with something changed.

  $ cd "$ROOT/tests/advice/captures"
  $ gpufathom whatif pageable_copies.json.gz
  A step (4 captured) takes 23.98 ms, without what recording takes about 23.13 ms
  (22.17 ms to 24.10 ms).
  
  With one thing changed                                           gain: of a step
    change                                               step  of step    range
    copies             copies pinned and overlapped  10.89 ms   52.9 %  31-74 %
    gpu                kernels 2 times as fast       20.41 ms   11.8 %   1-36 %
    fused_elementwise  in fewer passes               22.44 ms    3.0 %    1-9 %
    graph              launches as one CUDA graph    22.78 ms    1.5 %    1-4 %
    sync               no host synchronization       22.84 ms    1.3 %    0-3 %
    host               host 2 times as fast          22.93 ms    0.9 %    0-2 %
    one_layout         no copies, no conversions     22.95 ms    0.8 %    0-2 %
    pauses             no other work of the host     23.01 ms    0.5 %    0-1 %
    channels_last      NHWC throughout               23.07 ms    0.3 %    0-1 %
    No gain: input, allocations, compiling, communication, fused_optimizer,
    fused_attention, padded_sizes, tensor_cores, sparse_gradients.
  $ gpufathom whatif pageable_copies.json.gz --without sync --without copies --gpu 2 | tail -5
    change                                      step      gain  of step    range
    sync      no host synchronization       22.84 ms  296.9 us    1.3 %    0-3 %
    copies    copies pinned and overlapped  10.89 ms  12.24 ms   52.9 %  31-74 %
    gpu       kernels 2 times as fast       20.41 ms  2.728 ms   11.8 %   1-36 %
    together  all of these                  6.137 ms  17.00 ms   73.5 %  42-89 %

Another GPU is told by its ceilings.

  $ gpufathom whatif pageable_copies.json.gz --gpu B200 | tail -2
    change                                  step      gain  of step   range
    gpu B200  on this GPU, by ceilings  20.41 ms  2.726 ms   11.8 %  1-36 %

Without a profiler's cost there is no interval, and the JSON has integers.

  $ gpufathom whatif pageable_copies.json.gz --without copies --json | head -c 31; echo
  {"schema":"gpufathom.whatif/1",

What nothing is called is refused, and so is a factor that is none.

  $ gpufathom whatif pageable_copies.json.gz --kernel nothing=2
  gpufathom: pageable_copies.json.gz: no kernel has nothing in its name
  [1]
  $ gpufathom whatif pageable_copies.json.gz --without nothing
  gpufathom: pageable_copies.json.gz: no operator has nothing in its name
  [1]
  $ gpufathom whatif pageable_copies.json.gz --kernel gemm
  gpufathom: --kernel gemm: write NAME=FACTOR, such as sgemm=8
  [2]
  $ gpufathom whatif pageable_copies.json.gz --gpu 0
  gpufathom: --gpu 0: write how many times as fast, or a GPU such as H100
  [2]

Recommendations have the gain of the change that mends them, the same as here.

  $ gpufathom analyze pageable_copies.json.gz --json | jq -c '.findings[] | select(.replayed) | [.id, .replayed, .replayed_low, .replayed_high]'
  ["blocking_copies",0.5293006414675513,0.3092461808505989,0.7385169871386167]
  ["unfused_elementwise",0.03007530789975615,0.006812437053551672,0.09326108862832896]
  $ gpufathom whatif pageable_copies.json.gz --json | jq -c '.changes[] | select(.change == "copies" or .change == "graph") | [.change, .share, .share_low, .share_high]'
  ["copies",0.5293006414675513,0.3092461808505989,0.7385169871386167]
  ["graph",0.015391832255344857,0.005519517488863167,0.04173128676109278]
