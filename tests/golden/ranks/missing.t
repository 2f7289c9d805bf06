Two of four ranks: who was late is said among those only.

  $ groups="$ROOT/tests/ranks/groups"
  $ gpufathom ranks --allow-incomplete "$groups"/tp2_group_late.rank[13].json.gz --rows 1 2>&1 | head -5
  2 ranks of 4, 19 shared collectives over 116.4 ms (whole captures)
  None of the 2 ranks here holds up the job by 1 % or more, and no link does.
  Up to 30.93 ms of 116.4 ms (26.6 %) may be waiting for ranks without a file.
  Rank 1 is busy 88.3 % of its time, of which 62.9 % is waiting for other ranks.
  Incomplete: 2 of 4 ranks have no file: 0, 2

Without that word nobody is blamed by a part of the job, whatever form the answer has:

  $ gpufathom ranks "$groups"/tp2_group_late.rank[13].json.gz
  gpufathom: incomplete result: 2 of 4 ranks have no file: 0, 2
  gpufathom: incomplete captures give no verdict about ranks (--allow-incomplete continues)
  [3]
  $ gpufathom ranks "$groups"/tp2_group_late.rank[13].json.gz --format json -o answer.json 2> /dev/null; echo $?; ls answer.json 2> /dev/null
  3
  [2]
  $ gpufathom analyze "$groups"/tp2_group_late.rank[13].json.gz --format json 2> /dev/null | jq -c .missing_ranks
  [0,2]
