Interleaved runs of a program alone and watched, over fake driver libraries.

  $ export GPUFATHOM_LIBRARY_PATH=$FAKES GPUFATHOM_FAKE= PATH=$(dirname $(command -v gpufathom)):/usr/bin:/bin
  $ gpufathom overhead --rounds 2 --format json -- sleep 0.1 2>/dev/null | jq -c '.rows[] | select(.name | test("none|record|monitor")) | [.name, (.seconds | length), .failed, .median_seconds > 0.09, .disk_bytes > 0]'
  ["none",2,"",true,false]
  ["record",2,"",true,true]
  ["record --kernels",2,"",true,true]
  ["monitor",2,"",true,false]

A program that fails alone cannot be compared.

  $ gpufathom overhead --rounds 1 -- false 2>&1 | tail -1
  gpufathom: the program itself fails: the run ended with 1

Chosen tools, and a number that the program prints itself.

  $ gpufathom overhead --rounds 2 --only record,monitor --measure step_ms --svg chart.svg -- sh -c 'sleep 0.1; echo "{\"step_ms\": 12.5}"' 2>/dev/null | sed -E 's/ +[0-9.]+ s/ T/g; s/[0-9.]+ [kM]B/SIZE/g; s/  +/  /g'
    watched by  wall  slower  noise  tool CPU  tool mem  GPU mem  on disk
    none T  -  0.0 %  -  -  -  -
    record T  +0.0 %  0.0 % T  SIZE  -  SIZE
    monitor T  +0.0 %  0.0 % T  SIZE  -  -
  
    record  +0.0 %
    monitor  +0.0 %
    slower: "step_ms" as the program prints it, against none of the same round
  $ grep -c '<rect' chart.svg
  3
  $ gpufathom overhead --rounds 1 --measure step_ms -- sleep 0.1 2>&1 | tail -1
  gpufathom: the program prints no "step_ms": NUMBER

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
