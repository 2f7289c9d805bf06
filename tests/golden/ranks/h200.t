Two H200s train ResNet-50; rank 0 also has 40 products a step to do.

  $ needs-corpus || exit 80
  $ ranks="$GPUFATHOM_CORPUS/h200/ranks"
  $ gpufathom ranks "$ranks"/slow_gpu.rank*.json.gz --rows 3
  2 ranks, 28 shared collectives over 191.5 ms (whole captures)
  The job waits for rank 0: at the speed of its peers, the job gains 4.679 ms of
  191.5 ms (2.4 %), most of it from more kernel time in extra_augmentation.
  The host of rank 0 is slower than its peers' (29.86 ms of 191.5 ms (15.6 %)),
  but recording alone may be the reason. The rank is not blamed.
  Rank 1 is busy 98.0 % of its time, of which 61.6 % is waiting for other ranks.
  
  Ranks: shares of each one's time
    rank  host  compute  waiting  exchange    idle  late for     clock     doubt
       0         46.5 %   <0.1 %     1.0 %  51.6 %  24 of 28      0 ns      0 ns
       1         36.7 %   60.4 %     0.0 %   2.0 %   0 of 28  1.482 us  5.407 us
  
  Late ranks by cause                 waited: by the other ranks; gain: of the job
    rank  why               where                      late by    waited      gain
       0  more kernel time  extra_augme..ten::matmul  20.06 ms  20.06 ms  4.591 ms
       0  more copies                                 385.9 us  385.9 us  88.33 us
  
  Waiting, step by step                    each of 4 steps: blank 0 %, @ over 90 %
        0 |    |
        1 |+**+|
  
  Critical path                                                       0 hand-overs
    rank 0 100.0 %
  
  Transfer rates, waiting excluded                       bus: bytes a link carries
    collective  ranks     size  count  transfer  bus GB/s  of link
    all_reduce      2  26.6 MB     12  121.0 us       231   51.3 %
    all_reduce      2   9.7 MB      4  63.23 us     153.8   34.2 %
    all_reduce      2   8.2 MB      4  58.54 us       140   31.1 %
  $ gpufathom analyze "$ranks"/slow_gpu.rank1.json.gz "$ranks"/slow_gpu.rank0.json.gz --rows 1 | head -3
  2 ranks, 28 shared collectives over 191.5 ms (whole captures)
  The job waits for rank 0: at the speed of its peers, the job gains 4.679 ms of
  191.5 ms (2.4 %), most of it from more kernel time in extra_augmentation.

Parts of single ranks give the same answer as the captures.

  $ for rank in 0 1; do gpufathom ranks --map "$ranks"/fsdp.rank$rank.json.gz > part$rank.json || exit 1; done
  $ gpufathom ranks part0.json part1.json --format json > parts.answer.json
  $ gpufathom ranks "$ranks"/fsdp.rank*.json.gz --format json -o captures.answer.json
  $ cmp parts.answer.json captures.answer.json

One rank alone, two runs mixed, a folder of three runs, a file that is cut.

  $ gpufathom ranks --allow-incomplete "$ranks"/none.rank1.json.gz 2>errors | head -3; cat errors
  1 rank of 2, 0 shared collectives over 157.4 ms (whole captures)
  Only one rank was given: the others' captures show which rank it waited for.
  Incomplete: 1 of 2 ranks have no file: 0
  gpufathom: incomplete result: 1 of 2 ranks have no file: 0
  $ gpufathom ranks "$ranks"/none.rank0.json.gz "$ranks"/slow_gpu.rank1.json.gz 2>&1 | sed "s,$ranks,RANKS,g"
  gpufathom: RANKS/none.rank0.json.gz: shares its process groups with other ranks, but of its 28 collectives only 3 match: it is from another run, or from another time of the same run (give files that the ranks wrote at the same time)
  $ gpufathom ranks "$ranks" 2>&1 | sed "s,$ranks,RANKS,g"
  gpufathom: RANKS/truth.json: skipped: not a capture
  gpufathom: RANKS/none.rank0.json.gz: is rank 0, and so is RANKS/fsdp.rank0.json.gz (give each rank once, all from one run)
  $ mkdir cut; head -c 500000 "$ranks"/none.rank1.json.gz > cut/none.rank1.json.gz; cp "$ranks"/none.rank0.json.gz cut
  $ gpufathom ranks --allow-incomplete cut > answer.txt; echo "exit $?"; head -3 answer.txt
  gpufathom: incomplete result: rank 1: the file ends before its list of events does (first at byte 6977766)
  gpufathom: incomplete result: rank 1: gzip data ends early at byte 500000 of the compressed file
  gpufathom: incomplete result: rank 1: of the 38 855 numbers of the runtime's calls, 11 581 in a row are not in the capture: the calls between were not recorded, and what they launched is missing
  exit 1
  2 ranks, 6 shared collectives over 159.5 ms (whole captures)
  No rank or link holds up the job by 1 % or more.
  No rank has waited for rank 0 yet, but its host falls behind: each step takes it
  $ head -c 30 "$ranks"/none.rank1.json.gz > cut/none.rank1.json.gz
  $ gpufathom ranks --allow-incomplete cut > answer.txt; echo "exit $?"; head -3 answer.txt
  gpufathom: cut/none.rank1.json.gz: gzip data ends early at byte 30 of the compressed file (nothing in it can be read; copy it again from its source)
  gpufathom: incomplete result: 1 of 2 ranks have no file: 1
  exit 1
  1 rank of 2, 0 shared collectives over 156.4 ms (whole captures)
  Only one rank was given: the others' captures show which rank it waited for.
  Incomplete: 1 of 2 ranks have no file: 1
