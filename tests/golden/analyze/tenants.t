Two programs on one GPU at the same time: who used it, with parts that sum to the whole.

  $ export GPUFATHOM_LIBRARY_PATH=$FAKES GPUFATHOM_FAKE= CUDA_MPS_PIPE_DIRECTORY=$PWD/none
  $ printf '%s init launch=first*600 &\n%s init sleep=200 launch=second*300\nwait\n' $FAKES/program $FAKES/program > both.sh
  $ gpufathom record -q --kernels --window 0 -o run.gpf -- sh both.sh
  $ gpufathom analyze run.gpf --window all --format json > answer.json 2>/dev/null; test -s answer.json
  $ jq -c '.tenants[] | [.id, .sharing, (.tenants | length), ([.tenants[].kernels] | min > 100)]' answer.json
  [0,"time_sliced",2,true]
  $ jq -c '.tenants[] | ([.tenants[].share_ns] | add) + .rest_ns == .span_ns, .overlap_ns > 0, ([.tenants[].nj] | add) + .rest_nj == .nj' answer.json
  true
  true
  true
  $ jq -c '.tenants[] | [.tenants[], {amounts: .rest}] as $all | .total[] | .id as $id | ([$all[].amounts[] | select(.id == $id) | .value] | add) / .value | . > 0.999999 and . < 1.000001' answer.json | sort -u
  true
  $ jq -c '.tenants[].tenants[] | (.alone_ns <= .share_ns and .share_ns <= .active_ns and .low_nj <= .nj and .nj <= .high_nj), (.amounts[] | .low <= .value and .value <= .high)' answer.json | sort -u
  true
  $ gpufathom analyze run.gpf --full --window all 2>/dev/null | sed -n '/^Processes on GPU/,/^$/p' | sed -E 's/, in turns.*/, in turns/; s/^ +([A-Za-z0-9]+( [A-Za-z]+)*)  .*/\1/; s/^[0-9]+$/PID/; s/  +/  /g' | sed -n '1,8p'
  Processes on GPU 0  2 processes, in turns
  process
  PID
  between
  PID
  between
  none of them
  the GPU

One of them alone is no tenant, and of samples alone it can only be said who holds memory.

  $ gpufathom record -q --kernels --window 0 -o alone.gpf -- $FAKES/program init launch=first*300
  $ gpufathom analyze alone.gpf --format json 2>/dev/null | jq -c .tenants
  []
