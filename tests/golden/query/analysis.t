What the analysis says is a table, too; it is worked out when a statement asks for it.

  $ gpufathom query $EXAMPLES/lenet_train_b64.json.gz "select phase, layer, count(*) as kernels from attributed_kernels where device is not null group by 1, 2 order by 3 desc, 1, 2 limit 4"
  phase     layer        kernels
  backward  MatMul            33
  forward   MatMul            24
  backward  Convolution       18
  backward  Activation        12
  (4 rows)
  $ gpufathom query $EXAMPLES/lenet_train_b64.json.gz "select count(*) = (select count(*) from kernels) as all_kernels, sum(idle_ns) > 0 as idle, count(distinct idle_cause) > 1 as causes, sum(operator is not null) > 0 as operators, min(length(short_name) <= length(name)) as short from attributed_kernels" --format csv
  all_kernels,idle,causes,operators,short
  1,1,1,1,1
  $ gpufathom query $EXAMPLES/resnet50_recorded.gpf "select id, round(value, 3) as value, unit from levels where id in ('gpu.busy', 'sm.active')"
  id         value  unit
  gpu.busy   0.895  ratio
  sm.active  0.711  ratio
  (2 rows)

Levels are those of analyze; in a recording of kernels, the ones that are solved from its samples.

  $ zcat $EXAMPLES/resnet50_fp32_b512_energy.gpf.gz > kernels.gpf
  $ gpufathom query kernels.gpf "select id, value from levels" --csv 2>/dev/null | sed 1d > asked
  $ gpufathom analyze kernels.gpf --window all --json 2>/dev/null | jq -r '.levels[] | "\(.id),\(.value // "")"' | diff asked - && grep -c 'sm.active,0[.]' asked
  1

  $ gpufathom query $EXAMPLES/lenet_train_b64.json.gz "select count(*) > 0 as some from findings where text <> ''" --format csv
  some
  1
  $ gpufathom query $EXAMPLES/lenet_train_b64.json.gz "select * from level"
  gpufathom: */lenet_train_b64.json.gz: SQL: no such table: level* (glob)
  [1]
