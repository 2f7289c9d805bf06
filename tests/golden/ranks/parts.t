The parts of ranks --map are known however another program has written them anew: with spaces, or over several lines.

  $ gpufathom ranks --map "$ROOT/tests/ranks/groups"/tp2_group_late.rank[0123].json.gz > parts.json
  $ gpufathom ranks parts.json > plain
  $ anew() { python3 -c "import json; print(*[json.dumps(json.loads(part), $1) for part in open('parts.json')], sep='\n')"; }
  $ anew "separators=(', ', ': ')" > spaced.json; gpufathom ranks spaced.json | diff plain -
  $ anew "indent=2" > lines.json; gpufathom ranks lines.json | diff plain -
  $ head -n 3 plain | cut -c1-40 | grep -o '^4 ranks'
  4 ranks

What stands now where a part was made may be another job's: why a rank is late is told of captures that were read.

  $ job() { for rank in 0 1; do cp "$ROOT/tests/ranks/captures/$1.rank$rank.json.gz" job.rank$rank.json.gz; done; }
  $ job slow_input; gpufathom ranks --map job.rank?.json.gz > job.parts
  $ gpufathom ranks job.rank?.json.gz | grep -A1 '`analyze`'
  `analyze` says of rank 1, and not of rank 0: Input-bound: the GPU waits for
  input 79 % of the time, most of it in
  $ job held_lock; gpufathom ranks job.parts | grep -c '`analyze`'
  0
  [1]

It is told of the time that is asked for.

  $ late() { gpufathom ranks "$ROOT/tests/ranks/captures"/extra_sync.rank?.json.gz --format json "$@" | jq -c '.apart[] | [.id, .gain_ns]'; }
  $ late --window steps; late --window step:5
  ["host_bound",53146633]
  ["host_bound",8746703]

Waiting for other ranks is no cause of a host that is late.

  $ gpufathom ranks "$ROOT/tests/ranks/groups"/tp2_group_late.rank[012].json.gz --allow-incomplete --window 0:50ms --format json 2>/dev/null | jq -c '.stragglers[0].cause, [.apart[].id]'
  "kernel_gap"
  []

The window of several captures is that of `ranks`, also under analyze.

  $ for verb in "ranks --allow-incomplete" analyze; do gpufathom $verb "$ROOT/tests/ranks/groups"/tp2_group_late.rank[012].json.gz --window 0:50ms --json 2>/dev/null | jq -c '.window, .span_ns'; done
  "0:50ms"
  84602323
  "0:50ms"
  84602323
