A counter report alone gives the ladder of its kernels; how busy the GPU was has no data.

  $ export COLUMNS=80 LC_ALL=C
  $ zcat "$EXAMPLES"/lenet_train_b64.ncu-rep.gz > lenet.ncu-rep
  $ gpufathom analyze lenet.ncu-rep | sed -n '1,/^Where the time goes/p'
  $ gpufathom analyze lenet.ncu-rep | sed -n '/^Counters matched/,/^$/p'
  $ gpufathom analyze lenet.ncu-rep --format json > answer.json
  $ jq -c '[.levels[] | select(.id == "gpu.busy" or .id == "sm.active" or .id == "tensor.active") | [.id, .value, .why_missing]], [.quality[].code], (.kernels | length), .match.verdict, [.findings[].id]' answer.json
