A recording whose windows caught no kernel, though the program marked its steps: the samples answer, and that there was no kernel is said.

  $ export GPUFATHOM_LIBRARY_PATH=$FAKES GPUFATHOM_FAKE=
  $ gpufathom record -q --kernels --delay 0.2 -o run.gpf -- $FAKES/program init push=gpufathom.step sleep=30 pop push=gpufathom.step sleep=900 pop
  $ gpufathom query --format csv run.gpf "select (select count(*) from activities) as kernels, (select count(*) > 0 from recording_windows) as windows"
  kernels,windows
  0,1
  $ gpufathom analyze run.gpf --format json | jq -r '.devices[0].levels[0].id, (.quality[] | select(.code == "no_events") | .detail)'
  gpu.busy
  no kernel was recorded in 1 window: the result is based on samples alone
