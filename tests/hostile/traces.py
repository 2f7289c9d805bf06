"""Traces of the PyTorch profiler that mean ill or are damaged, as files in a folder: structure,
texts, times, ids, names, packing."""
import gzip
import json
import os
import random
import struct
import subprocess
import zlib
from pathlib import Path

D = ""  # the folder, with a slash at its end
MOST = None  # bytes of a file that is made, in a short run
BOMB_MB = 64
HEAD = ('{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H200","numSms":132,"computeMajor":9,"computeMinor":0}],'
        '"baseTimeNanoseconds":1790857026000000000,"traceEvents":[\n')
TAIL = "]}\n"


def put(name, text):
    content = text if isinstance(text, bytes) else text.encode("utf8", "surrogatepass")
    if MOST is None or len(content) <= MOST:
        Path(D + name).write_bytes(content)


def quoted(name):
    return name if name.startswith('"') else json.dumps(name)


def k(ts, dur, name="gemm", corr=1, stream=7, dev=0, extra="", pid=0, ext=1):
    return (f'{{"ph":"X","cat":"kernel","name":{quoted(name)},"pid":{pid},"tid":{stream},"ts":{ts},"dur":{dur},"args":{{"External id":{ext},'
            f'"device":{dev},"context":1,"stream":{stream},"correlation":{corr},"grid":[1,1,1],"block":[128,1,1]{extra}}}}}')


def launch(ts, dur, corr=1, tid=1, pid=1, ext=1):
    return (f'{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":{pid},"tid":{tid},"ts":{ts},"dur":{dur},'
            f'"args":{{"External id":{ext},"cbid":211,"correlation":{corr}}}}}')


def op(ts, dur, name="aten::mm", tid=1, pid=1, ext=1, cat="cpu_op", extra=""):
    return (f'{{"ph":"X","cat":"{cat}","name":{json.dumps(name)},"pid":{pid},"tid":{tid},"ts":{ts},"dur":{dur},'
            f'"args":{{"External id":{ext}{extra}}}}}')


def trace(events):
    return HEAD + ",\n".join(events) + TAIL


def base(n=200):
    events = []
    for i in range(n):
        t = 1000 + i * 100
        events += [op(t, 60, ext=i + 1), launch(t + 10, 5, corr=i + 1, ext=i + 1),
                   k(t + 20, 40, corr=i + 1, ext=i + 1)]
    return events


def steps(n, per=5):
    events = []
    for i in range(n):
        t = 1000 + i * 100 * per
        events.append(f'{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{i}","pid":1,"tid":1,"ts":{t},"dur":{100 * per - 1},"args":{{}}}}')
        for j in range(per):
            c = i * per + j + 1
            events += [launch(t + 100 * j + 10, 5, corr=c, ext=c),
                       k(t + 100 * j + 20, 40, corr=c, ext=c)]
    return events


def healthy(): put("k_plain.json", trace(base()))


def structure():
    put("k_deep_args.json", HEAD + '{"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":1,"dur":1,"args":{"x":' + "[" * 3000 + "]" * 3000 + "}}," + ",".join(base(5)) + TAIL)
    put("k_deep_top.json", "[" * 3000 + "]" * 3000)
    put("k_deep_obj.json", '{"a":' * 3000 + "1" + "}" * 3000)
    put("k_deep_unclosed.json", HEAD + '{"ph":"X","args":' + '{"a":' * 3000)
    put("k_deep_before.json", '{"schemaVersion":1,"meta":' + "[" * 3000 + "]" * 3000
        + ',"traceEvents":[' + ",".join(base(5)) + "]}")
    put("k_deep_metadata.json", '{"schemaVersion":1,"deviceProperties":' + '[{"id":' * 2000 + "0"
        + "}]" * 2000 + ',"traceEvents":[' + ",".join(base(5)) + "]}")
    put("k_many_keys.json", '{"schemaVersion":1,'
        + ",".join(f'"k{i}":{i}' for i in range(200000)) + ',"traceEvents":['
        + ",".join(base(5)) + "]}")
    put("k_dup_traceEvents.json", '{"schemaVersion":1,"traceEvents":['
        + ",".join(base(5)) + '],"traceEvents":[' + ",".join(base(5)) + "]}")
    put("k_dup_keys.json", trace(['{"ph":"X","ph":"X","cat":"kernel","cat":"cpu_op","name":"a","name":"b","pid":0,"pid":5,"tid":7,"ts":1,"ts":100,"dur":1,"dur":-1,"args":{"device":0,"device":9,"stream":7,"stream":1,"correlation":1,"correlation":2},"args":{}}'] + base(5)))
    put("k_many_args.json", trace(['{"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":1,"dur":1,"args":{' + ",".join(f'"x{i}":1' for i in range(300000)) + "}}"] + base(5)))
    put("k_traceEvents_wrong.json", '{"schemaVersion":1,"traceEvents":{"a":1}}')
    put("k_traceEvents_null.json", '{"schemaVersion":1,"traceEvents":null}')
    put("k_traceEvents_string.json", '{"schemaVersion":1,"traceEvents":"' + "x" * 1000 + '"}')
    put("k_traceEvents_mixed.json",
        trace(["null", "1", '"x"', "[]", "{}", "true", "1e999", "[{}]"] + base(5)))
    put("k_array_only.json", "[" + ",".join(base(20)) + "]")
    put("k_no_events.json", HEAD + TAIL)
    put("k_trailing.json", trace(base(20)) + '{"schemaVersion":1,"traceEvents":[]}')
    put("k_trailing_garbage.json", trace(base(20)).encode() + os.urandom(100000))
    put("k_trailing_comma.json", HEAD + ",".join(base(20)) + ",]}")
    put("k_missing_comma.json", HEAD + "\n".join(base(20)) + TAIL)
    put("k_comments.json", HEAD + "/* hi */" + ",".join(base(20)) + TAIL)
    put("k_single_quotes.json", trace(base(20)).replace('"', "'"))


def strings():
    put("k_huge_name.json", trace([k(1, 1, "x" * (40 << 20))] + base(5)))
    put("k_huge_name_cpu.json", trace([op(1, 1, "y" * (16 << 20))] + base(5)))
    put("k_huge_key.json", HEAD + '{"' + "k" * (20 << 20) + '":1,"ph":"X","cat":"kernel","name":"a","ts":1,"dur":1,"pid":0,"tid":7,"args":{}},' + ",".join(base(5)) + TAIL)
    put("k_huge_number.json", trace([k("1" * (4 << 20), 1), k(1, "9" * (4 << 20))] + base(5)))
    put("k_huge_decimals.json",
        trace([k("5." + "1" * (4 << 20), "2." + "3" * (1 << 20))] + base(5)))
    put("k_invalid_utf8.json", trace(base(20)).encode().replace(b"gemm", b"ge\xff\xfe\xc3\x28mm"))
    put("k_surrogates.json", trace(base(3) + [k(5000, 1, '"\\ud800 lone"'),
                                              k(6000, 1, '"\\udc00\\ud800"'),
                                              k(7000, 1, '"\\u0000nul\\u0000"'),
                                              k(8000, 1, '"\\ud83d\\ude00"')]))
    put("k_bad_escape.json", trace(base(3) + [k(5000, 1, '"\\x41 \\q \\u12"')]))
    put("k_raw_controls.json", trace(base(20)).encode().replace(b"gemm", b"ge\x01\x02\n\t\rmm"))
    put("k_nul_bytes.json", trace(base(20)).encode().replace(b"gemm", b"ge\x00mm"))
    put("k_nul_between.json", trace(base(20)).encode().replace(b",\n", b",\x00\n"))
    put("k_empty_names.json", trace([k(1000 + 100 * i, 50, "") for i in range(50)]))
    put("k_bom.json", b"\xef\xbb\xbf" + trace(base(20)).encode())
    put("k_utf16le.json", trace(base(20)).encode("utf-16"))
    put("k_utf16be.json", b"\xfe\xff" + trace(base(20)).encode("utf-16-be"))
    put("k_utf32.json", trace(base(20)).encode("utf-32"))
    put("k_crlf.json", trace(base(20)).replace("\n", "\r\n"))
    put("k_cr.json", trace(base(20)).replace("\n", "\r"))
    put("k_vertical_space.json", trace(base(20)).replace("\n", "\v"))


def times():
    B = base(50)
    for n, ts, dur in [("neg_dur", 1000, -5), ("neg_ts", -1000, 50), ("nan", "NaN", "NaN"),
                       ("inf", "Infinity", 5), ("ninf", 5, "-Infinity"), ("e308", "1e308", "1e308"), ("e99999", "1e99999", 5), ("em99999", "1e-99999", 5),
                       ("i64max", 9223372036854775807, 1), ("i64us", 9223372036854775, 1), ("i64us_dur", 9223372036854774, 10**15), ("i64min", -9223372036854775808, 1), ("u64", 18446744073709551615, 1), ("u65", 2**65, 1),
                       ("str", '"1000"', '"50"'), ("null", "null", "null"), ("bool", "true", "false"), ("arr", "[1]", "[2]"), ("hex", "0x10", 5), ("plus", "+5", 5), ("lead0", "0005", 5), ("dot", ".5", 5), ("dot2", "5.", 5), ("minus0", "-0", "-0.0"), ("empty", '""', '""'), ("longdur", 1000, 9223372036854775), ("dur_over", 9000000000000000, 900000000000000)]:
        put(f"k_time_{n}.json",
            trace(B + [k(ts, dur, "odd"), op(ts, dur, "oddop"), launch(ts, dur, corr=5)]))
    put("k_time_all_far.json", trace([k(0, 1), k(9223372036854774, 1, corr=2)]))
    put("k_time_far_mixed.json", trace([op(-9223372036854774, 1), k(0, 1),
                                        k(9223372036854774, 1, corr=2),
                                        launch(-9223372036854774, 1),
                                        launch(9223372036854774, 1, corr=2)]))
    put("k_base_overflow.json", trace(B).replace('1790857026000000000', '9223372036854775807'))
    put("k_base_neg.json", trace(B).replace('1790857026000000000', '-9223372036854775808'))
    put("k_base_str.json", trace(B).replace('1790857026000000000', '"x"'))
    put("k_base_float.json", trace(B).replace('1790857026000000000', '1e300'))
    put("k_zero_dur.json", trace([k(1000 + i, 0, corr=i) for i in range(2000)]))
    put("k_one_ts.json", trace([x for i in range(2000)
                                for x in (op(1000, 10, ext=i), launch(1000, 10, corr=i, ext=i),
                                          k(1000, 10, corr=i, ext=i))]))
    put("k_one_ts_zero.json", trace([x for i in range(2000)
                                     for x in (op(1000, 0, ext=i), launch(1000, 0, corr=i, ext=i),
                                               k(1000, 0, corr=i, ext=i))]))
    put("k_unsorted.json", trace(random.Random(1).sample(base(2000), 6000)))
    put("k_kernel_before_launch.json", trace([x for i in range(500)
                                              for x in (launch(5000 + i * 10, 5, corr=i),
                                                        k(1000 + i * 5, 4, corr=i))]))
    put("k_step_inside_out.json", trace(steps(20)).replace('"dur":499', '"dur":-499'))
    put("k_step_overlap.json", trace(steps(50)).replace('"dur":499', '"dur":5000'))
    put("k_step_zero.json", trace(steps(50)).replace('"dur":499', '"dur":0'))
    put("k_step_huge_index.json",
        trace(steps(5)).replace("ProfilerStep#", "ProfilerStep#99999999999999999999"))
    put("k_step_same_index.json", trace([e.replace("ProfilerStep#" + str(i), "ProfilerStep#1")
                                         for i, e in enumerate(steps(30, 0))] + base(30)))


def ids():
    B = base(50)
    big = 9223372036854775807
    put("k_ids_max.json", trace(B + [k(90000, 1, corr=big, stream=big, dev=big, ext=big, pid=big),
                                     launch(90000, 1, corr=big, tid=big, pid=big, ext=big),
                                     op(90000, 1, ext=big, tid=big, pid=big)]))
    put("k_ids_min.json", trace(B + [k(90000, 1, corr=-big - 1, stream=-big - 1, dev=-big - 1,
                                       ext=-big - 1, pid=-big),
                                     launch(90000, 1, corr=-big - 1, tid=-big, pid=-big - 1,
                                            ext=-big - 1)]))
    put("k_ids_u64.json",
        trace(B + [k(90000, 1, corr=2**64 - 1, stream=2**64 - 1, dev=2**64 - 1, ext=2**64 - 1)]))
    put("k_ids_float.json", trace(B + [k(90000, 1, corr=1.5, stream=7.5, dev=0.5, ext=1e300)]))
    put("k_ids_str.json",
        trace(B + [k(90000, 1, corr='"a"', stream='"7"', dev='"zero"', ext='"x"', pid='"p"')]))
    put("k_dev_negative.json",
        trace([k(1000 + i * 10, 5, dev=-1 - i % 3, corr=i) for i in range(100)]))
    put("k_dev_2e31.json",
        trace([k(1000 + i * 10, 5, dev=2147483647 - i % 3, corr=i) for i in range(100)]))
    put("k_corr_reuse.json", trace([x for i in range(2000)
                                    for x in (launch(1000 + i * 10, 5, corr=1),
                                              k(1003 + i * 10, 5, corr=1))]))
    put("k_corr_zero.json", trace([x for i in range(2000)
                                   for x in (launch(1000 + i * 10, 5, corr=0),
                                             k(1003 + i * 10, 5, corr=0))]))
    put("k_grid_overflow.json", trace([k(1000 + i * 10, 5, corr=i,
                                         extra=',"grid":[2147483647,2147483647,2147483647],"block":[99999999999,-5,1e99],"registers per thread":-1,"shared memory":1e30,"est. achieved occupancy %":NaN') for i in range(5)]))
    put("k_grid_wrong.json", trace([k(1000 + i * 10, 5, corr=i,
                                      extra=',"grid":"x","block":[[[]]],"registers per thread":"many","shared memory":null') for i in range(5)]))
    fl = []
    for i in range(1000):
        fl += [f'{{"ph":"s","id":{i%7},"pid":1,"tid":1,"ts":{1000+i},"cat":"fwdbwd","name":"fwdbwd"}}', f'{{"ph":"f","id":{(i+1)%7},"pid":1,"tid":1,"ts":{900+i},"cat":"fwdbwd","name":"fwdbwd","bp":"e"}}']
    put("k_flow_cycles.json", trace(B + fl))
    put("k_pyparent_cycle.json", trace(B
                                       + [f'{{"ph":"X","cat":"python_function","name":"f{i}","pid":1,"tid":1,"ts":{1000+i},"dur":{5000-i},"args":{{"Python id":{i},"Python parent id":{(i+1)%50},"Python module id":{i%3}}}}}' for i in range(50)]))
    put("k_seq_reuse.json", trace([op(1000 + i * 5, 4, ext=i,
                                      extra=f',"Sequence number":5,"Fwd thread id":{i%2}',
                                      tid=1 + i % 2) for i in range(3000)] + base(50)))
    put("k_overlap_bad_nest.json",
        trace([op(1000 + i, 5000, ext=i) for i in range(3000)] + base(50)))


def names():
    evil = ["</script><script>window.__pwned=1;document.title='PWNED'</script>",
            "<img src=x onerror=\"window.__pwned=2\">", "\"><svg onload=window.__pwned=3>",
            "javascript:window.__pwned=4", "${window.__pwned=5}", "{{constructor.constructor('window.__pwned=6')()}}", "<!--<script>", "]]><script>window.__pwned=7</script>", "' onmouseover='window.__pwned=8", "<a href='javascript:window.__pwned=9'>click</a>", "&lt;script&gt;", "\u2028window.__pwned=10\u2029", "<iframe srcdoc='<script>parent.__pwned=11</script>'>", "<style>*{display:none}</style>", "<base href=//evil/>", "<meta http-equiv=refresh content='0;url=//evil'>", "<form action=//evil><input>", "__proto__", "constructor", "toString"]
    ev = []
    i = 0
    for s in range(6):
        t0 = 1000 + s * 10000
        ev.append(f'{{"ph":"X","cat":"user_annotation","name":{json.dumps("ProfilerStep#" + str(s))},"pid":1,"tid":1,"ts":{t0},"dur":9990,"args":{{}}}}')
        for n, e in enumerate(evil):
            i += 1
            t = t0 + 100 + n * 400
            ev.append(f'{{"ph":"X","cat":"python_function","name":{json.dumps("nn.Module: " + e + "_0")},"pid":1,"tid":1,"ts":{t-5},"dur":390,"args":{{"Python id":{i},"Python parent id":null,"Python module id":0}}}}')
            ev.append(op(t, 300, e, ext=i))
            ev.append(op(t + 1, 290, e, ext=i, cat="user_annotation"))
            ev.append(launch(t + 10, 5, corr=i, ext=i))
            ev.append(k(t + 30, 200, e, corr=i, ext=i))
    meta = [f'{{"ph":"M","name":"process_name","pid":1,"tid":0,"ts":0,"args":{{"name":{json.dumps(evil[0])}}}}}', f'{{"ph":"M","name":"thread_name","pid":1,"tid":1,"ts":0,"args":{{"name":{json.dumps(evil[1])}}}}}']
    t = trace(meta + ev).replace("NVIDIA H200", evil[0].replace('"', '\\"'))
    put("k_evil_html.json", t)
    put("k_evil_html2.json", t.replace("ProfilerStep#3", "ProfilerStep#4"))
    esc = ["\x1b[31mRED\x1b[0m", "\x1b]0;pwned title\x07", "\x1b[2J\x1b[H",
           "\x1b]52;c;cHduZWQ=\x07", "\x1bP$q\"p\x1b\\", "\x9b31mC1", "\x07\x08\x08\x08bell",
           "a\rOVERWRITE", "line\n::error file=x.py,line=1::pwned", "\u202egnp.exe", "::warning file=app.js::hello", "=cmd|'/c calc'!A0", "+1+1", "-1+1", "@SUM(1)", "\t=1+1", "\u200b\u2066hidden\u2069", "\x1b[6n", "wide\u4e2d\u6587\u4e2d\u6587", "e\u0301" * 40]
    ev = []
    for s in range(4):
        for n, e in enumerate(esc):
            c = s * 100 + n + 1
            t = 1000 + c * 300
            ev += [op(t, 250, e, ext=c), launch(t + 10, 5, corr=c, ext=c),
                   k(t + 30, 200, e, corr=c, ext=c)]
    meta = [f'{{"ph":"M","name":"process_name","pid":1,"tid":0,"ts":0,"args":{{"name":{json.dumps(esc[1])}}}}}', f'{{"ph":"M","name":"thread_name","pid":1,"tid":1,"ts":0,"args":{{"name":{json.dumps(esc[0])}}}}}']
    put("k_evil_ansi.json", trace(meta + ev).replace("NVIDIA H200", "\\u001b[31mGPU"))
    # raw 8-bit C1 and raw escapes (not JSON-escaped)
    put("k_evil_rawc1.json",
        trace(ev[:12]).encode().replace(b"RED", b"\x9b31mRAWC1\x9b0m\xc2\x9b31m"))


def packed():
    t = trace(base(2000)).encode()
    put("k_gz_members.json.gz",
        b"".join(gzip.compress(t[i:i + 1000]) for i in range(0, len(t), 1000)))
    put("k_gz_empty_members.json.gz", gzip.compress(b"") * 200000 + gzip.compress(t))
    put("k_gz_trailing.json.gz", gzip.compress(t) + b"garbage!" * 100)
    put("k_gz_zero_pad.json.gz", gzip.compress(t) + b"\0" * 5000000)
    put("k_gz_badcrc.json.gz", gzip.compress(t)[:-8] + b"\1\2\3\4" + gzip.compress(t)[-4:])
    put("k_gz_badisize.json.gz", gzip.compress(t)[:-4] + b"\1\2\3\4")
    put("k_gz_of_gz.json.gz", gzip.compress(gzip.compress(t)))
    put("k_gz_header_only.json.gz", gzip.compress(t)[:10])
    put("k_gz_flags.json.gz",
        b"\x1f\x8b\x08\x1f" + b"\0" * 6 + b"\xff\xff" + b"A" * 65535 + b"name" * 100000)
    put("k_gz_longname.json.gz",
        b"\x1f\x8b\x08\x08" + b"\0" * 6 + b"n" * (20 << 20) + b"\0" + gzip.compress(t)[10:])
    g = bytearray(gzip.compress(t)); 
    for i in range(0, 50): g[100 + i * 97 % (len(g) - 200)] ^= 0x55
    put("k_gz_flipped.json.gz", bytes(g))
    open(D + "plain.tmp", "wb").write(t)
    z = subprocess.run(["zstd", "-q", "-c", D + "plain.tmp"], capture_output=True).stdout
    put("k_zst.json.zst", z); put("k_zst_frames.json.zst",
                                  z[:] + subprocess.run(["zstd", "-q", "-c"], input=b" ",
                                                        capture_output=True).stdout * 10000)
    put("k_zst_trunc.json.zst", z[:len(z) // 2]); put("k_zst_garbage.json.zst", z + b"garbage")
    put("k_zst_skippable.json.zst",
        b"\x50\x2a\x4d\x18" + struct.pack("<I", 1000) + b"\0" * 1000 + z)
    put("k_zst_skip_huge.json.zst",
        z + b"\x50\x2a\x4d\x18" + struct.pack("<I", 0xffffffff) + b"\0" * 1000)
    os.unlink(D + "plain.tmp")
    # what unpacks to far more than the file: spaces inside the JSON, nothing, repeated events; read
    # under a lowered limit (run.py)
    def bomb(path, chunk, n, pre=b"", post=b""):
        with open(D + path, "wb") as f:
            c = zlib.compressobj(9, zlib.DEFLATED, 31)
            f.write(c.compress(pre))
            for _ in range(n): f.write(c.compress(chunk))
            f.write(c.compress(post) + c.flush())
    bomb("k_bomb_spaces.json.gz", b" " * (1 << 20), BOMB_MB, HEAD.encode(),
         ",".join(base(5)).encode() + TAIL.encode())
    bomb("k_bomb_string.json.gz", b"x" * (1 << 20), BOMB_MB,
         HEAD.encode() + b'{"ph":"X","cat":"kernel","name":"', b'","ts":1,"dur":1}' + TAIL.encode())
    ev = (",\n".join([k(5, 5)] * 4000) + ",\n").encode()
    bomb("k_bomb_events.json.gz", ev, max(BOMB_MB // 20, 1), HEAD.encode(),
         k(5, 5).encode() + TAIL.encode())
    bomb("k_bomb_depth.json.gz", b"[" * 100, 30, HEAD.encode() + b'{"args":', b"")
    bomb("k_bomb_head.json.gz", b" " * (1 << 20), BOMB_MB // 2, b"", trace(base(5)).encode())
    zeros = subprocess.Popen(["head", "-c", str(BOMB_MB * 10**6), "/dev/zero"],
                             stdout=subprocess.PIPE)
    subprocess.run(["zstd", "-q", "-3", "-f", "-o", D + "k_bomb_zeros.zst"], stdin=zeros.stdout,
                   check=True)


def make(folder, short=False):
    """All of them, or for a short run those that are small and quickly made. Returns the class of
    each file."""
    global D, MOST, BOMB_MB
    D = str(folder) + "/"
    if short:
        MOST, BOMB_MB = 1 << 20, 20
    classes = {}
    for group in (healthy, structure, strings, times, ids, names, packed):
        group()
        for path in Path(folder).iterdir():
            classes.setdefault(path.name, f"traces: {group.__name__}")
    return classes
