#!/usr/bin/env bash
# Guess: the "algbw" of DeepSpeed's communication log is size over time, as in nccl-tests and in the other
# rows of the same log, and busbw is algbw times a factor of the number of ranks.
# So it is: for all_reduce algbw is twice size over time, while busbw is that of nccl-tests; so with few
# ranks algbw is above busbw (16 against 12 Gbps for 4 ranks, 8 expected), which nccl-tests never shows for
# all_reduce with more than two ranks. The other operations agree. Units are gigabit, not gigabyte.
# Why: algbw of all_reduce compared with nccl-tests or a link's rate looks twice (in GB/s: 16 times) too good.
# Versions: deepspeed 0.19.8, torch 2.13.0, numpy 2.4.6 (CPU).
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6 setuptools==80.9.0 wheel
DS_BUILD_OPS=0 "$tmp/venv/bin/pip" install -q --no-build-isolation deepspeed==0.19.8
"$tmp/venv/bin/python" - >"$tmp/all" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import deepspeed.comm
from deepspeed.utils.comms_logging import calc_bw_log
ranks = 4
deepspeed.comm.get_world_size = lambda *a: ranks
for operation in ("all_to_all_single", "broadcast", "all_reduce"):
    algbw, busbw = calc_bw_log(operation, 1_000_000, 1.0)  # 1 MB in 1 ms is 8 Gbps
    print("SEEN", operation, "algbw", algbw, "busbw", busbw)
PY
grep SEEN "$tmp/all" >"$tmp/seen"
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
SEEN all_to_all_single algbw 8.0 busbw 6.0
SEEN broadcast algbw 8.0 busbw 8.0
SEEN all_reduce algbw 16.0 busbw 12.0
END
