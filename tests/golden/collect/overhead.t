Interleaved runs of a program alone and watched, over fake driver libraries.

  $ export GPUFATHOM_LIBRARY_PATH=$FAKES GPUFATHOM_FAKE=processes=0,utilization=0 PATH=$(dirname $(command -v gpufathom)):/usr/bin:/bin
  $ gpufathom overhead --rounds 2 --format json -- sleep 0.1 2>/dev/null | jq -c '.rows[] | select(.name | test("none|record|monitor")) | [.name, (.seconds | length), .failed, .median_seconds > 0.09, .disk_bytes > 0]'
  ["none",2,"",true,false]
  ["record",2,"",true,true]
  ["record --kernels",2,"",true,true]
  ["monitor",2,"",true,false]

All GPUs are watched unless some are chosen; a missing utilization would be no number.

  $ for devices in all 0; do GPUFATHOM_FAKE= gpufathom overhead --shared --rounds 1 --only none --devices $devices --format json -- sleep 1 2>/dev/null | jq -c '.rows[] | [.name, .gpu_utilization]'; done
  ["none",0.91]
  ["none",0.91]

A tool that is not there is missed.

  $ gpufathom overhead --rounds 1 --only tcpdump -- true 2>&1 >table | tail -1
  gpufathom: incomplete result: tcpdump: not on this machine, or not for this command

Of several GPUs some can be watched.

  $ gpufathom overhead --rounds 1 --devices 0 --only record --format json -- true 2>/dev/null | jq -c '.rows[] | [.name, .failed]'
  ["none",""]
  ["record",""]
  $ gpufathom overhead --rounds 1 --devices 7 -- true
  gpufathom: there is no device 7 (this machine has devices 0 to 0)
  [1]

Where others use the GPUs, their work would count: it says who, and measures only when that is wanted.

  $ GPUFATHOM_FAKE= gpufathom overhead --rounds 1 --only record -- true 2>&1 | sed 's/0: [^(;]* (1)/0: NAME (1)/'
  gpufathom: others use the GPUs that are measured (GPU 0: NAME (1) holds 11.81 GB): their work would count as overhead. End it, choose other GPUs with --devices, or pass --shared
  $ GPUFATHOM_FAKE=processes=0 gpufathom overhead --rounds 1 --only record -- true
  gpufathom: others use the GPUs that are measured (GPU 0: 91 % utilization): their work would count as overhead. End it, choose other GPUs with --devices, or pass --shared
  [1]
  $ GPUFATHOM_FAKE= gpufathom overhead --shared --rounds 1 --only record --format json -- true 2>/dev/null | jq -r '(.rows | length), .note' | sed 's/0: [^(;]* (1)/0: NAME (1)/; s/[0-9.]* s alone/T alone/'
  2
  Others used the GPUs (GPU 0: NAME (1) holds 11.81 GB): slowdowns and intervals include their work. The program runs for T alone: slowdowns and the tools' CPU include start-up. Run it for 30 s or more, where start-up is negligible.
  $ gpufathom overhead --rounds 1 --only record --format json -- true 2>/dev/null | jq -c .shared
  ""

A program that fails alone cannot be compared.

  $ gpufathom overhead --rounds 1 -- false
  gpufathom: the program itself fails: the run ended with 1
  [1]
  $ gpufathom overhead -- ./no-such-program
  gpufathom: ./no-such-program: the command is not found
  [1]
  $ gpufathom overhead -- sh -c 'kill -9 $$'
  gpufathom: the program itself fails: the run was killed by signal 9
  [1]

Chosen tools, and a number that the program prints itself.

  $ gpufathom overhead --rounds 2 --only record,monitor --measure step_ms --svg chart.svg -- sh -c 'sleep 0.1; echo "{\"step_ms\": 12.5}"' 2>/dev/null | sed -E 's/ +[0-9.]+ s/ T/g; s/[0-9.]+ [kM]B/SIZE/g; s/  +/  /g;  s/ 0.0 % / - /'
    watched by  wall  slower  95 %  tool CPU  tool mem  on disk
    none T  -  -  -  -  -
    record T  +0.0 %  +0.0 to +0.0 % T  SIZE  SIZE
    monitor T  +0.0 %  +0.0 to +0.0 % T  SIZE  -
  
    watched by  GPU used  GPU mem  CPU in all  convert  analyse
    none  -  - T  -  -
    record  -  - T  - T
    monitor  -  - T  -  -
  
    record  +0.0 %
    monitor  +0.0 %
    slower: "step_ms" as the program prints it, against none of the same round
    The program runs for T alone: the tools' CPU and GPU utilization include
    start-up. Run it for T or more, where start-up is negligible.
  $ grep -c '<rect' chart.svg
  3
  $ gpufathom overhead --measure step_ms -- sleep 0.1
  gpufathom: the program itself fails: it printed no "step_ms": NUMBER
  [1]

Each tool answers for itself: one that fails or ends early costs its row alone. (An interval needs two rounds.)

  $ mkdir bin work && printf '#!/bin/sh\necho no driver >&2; exit 9\n' > bin/nvidia-smi && printf '#!/bin/sh\nexit 0\n' > bin/dcgmi && printf '#!/bin/sh\nexit 4\n' > bin/nsys && chmod +x bin/*
  $ PATH=$PWD/bin:$PATH gpufathom overhead --rounds 1 --only 'record,nvidia-smi -l 1,dcgmi dmon,nsys' --measure n -- sh -c 'echo "\"n\": 4"; sleep 0.4' 2>&1 | sed -E 's/ +[0-9]+\.[0-9]+ s/ T/g; s/[0-9.]+ [kM]B/SIZE/g; s/, n 4$//; s/  +/  /g;  s/ 0.0 % / - /'
  round 1 of 1: none T
  round 1 of 1: record T
  no driver
  round 1 of 1: nvidia-smi -l 1 T
  round 1 of 1: dcgmi dmon T
  round 1 of 1: nsys T
    watched by  wall  slower  95 %  tool CPU  tool mem  on disk
    none T  -  -  -  -  -
    record T  +0.0 %  - T  SIZE  SIZE
    nvidia-smi -l 1: the tool ended with 9
    dcgmi dmon: the tool ended before the program
    nsys: the run ended with 4
  
    watched by  GPU used  GPU mem  CPU in all  convert  analyse
    none  -  - T  -  -
    record  -  - T  - T
  
    record  +0.0 %
    slower: "n" as the program prints it, against none of the same round
    The program runs for T alone: the tools' CPU and GPU utilization include
    start-up. Run it for 30 s or more, where start-up is negligible.
  gpufathom: incomplete result: nvidia-smi -l 1: the tool ended with 9
  gpufathom: incomplete result: dcgmi dmon: the tool ended before the program
  gpufathom: incomplete result: nsys: the run ended with 4
  $ printf '#!/bin/sh\ntr "\\0" " " < /proc/$PPID/cmdline | grep -q " record -q " || echo "\\"n\\": 4"\n' > bin/quiet && chmod +x bin/quiet
  $ gpufathom overhead --rounds 1 --only record --measure n --format json -- bin/quiet 2>/dev/null | jq -c '.rows[] | [.name, .failed, .slow_down]'
  ["none","",0]
  ["record","it printed no \"n\": NUMBER",null]

A signal ends it with the table of the runs until then; nothing is left.

  $ cat > stop.py <<'PY'
  > import os, signal, subprocess, sys, time
  > signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell starts jobs in the background with it ignored
  > p = subprocess.Popen(["gpufathom", "overhead", "--rounds", "100", "--only", "record", "--", "sleep", "0.2"], stdout=open("table", "w"), stderr=subprocess.PIPE, text=True)
  > lines = 0
  > for line in p.stderr:
  >     lines += line.startswith("round")
  >     if lines == 3: p.send_signal(getattr(signal, sys.argv[1])); lines += 1
  >     elif "stopped" in line: print(line, end="")
  > print("exit", p.wait())
  > PY
  $ for signal in SIGINT SIGTERM SIGHUP; do TMPDIR=$PWD/work python3 stop.py $signal; awk '/^  (none|record) / {print $1}' table | head -2; done
  gpufathom: stopped: the table has the runs until then
  exit 1
  none
  record
  gpufathom: stopped: the table has the runs until then
  exit 1
  none
  record
  gpufathom: stopped: the table has the runs until then
  exit 1
  none
  record
  $ ls work

Under torch.profiler a Python program runs as it would alone.

  $ mkdir torch && touch torch/__init__.py && cat > torch/profiler.py <<'PY'
  > class ProfilerActivity: CPU, CUDA = 1, 2
  > class profile:
  >     def __init__(self, activities): pass
  >     def __enter__(self): return self
  >     def __exit__(self, *_): return False
  >     def export_chrome_trace(self, path): open(path, "w").write("{}")
  > PY
  $ printf 'import sys\nprint("{\\"n\\": %%d}" %% len(sys.argv))\nsys.exit(0 if __name__ == "__main__" else 3)\n' > prog.py
  $ PYTHONPATH=$PWD gpufathom overhead --rounds 1 --only torch.profiler --measure n --format json -- python3 -u prog.py a b 2>/dev/null | jq -c '.rows[] | [.name, .measured, .failed, .disk_bytes]'
  ["none",[3],"",0]
  ["torch.profiler",[3],"",2]

What a tool leaves is converted by the tool and analysed; its own processes are told apart from the program's.

  $ cat > bin/nsys <<'SH'
  > #!/bin/bash
  > if [ "$1" = export ]; then cp "$EXAMPLES/lenet_train_b64.json.gz" "$7"; exit; fi
  > out=$3; shift 5; "$@" & program=$!
  > end=$((SECONDS + 2)); while [ $SECONDS -lt $end ]; do :; done
  > wait $program; code=$?; echo report > "$out.nsys-rep"; exit $code
  > SH
  $ PATH=$PWD/bin:$PATH gpufathom overhead --rounds 1 --only record,nsys,top --format json -- bash -c 'end=$((SECONDS + 2)); while [ $SECONDS -lt $end ]; do :; done; sleep 1.5' > rows.json 2>/dev/null
  $ jq -c '.rows[] | [.name, .failed, .tool_cpu_seconds != null, .convert_seconds != null, .analyse_seconds != null]' rows.json
  ["none","",false,false,false]
  ["record","",true,false,true]
  ["top","",true,false,false]
  ["nsys","",true,true,true]
  $ jq '.rows[] | select(.name == "nsys") | .tool_cpu_seconds > 0 and .tool_cpu_seconds < .cpu_seconds and .tool_memory_bytes > 0' rows.json
  true
