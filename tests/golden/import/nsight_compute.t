The binary report and its three exports give the same kernels; the text forms say what they lost:

  $ for f in ncu-rep base.ncu.csv auto.ncu.csv details.ncu.csv; do
  >   gpufathom query $EXAMPLES/lenet_train_b64.$f.gz "select count(*) as kernels, sum(duration_ns) as ns, sum(registers) as registers, sum(grid_x) as blocks from report_kernels" --format json
  > done
  {"schema":"gpufathom.query/1","columns":["kernels","ns","registers","blocks"],"rows":[
  [50,323520,2136,4856]]}
  {"schema":"gpufathom.query/1","columns":["kernels","ns","registers","blocks"],"rows":[
  [50,323520,2136,4856]]}
  {"schema":"gpufathom.query/1","columns":["kernels","ns","registers","blocks"],"rows":[
  [50,323520,2136,4856]]}
  {"schema":"gpufathom.query/1","columns":["kernels","ns","registers","blocks"],"rows":[
  [50,323510,2136,4856]]}

Values of one metric over all kernels, in base units:

  $ gpufathom query $EXAMPLES/lenet_train_b64.ncu-rep.gz "select metric, unit, sum(value) as total from kernel_counters where metric like 'smsp__%.sum' or metric like 'dram__%.sum' group by metric" --format json
  {"schema":"gpufathom.query/1","columns":["metric","unit","total"],"rows":[
  ["dram__sectors_read.sum","sector",169312],
  ["dram__sectors_write.sum","sector",256],
  ["smsp__cycles_active.sum","cycle",52211127],
  ["smsp__cycles_elapsed.sum","cycle",335858096],
  ["smsp__inst_executed.sum","inst",24650764],
  ["smsp__issue_active.sum","cycle",24904244]]}

Rows of metrics of a details page end before the columns of its rules:

  $ cat > rules.csv <<'EOF'
  > "ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description","Estimated Speedup Type","Estimated Speedup"
  > "0","7","app","127.0.0.1","my_kernel","1","7","(256, 1, 1)","(108, 1, 1)","0","8.0","GPU Speed Of Light Throughput","Elapsed Cycles","cycle","63,779",
  > "0","7","app","127.0.0.1","my_kernel","1","7","(256, 1, 1)","(108, 1, 1)","0","8.0","GPU Speed Of Light Throughput","Duration","us","56.06",
  > "0","7","app","127.0.0.1","my_kernel","1","7","(256, 1, 1)","(108, 1, 1)","0","8.0","Occupancy","","","","TheoreticalOccupancy","OPT","Limited by registers.","local","81.25"
  > EOF
  $ gpufathom query rules.csv "select count(*) as kernels, sum(duration_ns) as ns from report_kernels" --format json
  {"schema":"gpufathom.query/1","columns":["kernels","ns"],"rows":[
  [1,56060]]}
  $ gpufathom query rules.csv "select kernel, section, rule, kind, description, speedup_kind, speedup from kernel_rules" --format json
  {"schema":"gpufathom.query/1","columns":["kernel","section","rule","kind","description","speedup_kind","speedup"],"rows":[
  [0,"Occupancy","TheoreticalOccupancy","OPT","Limited by registers.","local",81.25]]}

A text that is not a table says what to do:

  $ printf '==PROF== Connected to process 1\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n' > denied.csv
  $ gpufathom import denied.csv -o denied.gpf
  gpufathom: denied.csv: byte 32: Nsight Compute was not allowed to read the GPU's counters (ERR_NVGPUCTRPERM), so there is no table (run ncu as root or with CAP_SYS_ADMIN, or load the NVIDIA module with NVreg_RestrictProfilingToAdminUsers=0; then profile again)
  [1]
  $ head -c 9000 $EXAMPLES/lenet_train_b64.base.ncu.csv.gz > cut.csv.gz
  $ gpufathom query cut.csv.gz "select code, count, detail from quality" --format json
  {"schema":"gpufathom.query/1","columns":["code","count","detail"],"rows":[
  ["truncated",1,"the file ends inside a row, at byte 86447 of its table"],
  ["rounded_counters",234,"the text export keeps fewer than six digits of these values, first of dram__sectors_read.avg; the .ncu-rep file has them exactly"],
  ["truncated_input",1,"gzip data ends early at byte 9000 of the compressed file"]]}
  gpufathom: cut.csv.gz: incomplete result: 1 x truncated: the file ends inside a row, at byte 86447 of its table
  gpufathom: cut.csv.gz: incomplete result: 1 x truncated_input: gzip data ends early at byte 9000 of the compressed file
  [1]
