A captured program runs again with something changed.

  $ captures="$ROOT/tests/advice/captures"
  $ gpufathom whatif "$captures"/pageable_copies.json.gz
  A step (4 captured) takes 23.98 ms, without what recording takes about 23.16 ms
  (23.14 ms to 23.21 ms).
  
  With one thing changed                                           gain: of a step
    change                                    step      gain  of step  from .. to
    copies  copies pinned and overlapped  10.91 ms  12.25 ms   52.9 %  53 .. 53 %
    gpu     kernels 2 times as fast       21.68 ms  1.481 ms    6.4 %   1 .. 12 %
    graph   launches as one CUDA graph    22.78 ms  384.5 us    1.7 %    2 .. 2 %
    sync    no host synchronization       22.84 ms  325.3 us    1.4 %    1 .. 1 %
    host    host 2 times as fast          22.94 ms  223.1 us    1.0 %    1 .. 1 %
    No gain: input, allocations, compiling, communication.
  $ gpufathom whatif "$captures"/pageable_copies.json.gz --without sync --without copies --gpu 2 | tail -5
    change                                      step      gain  of step
    sync      no host synchronization       22.84 ms  325.3 us    1.4 %
    copies    copies pinned and overlapped  10.91 ms  12.25 ms   52.9 %
    gpu       kernels 2 times as fast       21.68 ms  1.481 ms    6.4 %
    together  all of these                  7.414 ms  15.75 ms   68.0 %

Without a profiler's cost there is no interval, and the JSON has integers.

  $ gpufathom whatif "$captures"/pageable_copies.json.gz --without copies --json | head -c 60; echo
  {"schema":"gpufathom.whatif/1","source":{"path":"/work/main/

What nothing is called is refused, and so is a factor that is none.

  $ gpufathom whatif "$captures"/pageable_copies.json.gz --kernel nothing=2
  gpufathom: /work/main/tests/golden/../../tests/advice/captures/pageable_copies.json.gz: no kernel has nothing in its name
  [1]
  $ gpufathom whatif "$captures"/pageable_copies.json.gz --without nothing
  gpufathom: /work/main/tests/golden/../../tests/advice/captures/pageable_copies.json.gz: no operator has nothing in its name
  [1]
  $ gpufathom whatif "$captures"/pageable_copies.json.gz --kernel gemm
  gpufathom: --kernel gemm: write NAME=FACTOR, such as sgemm=8
  [2]
  $ gpufathom whatif "$captures"/pageable_copies.json.gz --gpu 0
  gpufathom: --gpu: '0' is not a number above 0 (gpufathom whatif --help tells more)
  [2]
