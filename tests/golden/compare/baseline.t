A baseline stands for the captures it was made of: the same answer, to the digit, without them.

  $ cp "$EXAMPLES"/resnet50_amp_eager_b64.json.gz eager.json.gz
  $ cp "$EXAMPLES"/resnet50_amp_compile_b64.json.gz compile.json.gz
  $ gpufathom compare --baseline main.baseline --save eager.json.gz
  main.baseline: 1 capture with 3 steps, of eager.json.gz
  $ gpufathom compare eager.json.gz compile.json.gz --json > captures.json
  $ gpufathom compare --baseline main.baseline compile.json.gz --json | cmp - captures.json
  $ gpufathom compare eager.json.gz compile.json.gz --full > captures.txt
  $ gpufathom compare --baseline main.baseline compile.json.gz --full | cmp - captures.txt
  $ gpufathom compare --baseline main.baseline compile.json.gz --fail-on "kernels > 3%" > /dev/null
  $ gpufathom compare --baseline main.baseline eager.json.gz --fail-on "kernels > 1%" > /dev/null 2>&1
  [4]

Several captures of a version, of synthetic kernels with other times in each.

  $ twisted() {
  >   gzip -dc "$EXAMPLES"/lenet_train_b64.json.gz | jq -c --argjson by "$1" --argjson from "$2" '.traceEvents |= [.[] |
  >     if .cat == "kernel" then .dur = (.dur * $by) else . end | if .ts then .ts += $from else . end]' | gzip -1 > "$3"
  > }
  $ for i in 1 2 3; do twisted 1.0$i ${i}000000 a$i.json.gz; twisted 1.1$i ${i}500000 b$i.json.gz; done
  $ gpufathom compare --baseline a.baseline --save a?.json.gz
  a.baseline: 3 captures with 9 steps, of a2.json.gz
  $ gpufathom compare a?.json.gz --after b?.json.gz --json > captures.json
  $ gpufathom compare --baseline a.baseline b?.json.gz --json | cmp - captures.json
  $ jq -c '.changes[0] | [.verdict, .kernel_verdict, .captures, .remarks]' captures.json
  ["undecided","slower",3,[]]

What cannot stand for a version is not saved, and what is no baseline is not overwritten.

  $ gzip -dc "$EXAMPLES"/resnet50_fp32_eager_b64.json.gz | head -c 4500000 > cut.json
  $ gpufathom compare --baseline cut.baseline --save cut.json
  gpufathom: cut.json: incomplete result: 1 x truncated_json: the file ends before its list of events does (first at byte 4500000)
  gpufathom: cut.json: incomplete result: 6 994 x calls_missing: of the 27 260 numbers of the runtime's calls, 6 994 in a row are not in the capture: the calls between were not recorded, and what they launched is missing
  gpufathom: cut.baseline: not saved: a baseline is made of whole captures (record them again)
  [1]
  $ gpufathom compare --baseline twice.baseline --save eager.json.gz eager.json.gz
  gpufathom: twice.baseline: not saved: eager.json.gz is given twice: a capture counts once
  [1]
  $ gpufathom compare --baseline eager.json.gz --save compile.json.gz
  gpufathom: eager.json.gz: the file exists and is no baseline (give another name)
  [1]
  $ gpufathom compare --baseline main.baseline --save eager.json.gz --fail-on "step > 3%"
  gpufathom: --save keeps captures and compares nothing: give rules and comments without it
  [2]
  $ ls *.baseline
  a.baseline
  main.baseline

Each is refused for its own reason.

  $ sed 's/nvjet/NVJET/' main.baseline > damaged.baseline
  $ gpufathom compare --baseline damaged.baseline compile.json.gz
  gpufathom: damaged.baseline: is damaged: it is not as it was sealed (save it again from its captures: gpufathom compare --baseline FILE --save CAPTURE ...)
  [1]
  $ head -c 90000 main.baseline > short.baseline
  $ gpufathom compare --baseline short.baseline compile.json.gz --fail-on "kernels > 3%"
  gpufathom: short.baseline: is damaged: it is not as it was sealed (save it again from its captures: gpufathom compare --baseline FILE --save CAPTURE ...)
  [3]
  $ sed '1s|"program":"[^"]*"|"program":"0.0.1"|' main.baseline > older.baseline
  $ gpufathom compare --baseline older.baseline compile.json.gz 2>&1 | sed 's/than gpufathom [0-9.]*/than gpufathom V/'
  gpufathom: older.baseline: was saved by gpufathom 0.0.1, which may divide time otherwise than gpufathom V (save it again from its captures: gpufathom compare --baseline FILE --save CAPTURE ...)
  $ sed '1s|baseline/1|baseline/2|' main.baseline > form.baseline
  $ gpufathom compare --baseline form.baseline compile.json.gz 2>&1 | sed 's/gpufathom [0-9][0-9.]*/gpufathom V/g'
  gpufathom: form.baseline: is a baseline of the form gpufathom.baseline/2, which gpufathom V wrote, and gpufathom V reads gpufathom.baseline/1 (save it again from its captures: gpufathom compare --baseline FILE --save CAPTURE ...)
  $ gpufathom compare --baseline eager.json.gz compile.json.gz
  gpufathom: eager.json.gz: is no baseline (gpufathom compare --baseline FILE --save CAPTURE ... writes one)
  [1]
  $ gpufathom compare --baseline nowhere.baseline compile.json.gz
  gpufathom: nowhere.baseline: cannot be read: No such file or directory
  [1]
  $ gpufathom compare --baseline main.baseline compile.json.gz --after eager.json.gz
  gpufathom: --baseline is the first version: give the captures of the second without --after
  [2]

Another program has no verdict here either.

  $ gpufathom compare --baseline main.baseline "$EXAMPLES"/bert_amp_eager_b32.json.gz > answer.txt
  gpufathom: bert_amp_eager_b32.json.gz: another program than eager.json.gz: 0 % of the weights have the same sizes (A convolution 1024x256x1x1, B linear 768x768)
  [1]
  $ sed -n '/^The programs/,/^$/p' answer.txt
  The programs differ: 0 % of the weights have the same sizes (A convolution
  1024x256x1x1, B linear 768x768). Their times do not compare.
  

For git bisect run: 0 and 1 are verdicts, 125 skips, 128 ends.

  $ bisect() { gpufathom compare --baseline "$1" "$2" --bisect --fail-on "$3" > /dev/null 2> /dev/null; echo $?; }
  $ bisect main.baseline compile.json.gz "kernels > 3%"
  0
  $ bisect main.baseline compile.json.gz "kernels < -3%"
  1
  $ bisect main.baseline eager.json.gz "kernels > 1%"
  125
  $ bisect main.baseline cut.json "kernels > 3%"
  125
  $ bisect main.baseline nowhere.json "kernels > 3%"
  125
  $ bisect damaged.baseline compile.json.gz "kernels > 3%"
  128
