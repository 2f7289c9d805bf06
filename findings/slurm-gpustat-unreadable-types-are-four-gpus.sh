#!/usr/bin/env bash
# Guess: slurm_gpustat shows the number and type of all GPUs that Slurm manages, and how many of them no job has.
# So it is: a type with a hyphen or a point in its name, as "rtx-a6000" or the MIG profile "a100_3g.40gb", is not read: each
# such node has four GPUs called NONAME_GPU, whether it has 8 cards or 14 instances. Jobs are asked for what they requested
# per node: those that requested by --gpus or --gpus-per-task hold nothing, so that a full node has 8 GPUs available.
# Why: jobs are sent where no GPU is free, and the count of a cluster depends on how its types are spelled.
# Versions: slurm-gpustat 0.0.15. sinfo, squeue and scontrol are stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-deps slurm-gpustat==0.0.15
"$tmp/venv/bin/pip" install -q numpy==2.4.6 pandas==2.3.3 termcolor==3.2.0 beartype==0.22.9 humanize==4.15.0 tabulate==0.9.0 humanfriendly==10.0
mkdir "$tmp/bin"
cat >"$tmp/bin/sinfo" <<'SH'
#!/bin/sh
case "$*" in
-V) echo 'slurm 24.05.8' ;;
*%1000G*) printf '%s\n' 'a|gpu:h100:8(S:0-1)' 'b|gpu:h100:8(S:0-1)' 'c|gpu:rtx-a6000:8(S:0-1)' 'd|gpu:a100_3g.40gb:14(S:0-1)' ;;
*) printf '%s\n' 'gpu* up infinite 2 alloc a,b' 'gpu* up infinite 2 idle c,d' ;;
esac
SH
cat >"$tmp/bin/squeue" <<'SH'
#!/bin/sh
echo 'gres/gpu:h100:8 a ann 1'
echo 'N/A b bob 2'
SH
printf '#!/bin/sh\necho "JobId=$4 JobName=train"\n' >"$tmp/bin/scontrol"
chmod +x "$tmp/bin/"*
cd "$tmp"
{
    "$tmp/venv/bin/python" -c 'import importlib.metadata; print("slurm-gpustat", importlib.metadata.version("slurm-gpustat"))'
    HOME="$tmp" PATH="$tmp/bin:$PATH" "$tmp/venv/bin/slurm_gpustat" --color 0
} >seen 2>err || { cat seen err; exit 1; }
cat seen
diff seen - <<'END'
slurm-gpustat 0.0.15

GPU model      all    online    available
-----------  -----  --------  -----------
total           24        24           16
h100            16        16            8
NONAME_GPU       8         8            8

user      total GPU's allocated  count per GPU
------  -----------------------  ---------------
ann                         8    h100: 8
END
