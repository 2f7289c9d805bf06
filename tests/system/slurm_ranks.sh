#!/usr/bin/env bash
# The captures of a job's ranks mapped by an array job of a real Slurm: the same files as the pool's, and a capture
# that cannot be read is listed. Usage: slurm_ranks.sh BUILD_DIR. Exit 77: not installed, no root, no pyarrow.
set -uo pipefail
build=$(cd "$1" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
source "$root/tests/system/slurm_cluster.bash"
slurm_is_here || exit 77
python=python3
[ ! -x "$root/.cache/python/bin/python" ] || python=$root/.cache/python/bin/python
"$python" -c 'import pyarrow' 2>/dev/null || { echo "pyarrow is not installed"; exit 77; }
python=$(command -v "$python")
export GPUFATHOM=$build/gpufathom PYTHONPATH=$root/python
work=$(mktemp -d); chmod 755 "$work"
pids=()
finish() { kill "${pids[@]}" 2>/dev/null; wait "${pids[@]}" 2>/dev/null; rm -rf "$work"; }
trap finish EXIT
fail() { echo "FAILED: $*"; tail -n 5 "$work"/*.out; exit 1; }
start_slurm "$work" || exit 77

for part in slow_input uneven_batch; do for rank in 0 1; do echo "$root/tests/ranks/captures/$part.rank$rank.json.gz"; done; done > captures.txt
"$python" -m gpufathom.ranks map --dataset by_pool $(cat captures.txt) > pool.out || fail "the pool"
head -c 2000 "$root/tests/ranks/captures/none.rank0.json.gz" | tail -c 500 > torn.json.gz
echo "$work/torn.json.gz" >> captures.txt
job=$(sbatch --parsable --array=0-4 --requeue -D "$work" -o "$work/%A-%a.out" \
  --wrap="$(printf %q "$python") -m gpufathom.ranks map --list captures.txt --dataset by_slurm; echo ended with \$?")
for _ in $(seq 600); do [ -z "$(squeue -h -j "$job" 2>/dev/null)" ] && break; sleep 0.2; done
digest() { "$python" -m gpufathom.ranks digest --dataset "$1"; }
[ "$(ls by_slurm/ranks | wc -l)" = 4 ] || fail "not every rank is there"
[ "$(digest by_slurm)" = "$(digest by_pool)" ] || fail "other files than the pool's"
[ "$(grep -h 'ended with' "$job"-*.out | sort | uniq -c | xargs)" = "4 ended with 0 1 ended with 1" ] || fail "what the tasks say"
[ "$(ls by_slurm/failed | wc -l)" = 1 ] || fail "a torn capture is not listed"
echo "ok: an array of five tasks, one with a torn capture, and the pool's files"
