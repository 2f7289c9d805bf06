Rules of a team's own (docs/own-rules.md), beside the program's.

  $ TRACE="$EXAMPLES/resnet50_amp_eager_b64.json.gz"
  $ rules() { printf '{"schema": "gpufathom.rules/1", "rules": [%s]}' "$1" > own.json; gpufathom analyze "$TRACE" --rules own.json --format json; }
  $ gpufathom analyze "$TRACE" --rules "$EXAMPLES/rules/team.json" --format json | jq -c '.findings[] | select(.id == "own_rule") | [.rule, .kind, .group, .text, .evidence, .gain_ns]'
  ["norms_outside_fp16","cause","kernels","636 forward normalization kernels take 3.5 % of the time. Use the team's fused norm (libs/norms), which makes one pass of two.","aten::native_batch_norm 5.14 ms, aten::fill_ 58.8 us",5196174]

The gain is that of the events that the condition finds, of which half stays; the query lists them:

  $ gpufathom query "$TRACE" "select sum(exclusive_ns) from attributed_work where layer = 'Normalization' and phase = 'forward'" --csv
  sum(exclusive_ns)
  10392201
  $ QUERY=$(gpufathom analyze "$TRACE" --rules "$EXAMPLES/rules/team.json" --format json | jq -r '.findings[] | select(.rule == "norms_outside_fp16") | .queries[0]')
  $ gpufathom query "$TRACE" "select count(*) from ($QUERY)" --csv
  count(*)
  636

Work and the idle time before it; a framework's own advice before that for any:

  $ rules '{"id": "large_copies", "where": "kind = '"'memcpy'"'", "counts": "both", "share": 0, "says": "{count} copies.", "change": {"jax": "j", "pytorch": "p", "any": "a"}}' | jq -c '.findings[] | select(.rule == "large_copies") | [.text, .group, .gain_ns, (.moments | length)]'
  ["3 copies. p","host",173631,3]

The text has its place and its sentence:

  $ COLUMNS=80 gpufathom analyze "$TRACE" --rules "$EXAMPLES/rules/team.json" | grep -A 3 forward
    3. 636 forward normalization kernels take 3.5 % of the time. Use the team's
       fused norm (libs/norms), which makes one pass of two. [no gain by itself;
       up to 5.196 ms, 3.5 %]
       Together 71 % of a step (60-78 %). Gains are predicted for a step without

Groups of work, which show what is worth a rule, add up to the device's time:

  $ gpufathom query "$TRACE" "select sum(exclusive_ns), sum(idle_ns), sum(count) = (select count(*) from activities) as all_of_them from work_groups" --csv
  sum(exclusive_ns),sum(idle_ns),all_of_them
  45377825,103792548,1
  $ gpufathom analyze "$TRACE" --window all --format json | jq -r '[([.devices[].kernel_busy_ns] | add) + ([.devices[].copy_only_ns] | add), ([.devices[].idle_ns] | add)] | join(",")'
  45377825,103075170
  $ gpufathom query "$TRACE" "select operator, traits, count from work_groups where traits like '%,fills,%' order by count desc limit 2" --csv
  operator,traits,count
  aten::fill_,",aten,beside_product,fills,overwrites,pytorch,scoped,",156
  aten::fill_,",aten,beside_product,fills,overwrites,pytorch,scoped,",130

What is wrong is said with the row:

  $ rules '{"id": "Own", "where": "1", "says": "x"}'
  gpufathom: own.json: rule 1 (Own) has an id with other characters than a-z, 0-9 and _ (docs/own-rules.md has an example of every key)
  [1]
  $ rules '{"id": "launch_bound", "where": "1", "says": "x"}'
  gpufathom: own.json: rule 1 (launch_bound) has an id that the program uses itself (docs/own-rules.md has an example of every key)
  [1]
  $ rules '{"id": "a", "says": "x"}'
  gpufathom: own.json: rule 1 (a) has no condition: "where" (docs/own-rules.md has an example of every key)
  [1]
  $ rules '{"id": "a", "where": "1", "says": "x"}, {"id": "a", "where": "1", "says": "y"}'
  gpufathom: own.json: rule 2 (a) has the id of a row before it (docs/own-rules.md has an example of every key)
  [1]
  $ rules '{"id": "a", "where": "1", "says": "x", "share": 5}'
  gpufathom: own.json: rule 1 (a) has a share that is no number from 0 to 1 (docs/own-rules.md has an example of every key)
  [1]
  $ rules '{"id": "a", "where": "1", "says": "x", "counts": "all"}'
  gpufathom: own.json: rule 1 (a) counts neither work nor idle nor both (docs/own-rules.md has an example of every key)
  [1]
  $ rules '{"id": "a", "where": "1", "says": "x", "treshold": 1}'
  gpufathom: own.json: rule 1 (a) has a key that is none of a rule: "treshold" (docs/own-rules.md has an example of every key)
  [1]
  $ rules '{"id": "a", "where": "1", "says": "{count} of {kernels}"}'
  gpufathom: own.json: rule 1 (a) has {kernels} in "says", beside {count}, {time} and {share} (docs/own-rules.md has an example of every key)
  [1]
  $ rules '{"id": "a", "where": "1", "says": "x", "change": {"torch": "y"}}'
  gpufathom: own.json: rule 1 (a) has a change that is neither a text nor texts by pytorch, jax, tensorflow, any (docs/own-rules.md has an example of every key)
  [1]
  $ rules '{"id": "a", "where": "1", "says": "x", "change": 3}'
  gpufathom: own.json: rule 1 (a) has a change that is neither a text nor texts by pytorch, jax, tensorflow, any (docs/own-rules.md has an example of every key)
  [1]
  $ rules '{"id": "a", "where": "kernel = 3", "says": "x"}'
  gpufathom: own.json: rule a: SQL: no such column: kernel, at "kernel = 3\n)" (try its condition: gpufathom query TRACE "select * from attributed_work where ...")
  [1]
  $ rules '{"id": "a", "where": "1) union select 1 --", "says": "x"}'
  gpufathom: own.json: rule a: SQL: near ")": syntax error, at ")" (try its condition: gpufathom query TRACE "select * from attributed_work where ...")
  [1]
  $ rules '{"id": "a", "where": "1) union select 987654321, 1, 1, 1, 1, 1 where (1", "says": "x"}'
  gpufathom: own.json: rule a: its condition is no condition, but gives rows of its own (docs/own-rules.md has an example of every key)
  [1]
  $ rules ''
  gpufathom: own.json: has no rules (docs/own-rules.md has an example of every key)
  [1]
  $ echo '{"rules": []}' > none.json; gpufathom analyze "$TRACE" --rules none.json
  gpufathom: none.json: is no file of rules: its "schema" is not "gpufathom.rules/1" (docs/own-rules.md has an example of every key)
  [1]
  $ gpufathom analyze "$TRACE" --rules no_such.json
  gpufathom: no_such.json: cannot be read: No such file or directory
  [1]
