The parts of ranks --map are known however another program has written them anew: with spaces, or over several lines.

  $ gpufathom ranks --map "$ROOT/tests/ranks/groups"/tp2_group_late.rank[0123].json.gz > parts.json
  $ gpufathom ranks parts.json > plain
  $ anew() { python3 -c "import json; print(*[json.dumps(json.loads(part), $1) for part in open('parts.json')], sep='\n')"; }
  $ anew "separators=(', ', ': ')" > spaced.json; gpufathom ranks spaced.json | diff plain -
  $ anew "indent=2" > lines.json; gpufathom ranks lines.json | diff plain -
  $ head -n 3 plain | cut -c1-40 | grep -o '^4 ranks'
  4 ranks
