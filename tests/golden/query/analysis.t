What the analysis says is a table, too; it is worked out when a statement asks for it.

  $ gpufathom query $EXAMPLES/lenet_train_b64.json.gz "select phase, layer, count(*) as kernels from attributed_kernels where device is not null group by 1, 2 order by 3 desc, 1, 2 limit 4"
  phase     layer        kernels
  backward  MatMul            33
  forward   MatMul            24
  backward  Convolution       18
  backward  Activation        12
  (4 rows)
  (analysis of 3 steps, 10.40 ms)
  $ gpufathom query $EXAMPLES/lenet_train_b64.json.gz "select count(*) = (select count(*) from kernels) as all_kernels, sum(idle_ns) > 0 as idle, count(distinct idle_cause) > 1 as causes, sum(operator is not null) > 0 as operators, min(length(short_name) <= length(name)) as short from attributed_kernels" --format csv
  all_kernels,idle,causes,operators,short
  1,1,1,1,1
  $ gpufathom query $EXAMPLES/resnet50_recorded.gpf "select id, round(value, 3) as value, unit from levels where id in ('gpu.busy', 'sm.active')"
  id         value  unit
  gpu.busy   0.895  ratio
  sm.active  0.711  ratio
  (2 rows)
  (analysis of whole capture, 4.762 s)

Levels are those of analyze; in a recording of kernels, the ones that are solved from its samples.

  $ zcat $EXAMPLES/resnet50_fp32_b512_energy.gpf.gz > kernels.gpf
  $ gpufathom query kernels.gpf "select id, value from levels" --csv 2>/dev/null | sed 1d > asked
  $ gpufathom analyze kernels.gpf --json 2>/dev/null | jq -r '.levels[] | "\(.id),\(.value // "")"' | diff asked - && grep -c 'sm.active,0[.]' asked
  1

  $ gpufathom query $EXAMPLES/lenet_train_b64.json.gz "select count(*) > 0 as some from findings where text <> ''" --format csv
  some
  1
  $ gpufathom query $EXAMPLES/lenet_train_b64.json.gz "select * from level"
  gpufathom: */lenet_train_b64.json.gz: SQL: no such table: level* (glob)
  [1]

Each kernel and copy has its operation, the one around it, its place in the step and its pass.

  $ gpufathom query $EXAMPLES/resnet50_amp_eager_b64.json.gz "select step, operator, parent, phase, count(*) as kernels, min(step_offset_ns) >= 0 as inside from attributed_kernels where step is not null and layer = 'Convolution' group by 1, 2, 3, 4 order by kernels desc, 1, 2, 3 limit 4"
  step  operator                   parent                phase     kernels  inside
     9  aten::convol..on_backward  ConvolutionBackward0  backward      146       1
    10  aten::convol..on_backward  ConvolutionBackward0  backward      146       1
    11  aten::convol..on_backward  ConvolutionBackward0  backward      146       1
     9  aten::cudnn_convolution    aten::_convolution    forward        55       1
  (4 rows)
  (analysis of 3 steps, 149.5 ms)
  (texts are shortened to fit; --format csv or json gives them whole)
  $ gpufathom query $EXAMPLES/resnet50_amp_eager_b64.json.gz "select copy, operator, parent, count(*) as copies from attributed_copies group by 1, 2, 3 order by copies desc, 1, 2 limit 4"
  copy              operator                    parent                copies
  none              aten::convolution_backward  ConvolutionBackward0      60
  none              aten::cudnn_convolution     aten::_convolution        39
  device_to_device  aten::copy_                 AsStridedBackward1         3
  (3 rows)
  (analysis of 3 steps, 149.5 ms)
  $ gpufathom query $EXAMPLES/resnet50_amp_eager_b64.json.gz "select sum(n) = (select count(*) from activities) as all_of_them from (select count(*) as n from attributed_kernels union all select count(*) from attributed_copies)" --csv
  all_of_them
  1

No column is a word of SQL's own: each can be asked for without quotes.

  $ awk '/^##+ [a-z_]+$/ { table = $2 } /^\| [a-z_]+ \| (integer|text|real|boolean)/ { columns[table] = columns[table] sep[table] $2; sep[table] = ", " } END { for (table in columns) print "select " columns[table] " from " table " limit 0" }' "$ROOT/docs/capture.md" > statements; wc -l < statements | awk '{ print ($1 > 15) }'
  1
  $ while read -r sql; do gpufathom query $EXAMPLES/lenet_train_b64.json.gz "$sql" > /dev/null || echo "$sql"; done < statements
  $ gpufathom query $EXAMPLES/mnist_recorded.gpf "select count(number) = count(*) as numbered from steps" --csv
  numbered
  1

A finding's statements are of its window: the warm-up before the steps is in the tables, without exclusive_ns.

  $ QUERY=$(gpufathom analyze $EXAMPLES/lenet_graphs_b1.json.gz --format json | jq -r '.findings[] | select(.id == "small_grids") | .queries[0]')
  $ gpufathom query $EXAMPLES/lenet_graphs_b1.json.gz "select sum(kernels) as kernels, sum(ns) as ns from ($QUERY)" --format csv
  kernels,ns
  52,117534
  $ gpufathom analyze $EXAMPLES/lenet_graphs_b1.json.gz --format json | jq -c '[([.devices[].kernels] | add), ([.devices[].kernel_time_sum_ns] | add)]'
  [52,117534]
