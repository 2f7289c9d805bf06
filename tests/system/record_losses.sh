#!/usr/bin/env bash
# What a recording does not hold is told in the capture, and `analyze` ends with 1: programs that end with work in hand or without
# room, and processes that mean harm to the recorder. Over the fake driver libraries. Usage: record_losses.sh BUILD_DIR
set -uo pipefail
build=$(cd "$1" && pwd) here=$(cd "$(dirname "$0")" && pwd)
gf=$build/gpufathom program=$build/fakes/program endings=$build/fakes/endings
export GPUFATHOM_LIBRARY_PATH=$build/fakes GPUFATHOM_FAKE=
work=$(mktemp -d)
chmod 755 "$work"
cd "$work"
trap 'kill $(jobs -p) 2>/dev/null; umount "$work/full" 2>/dev/null; rm -rf "$work"' EXIT
source "$here/recording.bash"
ask() { "$gf" query "$1" "$2" --format csv 2>/dev/null | tail -n +2; }
kernels() { "$gf" record -q --kernels --window 0 -o "$1" -- "${@:2}"; }
count() { ask "$1" "select coalesce(sum(count), 0) from quality where code = '$2'"; }
analyzed() { "$gf" analyze "$1" > "$1.txt" 2>&1; echo $?; }

# Whole recordings say nothing.
kernels whole.gpf "$program" init launch=work*300
is "a whole recording: no row, and analyze ends with" "$(ask whole.gpf "select count(*) from quality") $(analyzed whole.gpf)" "0 0"

# Programs that end without their handlers take along what was in hand.
for ending in _exit abort sigkill; do
  kernels $ending.gpf "$endings" $ending > /dev/null
  launched=30; [ $ending = sigkill ] && launched=500
  got=$(ask $ending.gpf "select count(*) from activities")
  [ $((launched - got)) -gt $((launched / 100 + 10)) ] || continue  # all but a few had come
  check "$ending: what is missing is told" [ "$(($(count $ending.gpf no_kernel) + $(count $ending.gpf lost_records) + $(count $ending.gpf few_lost_records)))" -ge $((launched - got)) ]
  is "$ending: analyze ends with" "$(analyzed $ending.gpf)" 1
done

# All that was launched is still in the queue when the program ends.
GPUFATHOM_FAKE=behind_ms=600000 kernels queued.gpf "$program" init launch=work*600
is "kernels that never ran: told, analyze" "$(count queued.gpf no_kernel) $(analyzed queued.gpf)" "600 1"

# Windows through which one kernel runs: all that was launched beside it is kept back.
GPUFATHOM_FAKE=behind_ms=600000 "$gf" record -q --kernels --window 0.2 --every 0.5 -o persistent.gpf -- "$program" init launch=work*1200
check "windows without their kernels: told" [ "$(count persistent.gpf no_kernel)" -ge 1 ]
is "windows without their kernels: analyze ends with" "$(analyzed persistent.gpf)" 1

# No room for records.
kernels fsize.gpf bash -c 'ulimit -f 64; exec "$@"' bash "$program" init launch=work*3000
got=$(ask fsize.gpf "select count(*) from activities")
check "a limit on the size of files: what is missing is told" [ "$(count fsize.gpf lost_records)" -ge $((3000 - ${got:-0})) ]
is "a limit on the size of files: analyze ends with" "$(analyzed fsize.gpf)" 1
GPUFATHOM_MOST_BYTES=100000 kernels bound.gpf "$program" init launch=work*3000
is "what a process may write: told, analyze" "$(count bound.gpf event_cap) $(analyzed bound.gpf)" "1 1"

# A decode of energy's counters takes nearly as long as the samples took to come while the GPU is busy: none is lost by that.
GPUFATHOM_FAKE=single_pass=40,sample_bytes=640e3,decode_us=3300 "$gf" record -q --metrics energy --summary slow.json -o slow.gpf -- "$program" init sleep=3000
is "slow decodes: samples lost, overflows" "$(jq '.devices[0].lost' slow.json) $(count slow.gpf buffer_overflow)" "0 0"
check "and samples came" [ "$(jq '.devices[0].samples' slow.json)" -gt 500 ]

# Kernels that cannot come.
sleep 60 & plain=$!
"$gf" record --pid $plain --kernels --duration 0.7 -o plain.gpf 2> plain.err; is "kernels of a program that was not prepared: exit code" $? 1
is "the capture says so, analyze" "$(count plain.gpf kernels_not_recorded) $(analyzed plain.gpf)" "1 1"
kill $plain

# A program that looks for leaks at its end finds none of the library's.
cat > host.c <<'C'
#include <dlfcn.h>
int main(int count, char** words) {
  void* cuda = count > 1 ? dlopen(words[1], RTLD_NOW) : 0;
  int (*init)(unsigned) = (int (*)(unsigned))dlsym(cuda, "cuInit");
  int (*launch)() = (int (*)())dlsym(cuda, "cuLaunchKernel");
  init(0);
  for (int i = 0; i < 50; ++i) launch("work", 132, 1, 1, 128, 1, 1, 0, (void*)0, (void*)0, (void*)0);
  return 0;
}
C
if gcc -fsanitize=leak -o host host.c -ldl 2> /dev/null && ! ldd "$build/libgpufathom_inject.so" | grep -q 'lib[a-z]*san'; then
  kernels leaks.gpf ./host "$build/fakes/libcuda.so.1" 2> leaks.err; is "a program under LeakSanitizer ends with" $? 0
  is "and its kernels are there" "$(ask leaks.gpf "select count(*) from activities")" 50
fi

# Processes that mean harm. The recorder has few descriptors.
version=$(sed -n 's/.*kVersion = \([0-9]*\);.*/\1/p' "$here/../../src/collect/inject/stream.h")
for mode in trunc unsealed link hard fifo huge folder noise many; do
  python3 "$here/hostile_page.py" $mode "$version" > ready.$mode & trap=$!
  wait_for grep -q ready ready.$mode
  (ulimit -n 128; exec "$gf" record --pid $trap --kernels --window 0 -o $mode.gpf) 2> $mode.err & recorder=$!
  wait_for grep -q 'attacked\|page that the library' ready.$mode $mode.err
  kill -TERM $recorder; wait $recorder; code=$?
  case $mode in
    trunc | unsealed) is "$mode: refused, exit code and rows" "$code $(count $mode.gpf kernels_not_recorded)" "1 1" ;;
    *) check "$mode: the recorder ends well ($code)" [ $code -le 1 ]
       check "$mode: a row" [ "$(count $mode.gpf bad_agent_file)" -ge 1 ] ;;
  esac
  is "$mode: no kernel, a whole file" "$(ask $mode.gpf "select count(*) from activities") $(ask $mode.gpf "select count(*) from metadata where key = 'record.complete'")" "0 1"
  kill $trap; wait $trap 2>/dev/null
done
is "nothing is left of them" "$(ls -A | grep -c gpufathom-)" 0

# Another user of the machine finds no way in.
if [ "$(id -u)" = 0 ]; then
  kernels watched.gpf "$program" init launch=work*100 serve="$work/done" & recorder=$!
  for _ in $(seq 300); do ls -d .gpufathom-*/*/*.rec > found 2>/dev/null && break; sleep 0.1; done
  inner=$(dirname "$(cat found)")
  setpriv --reuid 12345 --regid 12345 --clear-groups sh -c 'ls .gpufathom-*/ && echo in; ls "$1"' sh "$inner" > other.txt 2>&1
  check "a third user cannot list it" sh -c '! grep -q "^in\|[0-9]\.rec" other.txt'
  # Even who was told its name writes for nobody else.
  setpriv --reuid 12345 --regid 12345 --clear-groups sh -c 'cp "$0" "$1/$2.rec"' "$(command -v true)" "$inner" "$recorder" 2> /dev/null
  touch "$work/done"; wait $recorder
  is "kernels are the program's own" "$(ask watched.gpf "select count(distinct pid) from activities")" 1
fi

# A disk that is full for as long as it takes to lose records.
if record_on_full_disk; then
  check "disk full for a while: rows of it" [ "$(count full/x.gpf lost_records)" -ge 1 ]
  is "disk full for a while: analyze ends with" "$(analyzed full/x.gpf)" 1
  launched=$((300 + 5 * $(sed 's/answered //' served.txt))) got=$(ask full/x.gpf "select count(*) from activities")
  check "disk full for a while: each kernel is there or counted" [ $((got + $(count full/x.gpf lost_records))) -ge "$launched" ]
  [ $failures = 0 ] || { ask full/x.gpf "select * from quality"; cat full.txt; }
  umount full
else
  echo "skip  disk full (no right to mount)"
fi

[ $failures = 0 ] && echo "all well" || { echo "$failures failed"; exit 1; }
