A captured program runs again with something changed.

  $ cd "$ROOT/tests/advice/captures"
  $ gpufathom whatif pageable_copies.json.gz
  A step (4 captured) takes 23.98 ms, without what recording takes about 23.14 ms
  (23.10 ms to 23.18 ms).
  
  With one thing changed                                           gain: of a step
    change                                               step  of step    range
    copies             copies pinned and overlapped  10.88 ms   53.0 %  42-66 %
    gpu                kernels 2 times as fast       20.40 ms   11.8 %   2-23 %
    fused_elementwise  in fewer passes               22.44 ms    3.0 %    1-5 %
    graph              launches as one CUDA graph    22.78 ms    1.6 %    1-2 %
    sync               no host synchronization       22.84 ms    1.3 %    1-2 %
    host               host 2 times as fast          22.93 ms    0.9 %      1 %
    one_layout         no copies, no conversions     22.96 ms    0.8 %      1 %
    channels_last      NHWC throughout               23.08 ms    0.3 %      0 %
    No gain: input, allocations, compiling, communication, pauses,
    fused_optimizer, fused_attention, padded_sizes, tensor_cores,
    sparse_gradients.
  $ gpufathom whatif pageable_copies.json.gz --without sync --without copies --gpu 2 | tail -5
    change                                      step      gain  of step    range
    sync      no host synchronization       22.84 ms  301.9 us    1.3 %    1-2 %
    copies    copies pinned and overlapped  10.88 ms  12.26 ms   53.0 %  42-66 %
    gpu       kernels 2 times as fast       20.40 ms  2.738 ms   11.8 %   2-23 %
    together  all of these                  6.134 ms  17.01 ms   73.5 %  52-93 %

Another GPU is told by its ceilings.

  $ gpufathom whatif pageable_copies.json.gz --gpu B200 | tail -2

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
  gpufathom: --gpu: '0' is not a number above 0 (see gpufathom whatif --help)
  [2]

Recommendations have the gain of the change that mends them, the same as here.

  $ gpufathom analyze pageable_copies.json.gz --json | jq -c '.findings[] | select(.replayed) | [.id, .replayed, .replayed_low, .replayed_high]'
  ["blocking_copies",0.5296712316311049,0.42267162499337696,0.6631714616595581]
  ["unfused_elementwise",0.030068788224684,0.013484130840762831,0.049383787279952275]
  $ gpufathom whatif pageable_copies.json.gz --json | jq -c '.changes[] | select(.change == "copies" or .change == "graph") | [.change, .share, .share_low, .share_high]'
  ["copies",0.5296712316311049,0.42267162499337696,0.6631714616595581]
  ["graph",0.01560527397133582,0.011196742039343014,0.02151304442974382]
