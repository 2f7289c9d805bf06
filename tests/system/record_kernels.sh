#!/usr/bin/env bash
# `record --kernels` over the fake driver libraries, with the agent inside a program that launches, forks, execs and dies on demand
# (tests/fakes/program.cpp). Usage: record_kernels.sh BUILD_DIR
set -uo pipefail
build=$(cd "$1" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
gf=$build/gpufathom program=$build/fakes/program
export GPUFATHOM_LIBRARY_PATH=$build/fakes GPUFATHOM_FAKE=
work=$(mktemp -d)
cd "$work"
export GPUFATHOM_FAKE_LOG=$work/cupti.log
trap 'umount "$work/full" 2>/dev/null; rm -rf "$work"' EXIT
source "$root/tests/system/recording.bash"
ask() { "$gf" query "$1" "$2" --format csv | tail -n +2; }
holds() { [ "$(ask "$1" "select ($2)" 2>/dev/null)" = 1 ]; }  # holds CAPTURE CONDITION
windows() { holds "$1" "(select count(*) from recording_windows) >= $2"; }
kernels_are() { holds "$1" "(select count(*) from activities) >= $2"; }
kernels_last() { holds "$1" "(select count(*) >= 100 and max(start_ns) - min(start_ns) > $2 from activities)"; }
# A program that works until the capture holds what is asked: until OUTPUT CONDITION... -- RECORD_OPTIONS... -- BEFORE... (serve) -- AFTER...
until_it() {
  local capture=$1 condition=() options=() before=(); shift
  while [ "$1" != -- ]; do condition+=("$1"); shift; done; shift
  while [ "$1" != -- ]; do options+=("$1"); shift; done; shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do before+=("$1"); shift; done; [ $# -gt 0 ] && shift
  rm -f "$work/enough"
  "$gf" record --kernels "${options[@]}" -o "$capture" -- "$program" init "${before[@]}" serve="$work/enough" "$@" > "$capture.out" 2> "$capture.err" & local recorder=$!
  wait_for "${condition[0]}" "$capture" "${condition[@]:1}"
  touch "$work/enough"
  wait $recorder
}
all() { "$gf" record -q --kernels --window 0 -o "$1" -- "${@:2}"; }

all a.gpf "$program" init push=gpufathom.step launch=gemm*5 copy pop mark=here sleep=10 launch=f
is "kernels, by their own names" "$(ask a.gpf "select group_concat(name || ' ' || n) from (select name, count(*) n from activities where kind = 'kernel' group by name order by name)")" '"f 1,gemm 5"'
is "copies" "$(ask a.gpf "select copy, bytes from activities where kind = 'memcpy'")" host_to_device,1048576
is "every launch has its call" "$(ask a.gpf "select count(*) from activities a join api_calls c using (correlation) where c.start_ns <= a.start_ns")" 7
is "a step, and its kernels in it" "$(ask a.gpf "select count(*) from activities a, steps s where a.start_ns >= s.start_ns and a.start_ns + a.duration_ns <= s.start_ns + s.duration_ns")" 6
is "a mark" "$(ask a.gpf "select duration_ns from host_ops where name = 'here'")" 0
is "a window that holds all" "$(ask a.gpf "select count(*) from activities a, recording_windows w where a.start_ns >= w.start_ns and a.start_ns + a.duration_ns <= w.start_ns + w.duration_ns")" 7
is "the GPU is the recorded one" "$(ask a.gpf "select count(*) from devices")" 1
all wide.gpf "$program" init push=outer sleep=50 wide=inner sleep=50 pop sleep=100 pop
is "ranges of wide characters are on the same stack" "$(ask wide.gpf "select a.duration_ns >= 195e6, b.duration_ns >= 45e6, b.start_ns >= a.start_ns + 45e6, b.start_ns + b.duration_ns + 95e6 <= a.start_ns + a.duration_ns from host_ops a, host_ops b where a.name = 'outer' and b.name = 'inner'")" 1,1,1,1
all domains.gpf "$program" init in=a:first sleep=100 in=b:second sleep=20 out=a sleep=30 out=b out=b
is "a domain has a stack of its own" "$(ask domains.gpf "select a.duration_ns >= 115e6, b.duration_ns >= 45e6, a.start_ns + 95e6 <= b.start_ns, a.start_ns + a.duration_ns + 25e6 <= b.start_ns + b.duration_ns from host_ops a, host_ops b where a.name = 'first' and b.name = 'second'")" 1,1,1,1

# Processes.
all fork.gpf "$program" init launch=parent fork sleep=20 join launch=parent
is "a forked child that ends with exit()" "$(ask fork.gpf "select count(*) from activities")" 2
check "CUPTI is left alone in it" [ ! -e cupti.log ]
all names.gpf "$program" register=both push=before pop fork push=@ pop push=child pop init launch=child join push=@ pop init launch=parent
is "names that were registered before a fork" "$(ask names.gpf "select group_concat(name || ' ' || n) from (select name, count(*) n from host_ops group by name order by name)")" '"before 1,both 2,child 1"'
is "threads of the child are its own" "$(ask names.gpf "select count(*), sum(pid = tid) from threads")" 2,2
all exec.gpf "$program" init launch=first*250 exec init launch=second*20
is "a program that execs" "$(ask exec.gpf "select count(*) from activities where name = 'second'")" 20
is "has a window for each life" "$(ask exec.gpf "select count(*), max(start_ns + duration_ns) - min(start_ns) > sum(duration_ns) from recording_windows")" 2,1
is "that hold all" "$(ask exec.gpf "select count(*) from activities a where not exists (select 1 from recording_windows w where a.start_ns >= w.start_ns and a.start_ns + a.duration_ns <= w.start_ns + w.duration_ns)")" 0
until_it killed.gpf kernels_are 40 -- -q --window 0 -- -- kill 2> /dev/null; is "a killed program: its code" $? 137
check "and its kernels but the last" kernels_are killed.gpf 40
all quiet.gpf "$program" push=gpufathom.step pop push=range pop
is "ranges of a program that never uses CUDA" "$(ask quiet.gpf "select (select count(*) from host_ops), (select count(*) from steps)")" 2,1

# Windows. After the first they open on multiples of --every on the clock.
until_it windows.gpf windows 2 -- --window 0.3 --every 3 --delay 0.8 -- push=early pop -- push=late pop
is "windows of their length" "$(ask windows.gpf "select count(*), min(duration_ns) > 290e6 from recording_windows")" 2,1
check "a window that opens late has its launch calls" [ "$(ask windows.gpf "select count(*) * 10 >= 9 * (select count(*) from activities) from activities a where exists (select 1 from api_calls c where c.correlation = a.correlation)")" = 1 ]
is "the second on a multiple of --every" "$(ask windows.gpf "select max(start_ns) % 3000000000 < 500e6 from recording_windows")" 1
# A kernel that runs while a window is closed may still come.
is "nothing outside them" "$(ask windows.gpf "select (select count(*) from host_ops o where name != 'gpufathom.step' and not exists (select 1 from recording_windows w where o.start_ns between w.start_ns and w.start_ns + w.duration_ns)), (select count(*) from activities) - (select count(*) from activities a, recording_windows w where a.start_ns + a.duration_ns between w.start_ns and w.start_ns + w.duration_ns) <= 2 * (select count(*) from recording_windows)")" 0,1
check "and the summary says so" grep -q 'recorded in 2 windows' windows.gpf.err
until_it steps.gpf windows 1 -- -q --steps 5 --
is "a window of steps" "$(ask steps.gpf "select count(distinct w.start_ns), count(*) >= 4, count(*) < (select count(*) from steps) from steps s, recording_windows w where s.start_ns >= w.start_ns and s.start_ns + s.duration_ns <= w.start_ns + w.duration_ns")" 1,1,1
is "steps outside windows count" "answered $(ask steps.gpf "select count(*) from steps")" "$(cat steps.gpf.out)"

steady="has become steady: kernels are recorded for 5 s"
works_on() { grep -q "$steady" auto.gpf.err && holds auto.gpf "(select count(*) from activities a where a.start_ns > 5e8 + (select max(start_ns + duration_ns) from recording_windows)) > 50"; }
until_it auto.gpf works_on -- --
check "without options a window opens where the work is steady" [ "$(ask auto.gpf "select count(*) >= 2 and max(duration_ns) > 1.9e9 from recording_windows")" = 1 ]
check "and says when" grep -q "s: the GPU's activity $steady" auto.gpf.err
check "as the capture does" [ "$(ask auto.gpf "select value like 'steady at %' from metadata where key = 'record.windows'")" = 1 ]

# The machine's GPU works all the time: for a program that has no kernel in its first window, work begins when that is over, and is
# steady as soon.
"$gf" record -q --kernels -o late.gpf -- "$program" init sleep=4000 launch=work*200 sleep=300
is "no kernel in the first window: another opens when the GPU works" "$(ask late.gpf "select (select count(*) from activities) > 0, value like 'begun at %' or value like 'steady at %' from metadata where key = 'record.windows'")" 1,1

# Records that cannot be believed.
GPUFATHOM_FAKE=timeless=5 all timeless.gpf "$program" init launch=work*100 sleep=400 launch=last
is "kernels without a time are counted, not recorded" "$(ask timeless.gpf "select (select count(*) from activities), (select count from quality where code = 'no_time')")" 81,20
GPUFATHOM_FAKE=timeless=5 "$gf" record --kernels --window 0 -o timeless.gpf -- "$program" init launch=work*50 sleep=400 launch=last 2> timeless.txt
check "and the summary says so" grep -q '10 of 51 records .* are dropped' timeless.txt

# CUDA graphs.
all graph.gpf "$program" init graph=20*10
all captured.gpf "$program" init push=first capture=2 pop push=second capture=2 pop push=third capture=1 pop ready=0 graph=5*4
is "nodes of a graph are those of the calls that were captured" "$(ask captured.gpf "select count(*), count(distinct c.row) from activities a join api_calls c on c.correlation = a.graph_node - (1 << 48) where c.kind = 'other'")" 20,5
is "and find the range around them" "$(ask captured.gpf "select group_concat(module || ' ' || n) from (select module, count(*) n from attributed_kernels group by 1)")" '"first 8,second 8,third 4"'
is "kernels of graphs by node, with the launch of the graph" "$(ask graph.gpf "select count(*), count(distinct graph_node), count(distinct a.correlation), min(c.name) from activities a join api_calls c using (correlation) where graph_id = 3")" 200,20,10,cuGraphLaunch

# What an H200 did and no manual says: graphs that are traced on after a window, kernels that have not run when a window ends,
# a window in which launches come and no kernel.
GPUFATHOM_FAKE=lingering_graphs=1 "$gf" record -q --kernels --window 0.4 --every 1.2 -o lingering.gpf -- "$program" init launch=work*600ms graph=20*900
is "graphs that are traced on between windows: nothing of it" "$(ask lingering.gpf "select count(*) from activities a where not exists (select 1 from recording_windows w where a.start_ns + a.duration_ns > w.start_ns and a.start_ns < w.start_ns + w.duration_ns)")" 0
GPUFATHOM_FAKE=behind_ms=60 until_it behind.gpf windows 2 -- -q --window 0.4 --every 3 --
is "kernels that a window ends before: no damage" "$(ask behind.gpf "select (select count(*) from recording_windows), (select count(*) from quality where code in ('no_time', 'no_kernel'))")" 2,0
is "and no other" "$(ask behind.gpf "select count(*) from activities a where not exists (select 1 from recording_windows w where a.start_ns + a.duration_ns > w.start_ns and a.start_ns < w.start_ns + w.duration_ns)")" 0
GPUFATHOM_FAKE=silent_window=1,kernel_us=20 until_it silent.gpf kernels_last 3e8 -- -q --window 0 --
is "a window without its kernels is begun again" "$(ask silent.gpf "select count(*) >= 1, min((select count(*) from activities a where a.start_ns between w.start_ns and w.start_ns + w.duration_ns) > 20) from recording_windows w where duration_ns > 2e8")" 1,1
check "and what is lost is told" [ "$(ask silent.gpf "select count > 50 from quality where code = 'no_kernel'")" = 1 ]
numbers="select count(*) >= 2, min(calls > 20), min(calls = numbers) from (
  select count(*) as calls, count(distinct correlation) as numbers
  from recording_windows w, api_calls a
  where w.duration_ns > 2e8 and a.start_ns between w.start_ns and w.start_ns + w.duration_ns
  group by w.start_ns)"
joins_nothing="select count(*) from quality where code in ('no_launch', 'no_kernel', 'repeated_call')"
GPUFATHOM_FAKE=blocking=1,kernel_us=300 until_it numbers.gpf windows 3 -- -q --window 0.3 --every 0.6 --
is "windows that end inside a call: later calls have numbers of their own" \
  "$(ask numbers.gpf "$numbers")" 1,1,1
is "and kernels their launch" "$(ask numbers.gpf "$joins_nothing")" 0
GPUFATHOM_FAKE=blocking=1,kernel_us=300 until_it between.gpf windows 1 -- -q --own-profiler --window 0.3 -- -- launch=work*300 sleep=300 subscribe let-go launch=work*100
check "a profiler of the program's own has CUPTI after the window" \
  sh -c '! grep -q "CUPTI is taken" between.gpf.err'
GPUFATHOM_FAKE=disabling=2 until_it copies.gpf windows 2 -- -q --window 0.3 --every 0.6 -- copy -- copy; is "a program in which nothing may be switched off: exit code" $? 0
check "its windows have kernels" [ "$(ask copies.gpf "select count(*) >= 2 and min((select count(*) from activities a where a.start_ns between w.start_ns and w.start_ns + w.duration_ns)) > 20 from recording_windows w where duration_ns > 2e8")" = 1 ]
GPUFATHOM_FAKE=copies_run=1,kernel_us=200 until_it partial.gpf windows 3 -- -q --window 0.4 --every 0.8 -- copy
lost="(select count(*) from api_calls c where c.name like '%Launch%' and c.start_ns >= w.start_ns
  and c.start_ns < w.start_ns + w.duration_ns
  and c.correlation not in (select correlation from activities))"
last="(select max(start_ns) from recording_windows)"
is "a copy always under way: no launch of a window lacks its kernel" "$(ask partial.gpf "
  select count(*) >= 1, max($lost) <= 1 as none, min(duration_ns) > 2e8
  from recording_windows w where start_ns < $last")" 1,1,1
is "and nothing is lost in them" "$(ask partial.gpf "select count(*) from quality where code in ('no_kernel', 'no_launch')")" 0
is "windows after the first open together in all processes: on multiples of --every" "$(ask partial.gpf "select count(*) > 0 and min(start_ns % 800000000) < 2e8 from recording_windows where start_ns > (select min(start_ns) from recording_windows)")" 1
"$gf" record --kernels --delay 5 -o never.gpf -- "$program" init launch=work*50 2> never.txt
check "a program that ends before --delay: the reason" grep -q 'no kernel was recorded: the program ended before the first window, 5 s after CUDA starts' never.txt

# Steps without NVTX.
all c.gpf "$program" begin launch=before end init end begin push=open launch=work*3 end begin fork end begin end join end pop end
is "steps from C: what began and ended where the agent is, once" "$(ask c.gpf "select count(*), (select count(*) from host_ops where name = 'open') from steps")" 3,1
is "and their kernels" "$(ask c.gpf "select count(*) from activities a, steps s where a.start_ns between s.start_ns and s.start_ns + s.duration_ns")" 3
steps=(); for _ in $(seq 150); do steps+=(begin launch=work*10 end); done
"$gf" record -q --kernels --steps 5 -o c-steps.gpf -- "$program" init "${steps[@]}"
check "a window of them" [ "$(ask c-steps.gpf "select count(distinct w.start_ns) = 1 and count(*) between 5 and 149 from steps s, recording_windows w where s.start_ns >= w.start_ns and s.start_ns + s.duration_ns <= w.start_ns + w.duration_ns")" = 1 ]
is "all of them" "$(ask c-steps.gpf "select count(*) from steps")" 150
# A sanitizer's runtime must be the first library of a process.
runtime=$(ldd "$build/libgpufathom_inject.so" | awk '/lib[a-z]*san/ {print $3}' | paste -sd:)
python=(env PYTHONPATH="$root/python" PYTHONDONTWRITEBYTECODE=1 LD_PRELOAD="$runtime" ASAN_OPTIONS=detect_leaks=0 python3 "$root/tests/fakes/steps.py" "$build/fakes/libcuda.so.1")
all python.gpf "${python[@]}" 6
is "steps from Python: those after CUDA began, in the process that began them" "$(ask python.gpf "select count(*), (select count(distinct pid) from threads) from steps")" 7,2
is "and their kernels" "$(ask python.gpf "select count(*) from activities a, steps s where a.start_ns between s.start_ns and s.start_ns + s.duration_ns")" 22
"$gf" record -q --kernels --steps 5 -o python-steps.gpf -- "${python[@]}" 300
check "a window of them" [ "$(ask python-steps.gpf "select count(distinct w.start_ns) = 1 and count(*) between 5 and 299 from steps s, recording_windows w where s.start_ns >= w.start_ns and s.start_ns + s.duration_ns <= w.start_ns + w.duration_ns")" = 1 ]
is "all of them" "$(ask python-steps.gpf "select count(*) from steps")" 301
"${python[@]}" 3; is "a program that is not recorded" $? 0
"$gf" record --kernels -o short.gpf -- "$program" init launch=work*20 2> short.txt
check "a program shorter than a window needs no advice" sh -c '! grep -q -- --window short.txt'

# Others, and losses.
GPUFATHOM_FAKE=subscriber=1 "$gf" record --kernels -o other.gpf -- "$program" init launch=work 2> other.txt; is "beside another profiler: the program goes on" $? 0
check "stands aside with one reason" [ "$(grep -c '^gpufathom: .*kernel' other.txt) $(grep -c 'another profiler is in the program' other.txt)" = "1 2" ]
"$gf" record --kernels --window 0 -o taken.gpf -- "$program" init take launch=work*2200ms 2> taken.txt
check "a profiler that receives CUPTI's buffers: the reason" grep -q "not recorded: another profiler in the program.*receives CUPTI" taken.txt
check "is also in the capture" [ "$(ask taken.gpf "select count > 100 from quality where code = 'kernels_taken'")" = 1 ]
"$gf" record --kernels --own-profiler --window 0 --delay 0.2 -o later.gpf -- "$program" init subscribe launch=first*900ms let-go launch=second*4000ms 2> later.txt
is "a profiler that holds CUPTI for a while: one reason" "$(grep -c '^gpufathom: kernels are not recorded: another profiler is in the program' later.txt)" 1
check "and kernels when it has let go" [ "$(ask later.gpf "select count(*) > 100 from activities where name = 'second'")" = 1 ]
if [ "$(id -u)" = 0 ]; then
  chmod 755 "$work"
  all user.gpf setpriv --reuid 65534 --clear-groups "$program" init launch=work*20
  is "a program of another user" "$(ask user.gpf "select count(*) from activities")" 20
  "$gf" record --kernels -o root.gpf -- python3 -c 'import os, time; os.chroot("/tmp"); time.sleep(1)' 2> root.txt
  check "a program in another root: the reason" grep -q 'not recorded: the program runs in another root' root.txt
fi
GPUFATHOM_FAKE=dropped=7 all dropped.gpf "$program" init launch=work
is "records that CUPTI dropped" "$(ask dropped.gpf "select count from quality where code = 'dropped_kernels'")" 7

# A recorder that is killed: the program goes on, and its agent clears up after both.
rm -f enough
"$gf" record -q --kernels --window 0 -o gone.gpf -- sh -c "$program init serve=$work/enough; echo survived > survived.txt" > gone.out & recorder=$!
wait_for kernels_are gone.gpf 30; kill -9 $recorder; wait $recorder 2>/dev/null
check "killed recorder: kernels so far" [ "$(ask gone.gpf "select count(*) from activities")" -ge 30 ]
gone() { [ -z "$(ls -A | grep gpufathom- || true)" ]; }
wait_for gone  # the library has seen it while the program works on
touch "$work/enough"; wait_for [ -e survived.txt ]
check "killed recorder: the program went on" [ -e survived.txt ]
check "killed recorder: nothing is left" [ -z "$(ls -A | grep gpufathom- || true)" ]

# Somebody looks into the capture all the time, from before it is there.
for round in 1 2 3; do
  "$gf" record -q --kernels --window 0 -o looked-at.gpf -- "$program" init launch=work*200 &
  recorder=$!
  while kill -0 $recorder 2>/dev/null; do
    ask looked-at.gpf "select count(*) from activities" > /dev/null 2>&1
  done
  wait $recorder; is "a capture that is looked into from its beginning, $round: exit code" $? 0
  is "all of it" "$(ask looked-at.gpf "select count(*) from activities")" 200
done

if record_on_full_disk; then
  is "disk full for a while: kernels before and after" "$(ask full/x.gpf "select sum(name = 'before'), sum(name = 'after') from activities")" 100,200
  check "disk full for a while: what is lost is said" grep -q 'the disk was full, or a file may not grow: [0-9]* records' full.txt
  umount full
else
  echo "skip  disk full (no right to mount)"
fi
check "no temporary folder left" [ -z "$(ls -A | grep gpufathom- || true)" ]

[ $failures = 0 ] && echo "all well" || { echo "$failures failed"; exit 1; }
