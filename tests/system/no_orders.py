"""No byte that a terminal or a CI service obeys comes out of a name, with standard output on a
terminal: no_orders.py PROGRAM HOSTILE."""
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[2])
import databases  # noqa: E402
import traces  # noqa: E402

PROGRAM = sys.argv[1]


def shown(words, **environment):
    """The output of a command on a terminal, both streams, without its own colors."""
    terminal, end = pty.openpty()
    process = subprocess.Popen([PROGRAM, *words], stdout=end, stderr=end, stdin=subprocess.DEVNULL,
                               env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100",
                                    **environment})
    os.close(end)
    out = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        out += piece
    process.wait()
    os.close(terminal)
    return re.sub(rb"\x1b\[[0-9;]*m|\r\x1b\[K|\r\n|\x1b\[K",
                  lambda found: b"\n" if found.group() == b"\r\n" else b"", out), out


traces.D = databases.D = "./"
traces.healthy()
traces.names()
databases.captures(PROGRAM)
databases.exports()
Path("nul\n\x1b[31mname.json").write_text("{}")
evil = "k_evil_ansi.json"
runs = [("analyze", evil), ("analyze", evil, "--rows", "0"),
        ("analyze", "k_evil_rawc1.json", "--rows", "0"), ("compare", evil, "k_plain.json"),
        ("energy", evil), ("query", evil), ("query", evil, "select name from host_ops"), ("query", evil, "select char(27)||'[31m' as \"\x1b[31m\n::error::x\""),
        ("analyze", "s_gpf_source_evil.gpf"), ("analyze", "s_gpf_quality_esc.gpf"), ("analyze", "s_nsys_badschema.sqlite"), ("analyze", "s_nsys_diag.sqlite"),
        ("query", "s_gpf_column_esc.gpf", "select * from kernels"), ("analyze", "nul\n\x1b[31mname.json"), ("analyze", "k_plain.json", "--window", "\x1b[31mx"),
        ("metrics", "\x1b[31mx"), ("\x1b[31mverb",), ("analyze", "--\x1b[31mopt"), ("query", "s_plain.gpf", "select \x1b[31mx")]
for run in runs:
    for environment in ({}, {"LC_ALL": "C"}):
        text, raw = shown(run, **environment)
        assert not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", text), (run, text)
        assert not re.search(rb"(?<![\xc2-\xf4\x80-\xbf])[\x80-\x9f]|\xc2[\x80-\x9f]",
                             text), (run, text)
        assert not re.search("[\u202a-\u202e\u2066-\u2069]",
                             text.decode("utf8", "replace")), (run, text)
        assert not re.search(rb"(?m)^\s*::", text), (run, text)
        assert b"\x1b[31mR" not in raw and b"\x1b[31mx" not in raw, (run, raw)
print(f"ok: {len(runs)} answers give a terminal no orders")
