A list that is cut ends in a row of the others, so that it sums to what it summed to; without --rows lists are whole.

  $ T="$EXAMPLES"/resnet50_amp_eager_b64.json.gz
  $ gpufathom analyze "$T" --format json > all.json
  $ gpufathom analyze "$T" --format json --rows 5 > five.json
  $ gpufathom analyze "$T" --format json --rows 0 | jq -c '(.runtime.idle | length), ([.devices[0].idle[].operators | length])'
  126
  [83,2,22,0]
  $ jq -c '(.runtime.idle | length), ([.devices[0].idle[].operators | length])' all.json five.json
  126
  [83,2,22,0]
  9
  [5,2,5,0]
  $ jq -c '([.runtime.idle[].ns] | add) == .devices[0].idle_ns, [.devices[0].idle[] | [.operators[].ns] | add], [.devices[0].idle[] | [.modules[].ns] | add]' all.json five.json
  true
  [83179388,989383,3974184,null]
  [null,null,null,null]
  true
  [83179388,989383,3974184,null]
  [null,null,null,null]
  $ jq -c '.runtime.idle[-1] | [.cause, .operation, .ns > 0]' five.json
  ["host_other","(2 others)",true]
