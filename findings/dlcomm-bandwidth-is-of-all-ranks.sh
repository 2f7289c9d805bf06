#!/usr/bin/env bash
# Guess: the bandwidth of DLComm is size over time of a collective (algbw of nccl-tests), or that times the operation's
# factor (busbw).
# So it is: it is the buffer times the number of ranks over the time, for each operation: an all-reduce on 8 GPUs whose links
# move 450 GB/s is 2057, a broadcast 3600; an all-gather has its algbw, 514. Across nodes the ranks are taken for those of
# one node: an all-reduce of 2 nodes with 8 GPUs each at 50 GB/s is 400. For "flatview" all ranks of MPI count, also
# those that take no part: 16 for 8 make 4114.
# Why: the numbers lie above what the wires can do, and those of two operations or modes are not comparable.
# Versions: dlcomm 0.3.5, omegaconf 2.3.0. MPI is stood in for, the times are given.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-deps dlcomm==0.3.5
"$tmp/venv/bin/pip" install -q omegaconf==2.3.0 numpy==2.4.6
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib.metadata, sys, types
world = types.SimpleNamespace(Get_rank=lambda: 0, gather=lambda data, root: [data])
sys.modules["mpi4py"] = types.ModuleType("mpi4py")
sys.modules["mpi4py"].MPI = types.SimpleNamespace(COMM_WORLD=world)
sys.modules.setdefault("torch", types.ModuleType("torch"))
from dl_comm.analysis.bandwidth import gather_and_print_all_bandwidths
from dl_comm.timer.timer import TIMES, reset_times
from omegaconf import OmegaConf
print("dlcomm", importlib.metadata.version("dlcomm"))
SIZE = 10**9


class Log:
    def output(self, line):
        if line[:1].isdigit():
            shown.append(float(line.split()[1]) / 1e9)

    info = warning = output


# A label of DLComm, its mode, ranks in the group, all ranks, and the speed of each rank's links in GB/s.
for title, label, mode, ranks, all_ranks, links in (("all-reduce of 8 GPUs", "(Flatview)", "flatview", 8, 8, 450), ("broadcast", "(Flatview)", "flatview", 8, 8, 450),
                                                    ("all-gather", "(Flatview)", "flatview", 8, 8, 450), ("all-reduce of 8 of 16 ranks", "(Flatview)", "flatview", 8, 16, 450),
                                                    ("all-reduce in a node of 8", "(Within-Group-0)", "within", 8, 16, 450),
                                                    ("all-reduce of 2 nodes", "(Across-Group-0)", "across", 2, 16, 50)):
    factor = 2 * (ranks - 1) / ranks if "reduce" in title else 1 if title == "broadcast" else ranks - 1
    seconds = SIZE * factor / links / 1e9  # The buffer of a gather is what each rank gives; nccl-tests' size is that of all.
    shown = []
    reset_times()
    TIMES[label].append(seconds)
    gather_and_print_all_bandwidths(Log(), None, all_ranks, [0], adjusted_buffer_sizes={mode: SIZE}, current_comm_mode=mode,
                                    current_mode_cfg=OmegaConf.create({"num_devices_per_node": 8, "num_compute_nodes": 1 if mode == "flatview" else 2}), collective_name=title)
    print(f"{title}: {shown[0]:.0f} GB/s, algbw {SIZE * (ranks if 'gather' in title else 1) / seconds / 1e9:.0f}, busbw {links}")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
dlcomm 0.3.5
all-reduce of 8 GPUs: 2057 GB/s, algbw 257, busbw 450
broadcast: 3600 GB/s, algbw 450, busbw 450
all-gather: 514 GB/s, algbw 514, busbw 450
all-reduce of 8 of 16 ranks: 4114 GB/s, algbw 257, busbw 450
all-reduce in a node of 8: 2057 GB/s, algbw 257, busbw 450
all-reduce of 2 nodes: 400 GB/s, algbw 50, busbw 50
END
