Damage costs the event that it hits, and every report says so.

  $ small-trace > sound.json; cat sound.json | gpufathom analyze /dev/stdin 2>&1 | head -1 | tr -s ' '
  pipe GPU, whole capture, 10.00 us
  $ brief sound.json
  events 2, device events 2, span 10000, busy 4000
  not_joined 2: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen
  $ event() { small-trace "$1" > t.json; brief t.json; }

Truncated gzip, truncated JSON:

  $ gzip -dc $EXAMPLES/lenet_train_b64.json.gz > whole.json
  $ head -c 20000 $EXAMPLES/lenet_train_b64.json.gz > cut.json.gz; brief cut.json.gz
  events 764, device events 12, span 492128, busy 29888
  truncated_json 1: the file ends before its list of events does (first at byte 260421)
  truncated_input 1: gzip data ends early at byte 20000 of the compressed file
  $ head -c 400000 whole.json > cut.json; brief cut.json
  events 1262, device events 121, span 9444442, busy 579716
  truncated_json 1: the file ends before its list of events does (first at byte 400000)
  calls_missing 313: of the 2 142 numbers of the runtime's calls, 313 in a row are not in the capture: the calls between were not recorded, and what they launched is missing
  $ head -c 100 whole.json > head.json; gpufathom analyze head.json
  gpufathom: head.json: has no list "traceEvents" (it is not a profiler trace, or was truncated before its first event)
  [1]

A wrong checksum, and bytes after the end:

  $ gzip -c sound.json > crc.gz; printf '\0\0\0\0' | dd of=crc.gz bs=1 seek=$(($(stat -c %s crc.gz) - 8)) conv=notrunc 2>/dev/null; brief crc.gz
  events 2, device events 2, span 10000, busy 4000
  bad_checksum 1: gzip checksum differs from the data at byte 162 of the compressed file
  not_joined 2: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen
  $ (gzip -c sound.json; echo more) > more.gz; brief more.gz
  events 2, device events 2, span 10000, busy 4000
  trailing_garbage 1: bytes after the end of the gzip data were ignored at byte 162 of the compressed file
  not_joined 2: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen

Unescaped quotes, control characters, invalid UTF-8:

  $ event '{"ph": "X", "cat": "kernel", "name": "a "quoted" name", "pid": 0, "tid": 7, "ts": 5, "dur": 1, "args": {"device": 0}}'
  events 3, device events 3, span 10000, busy 5000
  repaired_event 1: quotation marks in a name were not escaped (first at byte 161)
  not_joined 3: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen
  $ event '{"ph": "X", "cat": "kernel", "name": "one " quote", "pid": 0, "tid": 7, "ts": 5, "dur": 1, "args": {"device": 0}}'
  events 3, device events 3, span 10000, busy 5000
  repaired_event 1: quotation marks in a name were not escaped (first at byte 161)
  not_joined 3: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen
  $ event "$(printf '{"ph": "X", "cat": "kernel", "name": "a\001b\tc", "pid": 0, "tid": 7, "ts": 5, "dur": 1, "args": {"device": 0}}')"
  events 3, device events 3, span 10000, busy 5000
  repaired_event 1: control characters or invalid UTF-8 in a text were replaced (first at byte 161)
  not_joined 3: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen
  $ event "$(printf '{"ph": "X", "cat": "kernel", "name": "a\377b", "pid": 0, "tid": 7, "ts": 5, "dur": 1, "args": {"device": 0}}')"
  events 3, device events 3, span 10000, busy 5000
  repaired_event 1: control characters or invalid UTF-8 in a text were replaced (first at byte 161)
  not_joined 3: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen

NaN and Infinity, in a time and in a value that nobody needs; numbers beyond 64 bits:

  $ event '{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": NaN, "dur": 1, "args": {"device": 0}}'
  events 3, device events 2, span 10000, busy 4000
  bad_event 1: event without a usable time (first at byte 161)
  not_joined 2: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen
  $ event '{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5, "dur": Infinity, "args": {"device": 0}}'
  events 3, device events 2, span 10000, busy 4000
  bad_event 1: event without a usable time (first at byte 161)
  not_joined 2: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen
  $ event '{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 5, "dur": 0, "args": {"device": 0, "memory bandwidth (GB/s)": inf}}'
  events 3, device events 3, span 10000, busy 4000
  not_joined 3: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen
  $ event '{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5, "dur": 1, "args": {"device": 0, "correlation": 18446744073709551616}}'
  events 3, device events 3, span 10000, busy 5000
  bad_value 1: a value that is not a usable number (NaN, Infinity, a text, beyond 64 bits) was left out (first at byte 161)
  not_joined 3: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen
  $ event '{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 99999999999999999999, "dur": 1, "args": {"device": 0}}'
  events 3, device events 2, span 10000, busy 4000
  bad_event 1: event without a usable time (first at byte 161)
  not_joined 2: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen

Negative and huge durations:

  $ event '{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5, "dur": -1, "args": {"device": 0}}'
  events 3, device events 3, span 10000, busy 4000
  negative_duration 1: a negative duration was taken as 0 (first at byte 161)
  not_joined 3: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen
  $ event '{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5, "dur": 900000000000, "args": {"device": 0}}'
  events 3, device events 2, span 10000, busy 4000
  implausible_duration 1: an event of more than a day was left out (first at byte 161)
  not_joined 2: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen

Duplicate keys; Bytes beside bytes is none:

  $ event '{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 4, "ts": 5, "dur": 1, "args": {"device": 0}}'
  events 3, device events 3, span 10000, busy 5000
  duplicate_key 1: a key came twice in one event; the last one counts (first at byte 161)
  not_joined 3: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen
  $ event '{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 5, "dur": 1, "args": {"device": 0, "Bytes": 3, "bytes": 4}}'
  events 3, device events 3, span 10000, busy 5000
  not_joined 3: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen

Metadata after the events, and log lines in it that are no JSON:

  $ small-trace '' '"WARNING": ["a "broken" line", ],' ', "INFO": ["more], "baseTimeNanoseconds": 5000' > t.json; brief t.json
  events 2, device events 2, span 10000, busy 4000
  bad_metadata 2: the trace's own description is not valid JSON; what could be found in it was kept
  not_joined 2: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen
  $ gpufathom query t.json --format csv 'select start_ns from activities limit 1'
  start_ns
  6000

Line ends of Windows, and names with backslashes:

  $ event '{"ph": "X", "cat": "kernel", "name": "C:\\\\x\\\\y", "pid": 0, "tid": 7, "ts": 5, "dur": 1, "args": {"device": 0}}'
  events 3, device events 3, span 10000, busy 5000
  not_joined 3: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen
  $ sed 's/$/\r/' sound.json > crlf.json; brief crlf.json
  events 2, device events 2, span 10000, busy 4000
  not_joined 2: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen

No device event at all:

  $ echo '{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}' > host.json; gpufathom analyze host.json
  gpufathom: host.json: no GPU activity: there is nothing to analyze (record with the GPU side on, for PyTorch torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]))
  [1]

A cut that leaves no GPU event is told with the error that follows from it.

  $ gunzip -c "$EXAMPLES"/lenet_inf_b1.json.gz | head -c 100000 > cut.json
  $ gpufathom analyze cut.json 2>&1 | cut -c1-110
  gpufathom: cut.json: is damaged: 1 x truncated_json: the file ends before its list of events does (first at by
  gpufathom: cut.json: no GPU activity: there is nothing to analyze (record with the GPU side on, for PyTorch to
