What is not a trace is named, with what to do about it. Nothing here takes long or much memory.

  $ gpufathom analyze missing.json
  gpufathom: missing.json: no such file
  [1]
  $ mkdir folder && gpufathom analyze folder
  gpufathom: folder: is a directory that contains no profile (name a file, or the folder of a TensorFlow or JAX profile (it contains plugins/profile/RUN/HOST.xplane.pb))
  [1]
  $ mkdir dumps && echo '{"pg_config": {}, "entries": []}' > dumps/rank_0.json && gpufathom analyze dumps
  gpufathom: dumps/rank_0.json: cannot be read: it is a dump of NCCL's flight recorder by PyTorch, without GPU times (which rank the others wait for: gpufathom ranks FOLDER, with the dumps of all ranks; gpufathom help formats lists what is read)
  [1]
  $ touch empty.json && gpufathom analyze empty.json
  gpufathom: empty.json: is empty (the program that wrote it may have failed or may still be running)
  [1]
  $ gzip < /dev/null > empty.gz && gpufathom analyze empty.gz
  gpufathom: empty.gz: is empty when decompressed
  [1]
  $ gpufathom analyze /dev/null
  gpufathom: /dev/null: is a pipe or device, not a regular file (write it to a file first)
  [1]
  $ truncate -s 5000000000 sparse.json && timeout 5 gpufathom analyze sparse.json 2>&1 | sed 's/(.*//'
  gpufathom: sparse.json: is not a trace or report that can be read: it looks like zeros only: a file that was reserved but never written 
  $ printf '\211PNG\r\n\032\n1234' > p && gpufathom analyze p 2>&1 | sed 's/ (.*//'
  gpufathom: p: is not a trace or report that can be read: it looks like a PNG image
  $ gpufathom analyze "$(command -v gpufathom)" 2>&1 | sed 's/.*gpufathom: is/is/; s/ (.*//'
  is not a trace or report that can be read: it looks like an ELF program or library
  $ printf 'PK\003\004' > z && gpufathom analyze z
  gpufathom: z: is not a trace or report that can be read: it looks like a zip archive: unpack it first (a PyTorch checkpoint is one too) (gpufathom help formats lists what is read)
  [1]
  $ printf 'hello, world\n' > t && gpufathom analyze t 2>&1 | sed 's/ (.*//'
  gpufathom: t: is not a trace or report that can be read: it looks like plain text
  $ echo '{"a": 1}' > j && gpufathom analyze j 2>&1 | sed 's/ (.*//'
  gpufathom: j: is not a trace or report that can be read: it looks like JSON of an unknown format

Answers, as JSON and as a page, are no captures:

  $ gpufathom analyze "$EXAMPLES/lenet_inf_b1.json.gz" --format json > answer.json && gpufathom work answer.json
  gpufathom: answer.json: cannot be read: it is an answer of gpufathom, no capture (give the capture that it was made from, which it names (source.path); gpufathom help formats lists what is read)
  [1]
  $ gpufathom analyze "$EXAMPLES/lenet_inf_b1.json.gz" -o page.html && gpufathom work page.html
  gpufathom: page.html: cannot be read: it is an answer of gpufathom, no capture (give the capture that it was made from, which it names (source.path); gpufathom help formats lists what is read)
  [1]

  $ printf '\3757zXZ\000' > x && gpufathom analyze x
  gpufathom: x: is compressed with xz (decompress it first: xz -d)
  [1]
  $ tar -cf a.tar j && gpufathom analyze a.tar 2>&1 | sed 's/ (.*//'
  gpufathom: a.tar: is not a trace or report that can be read: it looks like a tar archive: unpack it first, and name the file or folder in it

The sparse file of 5 GB took no memory to speak of:

  $ python3 -c 'import resource, subprocess as s; s.run(["gpufathom", "analyze", "sparse.json"], stderr=s.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 300000)'
  True

A file that unpacks to more than the limit; the limit can be raised.

  $ (small-trace; head -c 30000000 /dev/zero | tr '\0' ' ') | gzip > bomb.json.gz
  $ gpufathom analyze bomb.json.gz --max-bytes 10000000
  gpufathom: bomb.json.gz: grows past the limit of 10000000 bytes when decompressed (if that is right, raise the limit with --max-bytes)
  [1]
  $ brief bomb.json.gz --max-bytes 40000000
  events 2, device events 2, span 10000, busy 4000
  not_joined 2: the capture holds no calls of the GPU's runtime: whether kernels are missing or come too late cannot be seen

A counter report without the trace that it belongs to:

  $ cp "$EXAMPLES/gemm_types.ncu.csv.gz" . && gpufathom energy gemm_types.ncu.csv.gz
  gpufathom: gemm_types.ncu.csv.gz: a counter report alone has no timeline to analyze (give a trace of the same program, and the report with --counters; of the report alone: gpufathom analyze gemm_types.ncu.csv.gz)
  [1]
