Two of four ranks: who was late is said among those only.

  $ groups="$ROOT/tests/ranks/groups"
  $ gpufathom ranks --allow-incomplete "$groups"/tp2_group_late.rank[13].json.gz --rows 1 2>&1 | head -5
  2 ranks of 4, 19 shared collectives over 116.4 ms (whole captures)
  None of the 2 ranks here holds up the job by 1 % or more, and no link does.
  Up to 30.93 ms of 116.4 ms (26.6 %) may be waiting for ranks without a file.
  Rank 1 is busy 88.3 % of its time, of which 62.9 % is waiting for other ranks.
  Incomplete: 2 of 4 ranks have no file: 0, 2

One of them alone: how much of its collectives is waiting is not known, nor in which step.

  $ gpufathom ranks --allow-incomplete "$groups"/tp2_group_late.rank1.json.gz 2> /dev/null | sed -n '1,2p;/^Ranks/,/^$/p;/^Waiting/p'
  1 rank of 4, 0 shared collectives over 116.4 ms (whole captures)
  Only one rank was given: the others' captures show which rank it waited for.
  Ranks: shares of each one's time
    rank  host  compute  waiting  exchange    idle  late for  clock  doubt
       1         20.2 %  no data    65.0 %  11.7 %    0 of 0   0 ns   0 ns

A recording without kernels is no rank, and what to do is said.

  $ cp $EXAMPLES/mnist_recorded.gpf . && gpufathom ranks mnist_recorded.gpf
  gpufathom: mnist_recorded.gpf: holds samples alone, no kernels or copies (gpufathom record --kernels -- PROGRAM)
  [1]

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
