What is mistyped is named with what was probably meant.

  $ T=lenet_train_b64.json.gz; cp $EXAMPLES/$T .
  $ gpufathom --verison
  gpufathom: unknown option '--verison': did you mean --version? (gpufathom --help lists the verbs)
  [2]
  $ gpufathom analze x.json
  gpufathom: unknown verb 'analze': did you mean analyze? (gpufathom --help lists the verbs)
  [2]
  $ gpufathom help format
  gpufathom: no help for 'format': did you mean formats? (help formats, help agents, help man, help completion, or the name of a verb: gpufathom --help lists them)
  [2]
  $ gpufathom analyze --windw all x.json
  gpufathom: unknown option '--windw': did you mean --window? (see gpufathom analyze --help)
  [2]
  $ gpufathom compare $T $T --fail-on "stepp > 3%"
  gpufathom: --fail-on "stepp > 3%": there is no stepp: did you mean step? (write it as "step > 3%": step, item, kernels, idle, copies, joules, a level such as gpu.busy, or a row such as idle:sync, layer_type:MatMul, kernel:NAME; then > or <, and a limit in %, a time (ns, us, ms, s), J, or points of a level (pp))
  [2]
  $ gpufathom compare $T $T --fail-on "kernl:gemm > 3%"
  gpufathom: --fail-on "kernl:gemm > 3%": there is no kernl:gemm: did you mean kernel:gemm? (write it as "step > 3%": step, item, kernels, idle, copies, joules, a level such as gpu.busy, or a row such as idle:sync, layer_type:MatMul, kernel:NAME; then > or <, and a limit in %, a time (ns, us, ms, s), J, or points of a level (pp))
  [2]
  $ gpufathom compare $T $T --fail-on "gpu.bsy < -5pp"
  gpufathom: --fail-on "gpu.bsy < -5pp": there is no gpu.bsy: did you mean gpu.busy? (write it as "step > 3%": step, item, kernels, idle, copies, joules, a level such as gpu.busy, or a row such as idle:sync, layer_type:MatMul, kernel:NAME; then > or <, and a limit in %, a time (ns, us, ms, s), J, or points of a level (pp))
  [2]
  $ for rule in idle:launch layer_type:Matmul phase:waiting copy:copies; do gpufathom compare $T $T --fail-on "$rule > 3%" 2>&1 | sed 's/ (write it as.*//'; done
  gpufathom: --fail-on "idle:launch > 3%": there is no idle:launch, but launch_bound, sync, memcpy, input, communication, dependency, kernel_gap, host_other, allocation, start_up, unexplained, no_launch_record, not_recorded, no_samples
  gpufathom: --fail-on "layer_type:Matmul > 3%": there is no layer_type:Matmul: did you mean MatMul?
  gpufathom: --fail-on "phase:waiting > 3%": there is no phase:waiting, but gpu_kernel, cpu_kernel, dequeue, memcpy, wait, launch, enqueue, queued, other
  gpufathom: --fail-on "copy:copies > 3%": there is no copy:copies, but copies and sets
  $ gpufathom compare $T $T --fail-on "kernel:gem > 3%" --fail-on "layer:aten::lin > 3%" --fail-on "idle:communication > 1us" > out; echo $?; sed -n '/^Rules/,/^$/p' out
  gpufathom: --fail-on "kernel:gem > 3%": lenet_train_b64.json.gz: undecided: no data for kernel:gem
  gpufathom: --fail-on "layer:aten::lin > 3%": lenet_train_b64.json.gz: undecided: no data for layer:aten::lin
  4
  Rules
    undecided  kernel:gem > 3%: lenet_train_b64.json.gz: undecided: no data for
    kernel:gem
    undecided  layer:aten::lin > 3%: lenet_train_b64.json.gz: undecided: no data
    for layer:aten::lin
    ok      idle:communication > 1us: lenet_train_b64.json.gz: idle:communication
    +0.000 ms against lenet_train_b64.json.gz
  
  $ gpufathom query $T "select * from kernel"
  gpufathom: lenet_train_b64.json.gz: SQL: no such table: kernel: did you mean kernels? (gpufathom query FILE lists the tables and their columns)
  [1]
  $ gpufathom query $T "select nam from kernels"
  gpufathom: lenet_train_b64.json.gz: SQL: no such column: nam, at "nam from kernels": did you mean name? (gpufathom query FILE lists the tables and their columns)
  [1]
  $ gpufathom query $T "select k.nam from kernels k"
  gpufathom: lenet_train_b64.json.gz: SQL: no such column: k.nam, at "k.nam from kernels k": did you mean name? (gpufathom query FILE lists the tables and their columns)
  [1]
  $ gpufathom metrics dram.raed
  gpufathom: no metric is called "dram.raed": did you mean dram.read? (gpufathom metrics lists them)
  [1]
  $ gpufathom whatif $T --with fused_optimiser
  gpufathom: --with: 'fused_optimiser' is not one of fused_optimizer, fused_attention, fused_elementwise, padded_sizes, tensor_cores, channels_last, one_layout, sparse_gradients: did you mean fused_optimizer? (see gpufathom whatif --help)
  [2]
  $ gpufathom whatif $T --without syncs
  gpufathom: lenet_train_b64.json.gz: no operator has syncs in its name (did you mean --without sync?)
  [1]
  $ gpufathom reproduce date25 x.json
  gpufathom: STUDY: 'date25' is not one of date24, dsd22, asap24, itu23: did you mean date24? (see gpufathom reproduce --help)
  [2]
  $ gpufathom analyze https://example.com/trace.json.gz
  gpufathom: https://example.com/trace.json.gz: is a URL, and only files are read (download it first, such as with curl -LO)
  [1]

Standard input has its name, in complaints and in answers.

  $ echo hello | gpufathom analyze -
  gpufathom: standard input: is not a trace or report that can be read: it looks like plain text (gpufathom help formats lists what is read)
  [1]
  $ zcat $T | gpufathom analyze - | head -1
  standard input                                    NVIDIA H200, 3 steps, 10.40 ms
  $ zcat $T | gpufathom analyze - --format json | jq -r .source.path
  standard input
  $ zcat $T | gpufathom compare - -
  gpufathom: FILE: standard input is one file: - can be given once (name the others) (see gpufathom compare --help)
  [2]
