A file that is read is never written over, whatever name it goes by.

  $ cp $EXAMPLES/lenet_inf_b1.json.gz a.json.gz && ln -s a.json.gz link && cksum < a.json.gz > before
  $ gpufathom analyze a.json.gz -o a.json.gz
  gpufathom: a.json.gz is an input and would be overwritten: choose another output file
  [2]
  $ gpufathom analyze link --format json -o ./a.json.gz 2>/dev/null
  [2]
  $ gpufathom export a.json.gz --perfetto -o link 2>/dev/null
  [2]
  $ gpufathom import a.json.gz -o a.json.gz 2>/dev/null
  [2]
  $ gpufathom import a.json.gz -o a.gpf > /dev/null && gpufathom import a.gpf -o a.gpf 2>/dev/null
  [2]
  $ mkdir tables && mv a.gpf tables/kernels.csv && gpufathom export tables/kernels.csv --csv tables
  gpufathom: tables/kernels.csv: is read: a table would overwrite it (give --csv another folder)
  [1]
  $ mkdir -p ranks/deep && cp a.json.gz ranks/0.json.gz && cp $EXAMPLES/lenet_graphs_b1.json.gz ranks/deep/1.json.gz && ln -s ranks/deep/1.json.gz one
  $ gpufathom ranks ranks -o ranks/0.json.gz
  gpufathom: ranks/0.json.gz is an input and would be overwritten: choose another output file
  [2]
  $ gpufathom ranks --map ranks -o one 2>/dev/null
  [2]
  $ gpufathom analyze ranks -o ./ranks/deep/../0.json.gz 2>/dev/null
  [2]
  $ gpufathom ranks ranks -o ranks/ranks.html && gpufathom ranks ranks -o ranks/ranks.html && cmp ranks/deep/1.json.gz $EXAMPLES/lenet_graphs_b1.json.gz
  $ echo '{"rows":[{"capture":"a.json.gz","batch":1},{"capture":"ranks/0.json.gz","batch":1}]}' > table.json
  $ gpufathom compare --table table.json --axes batch --format json -o ranks/0.json.gz
  gpufathom: ranks/0.json.gz is an input and would be overwritten: choose another output file
  [2]
  $ cksum < a.json.gz | cmp - before && ls -A | grep part
  [1]

A text answer cannot take over a terminal, nor pass for a command of a CI service.

  $ printf '{"traceEvents":[{"ph":"X","cat":"kernel","name":"::error::a\\u001b[31mb\\u202ec","pid":0,"tid":7,"ts":1,"dur":5,"args":{"device":0,"stream":7}}]}' > escapes.json
  $ gpufathom analyze escapes.json | grep -c "$(printf '\033\|\342\200\256')"
  0
  [1]
  $ gpufathom analyze escapes.json | grep -c '^ *::'
  0
  [1]
  $ gpufathom analyze "$(printf 'no\033[31m\nsuch::file')"
  gpufathom: no\x1b[31m\nsuch::file: no such file
  [1]

A text that a spreadsheet would run is no formula.

  $ gpufathom query escapes.json --format csv "select '=cmd()' as a, '-x' as b, -1 as c, '+' as '@d'"
  a,b,c,'@d
  '=cmd(),'-x,-1,'+
