What a profile says of its program is kept without secrets: nowhere in the capture, not even where no view shows it.

  $ cat > trace.json << 'EOF'
  > {"cmdline": "python train.py --password hunter2 --lr 1", "env": {"HF_TOKEN": "hunter2", "OMP_NUM_THREADS": "8"},
  > "trace_id": "0123456789ABCDEF0123456789ABCDEF", "API_KEY": "hunter2", "traceEvents": [
  > {"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "python train.py --token hunter2"}},
  > {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 1, "dur": 1},
  > {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 3, "dur": 1, "args": {"device": 0, "stream": 7}}]}
  > EOF
  $ gpufathom import trace.json -o run.gpf > import.out 2>&1; grep -c hunter2 run.gpf
  0
  [1]
  $ gpufathom query run.gpf "select key, value from metadata order by key" --format csv
  key,value
  API_KEY,***
  cmdline,python train.py --password *** --lr 1
  env,"{""HF_TOKEN"":""***"",""OMP_NUM_THREADS"":""8""}"
  trace_id,0123456789ABCDEF0123456789ABCDEF
  $ gpufathom query run.gpf "select distinct process_name from threads" --format csv
  process_name
  python train.py --token ***
