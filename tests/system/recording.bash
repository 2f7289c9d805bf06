# What the tests of recordings share; each sets gf, program and work, and is in $work.
failures=0
check() {  # check NAME CONDITION...
  local name=$1; shift
  if "$@"; then echo "ok    $name"; else echo "FAILED $name: $*"; failures=$((failures + 1)); fi
}
is() { check "$1" [ "$2" = "$3" ]; }
wait_for() { for _ in $(seq 600); do "$@" && return; sleep 0.1; done; echo "waited in vain: $*"; return 1; }

# Records into full/x.gpf on a disk that is full for a while: from when the first kernels are in the file until the recorder has said so
# and the agent has tried to write for a second. What the recorder has read makes room, which is taken at once: else each batch could
# fit where the last was. The recorder's words go to full.txt, the program's to served.txt; the disk stays. Fails without the right to mount.
has_first() { [ "$(ask full/x.gpf "select sum(name = 'before') = 100 from activities" 2>/dev/null)" = 1 ]; }
record_on_full_disk() {
  mkdir full && mount -t tmpfs -o size=4m tmpfs full 2>/dev/null || return 1
  "$gf" record --kernels --window 0 -o full/x.gpf -- "$program" init launch=before*100 serve="$work/room" launch=after*200 2> full.txt > served.txt & local recorder=$!
  wait_for has_first
  while [ ! -e emptied ]; do dd if=/dev/zero bs=4k oflag=append conv=notrunc of=full/ballast 2>/dev/null; sleep 0.02; done & local filler=$!
  wait_for grep -q 'the disk is full' full.txt
  sleep 1
  touch emptied; wait $filler  # not killed: a dd that outlives its loop would fill the disk once more
  rm full/ballast
  touch room
  wait $recorder
  return 0
}
