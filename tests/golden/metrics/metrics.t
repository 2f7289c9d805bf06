One line of definition a metric; a part of the catalogue by level, group, id and chip.

  $ gpufathom metrics --level issue
  issue
    issue.active   ratio         Share of issue slots, one for each sub-partition
                                 and cycle, that issued a warp instruction: level
                                 3 of the ladder.
    issue.stalled  ratio         Share of issue slots with a resident warp and no
                                 instruction issued.
    inst.executed  instructions  Warp instructions executed.
    inst.threads   instructions  Thread instructions executed: of each warp
                                 instruction the threads that were not predicated
                                 off.
    inst.alu       instructions  Warp instructions of the integer and logic pipe.
    inst.fma       instructions  Warp instructions of the multiply-add pipe.
    inst.xu        instructions  Warp instructions of the pipe for special
                                 functions and wide conversions.
  $ gpufathom metrics dram.read pcie.rx --chip GB202
  memory
    dram.read  [bytes]  gpufathom_dram_read_bytes_total
        Bytes read from device memory.
        report, GB202:
          dram__bytes_op_read.sum
        pm, GB202:
          dram__bytes_op_read.sum
  
  link
    pcie.rx  [bytes]  gpufathom_pcie_rx_bytes_total
        Bytes that the device received over PCIe, protocol overhead included.
        pm, TU102 and later but GH100, GB100, GB110:
          pcie__read_bytes.sum
        gpm, GH100 and later:
          21 NVML_GPM_METRIC_PCIE_RX_PER_SEC * 1048576 * duration
        dcgm, all chips:
          1010 DCGM_FI_PROF_PCIE_RX_BYTES * duration
  $ gpufathom metrics tensor --chip GV100 | grep -c .
  37

The same as JSON.

  $ gpufathom metrics --format json | jq -r '.schema, (.metrics | length > 60)'
  gpufathom.metrics/1
  true
  $ gpufathom metrics dram.read --chip gb202 --format json | jq -c '.metrics[].inputs'
  [{"source":"report","chips":["GB202"],"expression":"dram__bytes_op_read.sum"},{"source":"pm","chips":["GB202"],"expression":"dram__bytes_op_read.sum"}]

What does not exist is said.

  $ gpufathom metrics no.such
  gpufathom: no metric is called "no.such" (gpufathom metrics lists them)
  [1]
  $ gpufathom metrics --level deep
  gpufathom: no level is called "deep" (gpu, sm, issue, tensor, pipe, memory, link, runtime, energy, monitor)
  [1]
  $ gpufathom metrics --chip GK110
  gpufathom: no chip is called "GK110" (GV100, TU102, GA100, GA102, AD102, GH100, GB100, GB110, GB202)
  [1]

Every level that an analysis names is in the catalogue.

  $ gpufathom analyze $EXAMPLES/lenet_train_b64.json.gz --counters $EXAMPLES/lenet_train_b64.base.ncu.csv.gz --format json | jq -r '.levels[].id' > ids
  $ gpufathom metrics $(cat ids) > /dev/null && test $(wc -l < ids) -ge 6
