A pipe to which nobody writes, or a device without an end, where a file is wanted: refused at once, wherever a file can be named.

  $ cat > one.json <<'J'
  > {"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":1,"dur":1,"args":{"device":0,"stream":7,"correlation":1}}]}
  > J
  $ mkfifo pipe
  $ refused() { timeout 20 gpufathom "$@"; }
  $ for file in pipe /dev/zero; do
  >   refused work one.json --ceilings $file; refused energy one.json --model $file; refused analyze one.json --power $file
  >   refused analyze one.json --counters $file; refused ranks $file; refused compare --table $file
  > done
  gpufathom: pipe: is a pipe or device, not a regular file (write it to a file first)
  gpufathom: pipe: is a pipe or device, not a regular file (write it to a file first)
  gpufathom: pipe: is a pipe or device, not a regular file (write it to a file first)
  gpufathom: pipe: is a pipe or device, not a regular file (write it to a file first)
  gpufathom: pipe: is a pipe or device, not a regular file (write it to a file first)
  gpufathom: pipe: is a pipe or device, not a regular file (write it to a file first)
  gpufathom: /dev/zero: is a pipe or device, not a regular file (write it to a file first)
  gpufathom: /dev/zero: is a pipe or device, not a regular file (write it to a file first)
  gpufathom: /dev/zero: is a pipe or device, not a regular file (write it to a file first)
  gpufathom: /dev/zero: is a pipe or device, not a regular file (write it to a file first)
  gpufathom: /dev/zero: is a pipe or device, not a regular file (write it to a file first)
  gpufathom: /dev/zero: is a pipe or device, not a regular file (write it to a file first)
  [1]
