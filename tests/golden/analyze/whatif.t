A captured program runs again with something changed.

  $ cd "$ROOT/tests/advice/captures"
  $ gpufathom whatif pageable_copies.json.gz
  A step takes 23.99 ms (4 steps, 95.96 ms). From the end of one step's GPU work
  to the end of the next it is 23.98 ms, without profiler overhead about 23.14 ms
  (22.11 ms to 24.24 ms).
  
  Each change alone                                       predicted gain of a step
    change                                          step  of step   range   others
    copies             copies pinned, async     10.58 ms   54.3 %    54 %  37-89 %
    gpu                kernels 2 times as fast  20.71 ms   10.5 %  2-17 %   1-51 %
    fused_elementwise  in fewer passes          21.20 ms    8.4 %   4-9 %   2-42 %
    graph              launches as one graph    22.78 ms    1.6 %   1-2 %    0-5 %
    sync               no synchronization       22.84 ms    1.3 %     1 %    1-8 %
    host               host 2 times as fast     22.93 ms    0.9 %     1 %    0-5 %
    one_layout         no layout conversions    22.95 ms    0.8 %     1 %    0-6 %
    pauses             no other host work       23.01 ms    0.6 %     1 %    0-3 %
    channels_last      NHWC throughout          23.08 ms    0.3 %     0 %    0-2 %
    No gain: input, allocations, compiling, communication, fused_optimizer,
    fused_attention, padded_sizes, tensor_cores, sparse_gradients.
  $ gpufathom whatif pageable_copies.json.gz --without sync --without copies --gpu 2 | tail -5
    change                                 step  of step    range   others
    sync      no synchronization       22.84 ms    1.3 %      1 %    1-8 %
    copies    copies pinned, async     10.58 ms   54.3 %     54 %  37-89 %
    gpu       kernels 2 times as fast  20.71 ms   10.5 %   2-17 %   1-51 %
    together  all of these             5.954 ms   74.3 %  64-77 %  47-96 %

Another GPU is told by its ceilings.

  $ gpufathom whatif pageable_copies.json.gz --gpu B200 | tail -2
    change                                  step  of step   range  others
    gpu B200  on this GPU, by ceilings  20.71 ms   10.5 %  2-17 %  1-59 %

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
  $ for option in "--gpu 2x" "--gpu nan" "--gpu 1e-300" "--link inf" "--link 1e-300GB/s" "--kernel gemm=nan" "--host 1e-300" "--batch 1e9"; do gpufathom whatif pageable_copies.json.gz $option; done
  gpufathom: --gpu 2x: write how many times as fast, or a GPU such as H100
  gpufathom: --gpu nan: write how many times as fast, or a GPU such as H100
  gpufathom: --gpu 1e-300: write how many times as fast, or a GPU such as H100
  gpufathom: --link inf: write how many times as fast, or a link such as NVLink4, PCIe5 or 50GB/s
  gpufathom: --link 1e-300GB/s: write how many times as fast, or a link such as NVLink4, PCIe5 or 50GB/s
  gpufathom: --kernel gemm=nan: write NAME=FACTOR, such as sgemm=8
  gpufathom: --host: '1e-300' is not a number from 0.001 to 100000 (see gpufathom whatif --help)
  gpufathom: --batch: '1e9' is not a number from 0.001 to 100000 (see gpufathom whatif --help)
  [2]
  $ gpufathom whatif pageable_copies.json.gz --link SCSI
  gpufathom: --link SCSI: write how many times as fast, or a link such as NVLink4, PCIe5 or 50GB/s
  [2]

Of a larger batch the time of an item is told, too.

  $ gpufathom whatif $EXAMPLES/lenet_train_b64.json.gz --batch 8 | tail -3
    change                                  step  of step    range   others
    larger batch  x 8, time of an item  313.7 us   87.5 %  87-88 %  74-97 %
    No gain: batch.

A factor of 1 is a question too, of which the answer is that nothing is gained.

  $ for option in host gpu link batch; do
  >   gpufathom whatif pageable_copies.json.gz --$option 1 --json | jq -c '[.changes[] | [.change, .gain_ns, .share_high]], .own_ns == .changes[0].step_ns'
  > done
  [["host",0,0]]
  true
  [["gpu",0,0]]
  true
  [["link",0,0]]
  true
  [["batch",0,0]]
  true

Collectives move their bytes on another link; of a folder of ranks the job is asked about.

  $ gpufathom whatif exposed_communication.rank0.json.gz --link PCIe5
  A step takes 6.769 ms (4 steps, 27.08 ms). From the end of one step's GPU work
  to the end of the next it is 6.757 ms, without profiler overhead about 6.757 ms
  (6.466 ms to 7.069 ms).
  
  Each change alone                                       predicted gain of a step
    change                         step  of step       range      others
    link    a link of 63 GB/s  13.25 ms  -96.1 %  -102--54 %  -102--54 %
  $ gpufathom whatif exposed_communication.rank0.json.gz --link 2 | tail -1
    link    links 2 times as fast  6.229 ms  528.7 us    7.8 %  4-8 %  2-39 %
  $ mkdir "$CRAMTMP/job" && cp straggler.rank?.json.gz "$CRAMTMP/job" && cd "$CRAMTMP" && gpufathom whatif job
  The job takes 123.1 ms.
  
  Each change alone                                      predicted gain of the job
    change                                            step  of step  range  others
    rank 1      as its peers                      75.31 ms   39.0 %
    rank 1 gpu  its kernels as ..t as its peers'  75.31 ms   39.0 %
  $ gpufathom whatif job --rank 0 --json | jq -c '.device, (.changes[] | [.change, .gain_ns])'
  -1
  ["rank 0",0]
  ["rank 0 gpu",0]
  ["rank 0 host",0]
  ["rank 0 input",0]
  $ gpufathom ranks job --json | jq -c '.replayed_ns, (.stragglers[] | [.rank, .cause, .gain_ns])'
  123407896
  [1,"kernels",47886050]
  [1,"copies",214521]
  $ gpufathom whatif job --rank 7
  gpufathom: job: there is no capture of rank 7
  [1]
  $ gpufathom whatif job --micro-batches 2
  gpufathom: job: no rank passes its work on to the next one: there are no micro-batches
  [1]
  $ gpufathom whatif job --without sync
  gpufathom: job: of a job of several ranks --rank and --micro-batches ask; other changes are of one rank's capture
  [2]
  $ gpufathom whatif job/straggler.rank0.json.gz --rank 0
  gpufathom: job/straggler.rank0.json.gz: --rank and --micro-batches ask of a folder of ranks
  [2]

  $ cd "$ROOT/tests/advice/captures"

Recommendations have the gain of the change that mends them, the same as here.

  $ gpufathom analyze pageable_copies.json.gz --json | jq -c '.findings[] | select(.replayed) | [.id, .replayed, .replayed_low, .replayed_high]'
  ["blocking_copies",0.5427385926903814,0.5420015734176818,0.5434731649353919]
  ["unfused_elementwise",0.08395279961652238,0.04081666696341353,0.09257058786821604]
  $ gpufathom whatif pageable_copies.json.gz --json | jq -c '.changes[] | select(.change == "copies" or .change == "graph") | [.change, .share, .share_low, .share_high]'
  ["copies",0.5427385926903814,0.5420015734176818,0.5434731649353919]
  ["graph",0.01564645382598614,0.014059861292518258,0.01722777860594394]

Of JAX a jitted function takes the host's time within a step away, with its waits.

  $ gpufathom whatif ../fields/jax_by_operator.xplane.pb.gz --graph | tail -1
    graph   launches as one graph  25.57 us  30.12 ms   99.9 %  100 %   100 %

Without operators a kernel that is gone takes the call that launched it along; CuPy's kernels are known by name.

  $ gpufathom analyze ../libraries/spectra_in_double.json.gz --json | jq -c '.findings[] | select(.replayed) | [.id, .replayed, .mended_low, .mended_high]'
  ["unfused_elementwise",0.45493713441145517,0.11353636285315907,0.8772317424216834]
  ["fp64",0.25531110678165164,0,0.8015171725039113]
  ["small_grids",0.2357217794251335,0.0272624163634335,0.6395448058715403]

A larger batch gains time of an item; it is no part of what the other changes give together.

  $ gpufathom analyze small_batch.json.gz --json | jq -c '(.findings[] | select(.id == "small_batch") | [.id, .replayed]), .together.changes, .together.share'
  ["small_batch",0.8745755514608309]
  2
  0.7737733970723802

A profiler takes time of every Python function, and of each kernel in a graph that is launched: of
JAX's Python thread, and so of the threads that copy for it; of a PyTorch program with stacks. Alone
the first two took 23.06 and 0.729 ms a step, the third 1.32.

  $ cd ../fields
  $ gpufathom whatif jax_by_operator.xplane.pb.gz --graph | head -2
  A step takes 44.99 ms (2 steps, 89.97 ms). From the end of one step's GPU work
  to the end of the next it is 46.55 ms, without profiler overhead about 30.14 ms
  $ gpufathom whatif jax_lengths.mended.xplane.pb.gz --graph | head -2
  A step takes 738.6 us (3 steps, 2.216 ms). From the end of one step's GPU work
  to the end of the next it is 960.5 us, without profiler overhead about 663.0 us
  $ gpufathom whatif ../causes/device_synchronize.json.gz --graph | head -2
  A step takes 3.357 ms (4 steps, 13.43 ms). From the end of one step's GPU work
  to the end of the next it is 3.254 ms, without profiler overhead about 1.066 ms

A norm by hand is one pass, with the root of a few numbers between its large kernels; written so the
program really gained 30 %.

  $ gpufathom whatif norm_by_hand.json.gz --with fused_elementwise | tail -1
    fused_elementwise  in fewer passes  25.92 ms   29.9 %  14-33 %  8-78 %
