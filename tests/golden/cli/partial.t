Every verb says when its answer does not cover all that was recorded, and ends with 1.

Half a trace:

  $ gzip -dc $EXAMPLES/lenet_train_b64.json.gz | head -c 400000 > cut.json
  $ gpufathom query cut.json 'select count(*) as kernels from kernels' --format csv
  kernels
  113
  gpufathom: cut.json: incomplete result: 1 x truncated_json: the file ends before its list of events does (first at byte 400000)
  gpufathom: cut.json: incomplete result: 313 x calls_missing: of the 2 142 numbers of the runtime's calls, 313 in a row are not in the capture: the calls between were not recorded, and what they launched is missing
  [1]
  $ gpufathom import cut.json -o cut.gpf > summary
  gpufathom: cut.gpf: incomplete result: 1 x truncated_json: the file ends before its list of events does (first at byte 400000)
  gpufathom: cut.gpf: incomplete result: 313 x calls_missing: of the 2 142 numbers of the runtime's calls, 313 in a row are not in the capture: the calls between were not recorded, and what they launched is missing
  [1]

What a capture was made of stays known:

  $ gpufathom query cut.gpf 'select 1 as one' --format csv
  one
  1
  gpufathom: cut.gpf: incomplete result: 1 x truncated_json: the file ends before its list of events does (first at byte 400000)
  gpufathom: cut.gpf: incomplete result: 313 x calls_missing: of the 2 142 numbers of the runtime's calls, 313 in a row are not in the capture: the calls between were not recorded, and what they launched is missing
  [1]
  $ for verb in analyze "compare $EXAMPLES/lenet_train_b64.json.gz" "export --csv out"; do gpufathom $verb cut.gpf 2>&1 >/dev/null | sed 's/: the answer.*truncated_json.*/: partial/'; done
  gpufathom: cut.gpf: incomplete result: 1 x truncated_json: the file ends before its list of events does (first at byte 400000)
  gpufathom: cut.gpf: incomplete result: 313 x calls_missing: of the 2 142 numbers of the runtime's calls, 313 in a row are not in the capture: the calls between were not recorded, and what they launched is missing
  gpufathom: cut.gpf: incomplete result: 1 x truncated_json: the file ends before its list of events does (first at byte 400000)
  gpufathom: cut.gpf: incomplete result: 313 x calls_missing: of the 2 142 numbers of the runtime's calls, 313 in a row are not in the capture: the calls between were not recorded, and what they launched is missing
  gpufathom: cut.gpf: incomplete result: 1 x truncated_json: the file ends before its list of events does (first at byte 400000)
  gpufathom: cut.gpf: incomplete result: 313 x calls_missing: of the 2 142 numbers of the runtime's calls, 313 in a row are not in the capture: the calls between were not recorded, and what they launched is missing

A wrong checksum:

  $ gzip -dc $EXAMPLES/lenet_train_b64.json.gz | gzip -1 > crc.json.gz
  $ printf '\0\0\0\0' | dd of=crc.json.gz bs=1 seek=$(($(stat -c %s crc.json.gz) - 8)) conv=notrunc 2>/dev/null
  $ gpufathom analyze crc.json.gz 2>&1 >/dev/null | sed 's/ at byte.*//'
  gpufathom: crc.json.gz: incomplete result: 1 x bad_checksum: gzip checksum differs from the data

A recorder that was killed:

  $ cp $EXAMPLES/mnist_recorded.gpf killed.gpf; chmod u+w killed.gpf
  $ python3 -c "import sqlite3; c = sqlite3.connect('killed.gpf'); c.execute('delete from _metadata where key = (select id from strings where text = ?)', ['record.complete']); c.execute('update _metadata set row = (select count(*) from _metadata b where b.rowid < _metadata.rowid)'); c.commit()"
  $ gpufathom query killed.gpf 'select 1 as one' --format csv
  one
  1
  gpufathom: killed.gpf: incomplete result: 1 x incomplete_recording: the recording has no end: its recorder was killed, or is still at work
  [1]
  $ gpufathom analyze killed.gpf 2>&1 >/dev/null
  gpufathom: killed.gpf: incomplete result: 1 x incomplete_recording: the recording has no end: its recorder was killed, or is still at work
  [1]

A code that this program does not know comes from a newer one, and promises nothing:

  $ cp $EXAMPLES/mnist_recorded.gpf newer.gpf; chmod u+w newer.gpf
  $ python3 -c "import sqlite3; c = sqlite3.connect('newer.gpf'); n = c.execute('select max(id) + 1 from strings').fetchone()[0]; c.execute('insert into strings values (?, ?)', [n, 'from_the_future']); c.execute('insert into _quality values ((select count(*) from _quality), ?, 3, ?)', [n, n]); c.commit()"
  $ gpufathom query newer.gpf 'select 1 as one' --format csv
  one
  1
  gpufathom: newer.gpf: incomplete result: 3 x from_the_future: from_the_future
  [1]
