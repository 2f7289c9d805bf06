"""`gpufathom monitor --serve` while clients do their worst, and a scraper beside them.

Five attacks run at once, each for ever: headers without end, bodies without end, clients that drip
a byte now and then, clients that ask and do not read, a crowd of connections that say nothing. A
scraper reads /metrics at a fixed rate. Fails when a scrape fails or takes longer than
--most-ms, when the monitor's resident memory passes --most-mb, or when it does not end on SIGTERM.
The fake driver libraries of the tests stand for GPUs.

Usage: bench/monitor_attacks.py BUILD_DIR [OUT.json] [--seconds 1800] [--every 1] [--most-ms 100]
[--most-mb 40]
"""
import argparse
import collections
import datetime
import json
import multiprocessing
import os
import platform
import re
import signal
import socket
import subprocess
import sys
import time

HEAD = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n"


def connect(port, receive_buffer=None):
    connection = socket.socket()
    if receive_buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    connection.settimeout(2)
    connection.connect(("127.0.0.1", port))
    return connection


def endless(port, first, more):
    """One connection after the other, each sending until it is closed."""
    while True:
        try:
            with connect(port) as connection:
                connection.sendall(first)
                while True:
                    connection.sendall(more)
                    time.sleep(0.02)
        except OSError:
            time.sleep(0.2)


def headers_without_end(port):
    endless(port, HEAD, b"".join(b"X-%d: " % i + b"a" * 1000 + b"\r\n" for i in range(10)))


def bodies_without_end(port):
    endless(port, b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b"x" * 0x10000 + b"\r\n")


def crowd(port, count, first, every, drip=b"", receive_buffer=None):
    """Keeps `count` connections open, reopening those that the server closes."""
    connections = collections.deque()
    while True:
        started = time.monotonic()
        for _ in range(len(connections)):
            connection = connections.popleft()
            try:
                connection.setblocking(False)
                if drip:
                    connection.send(drip)
                if connection.recv(1, socket.MSG_PEEK) == b"" and not receive_buffer:
                    raise OSError
                connections.append(connection)
            except BlockingIOError:
                connections.append(connection)
            except OSError:
                connection.close()
        try:
            for _ in range(min(count - len(connections), max(count // 4, 16))):
                connection = connect(port, receive_buffer)
                connection.sendall(first)
                connections.append(connection)
        except OSError:
            pass
        if len(connections) == count and receive_buffer:  # nobody hangs up on us: begin anew
            while connections:
                connections.popleft().close()
        time.sleep(max(0.05, every - (time.monotonic() - started)))


def dripping(port):
    crowd(port, 16, HEAD + b"X: ", 0.6, drip=b"a")


def not_reading(port):
    crowd(port, 200, HEAD + b"\r\n", 1.0, receive_buffer=1024)


def silent(port):
    crowd(port, 900, b"", 1.0)


ATTACKS = (headers_without_end, bodies_without_end, dripping, not_reading, silent)


def attack(function, port):
    try:
        function(port)
    except KeyboardInterrupt:
        pass


# A client that has connected and not asked keeps its place for this long, then a crowd pushes it out.
GRACE_S = 0.1


def scrape(port):
    """Milliseconds of a scrape; None when it failed. One that a busy machine kept from asking in time begins again."""
    started, asked, answer = time.perf_counter(), None, b""
    try:
        with connect(port) as connection:
            connection.sendall(HEAD + b"\r\n")
            asked = time.perf_counter()
            while part := connection.recv(65536):
                answer += part
    except OSError:
        answer = b""
    if answer.startswith(b"HTTP/1.1 200 ") and b"gpufathom_gpu_info" in answer:
        return (time.perf_counter() - started) * 1e3
    return scrape(port) if (asked or time.perf_counter()) - started > GRACE_S else None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("out", nargs="?")
    p.add_argument("--seconds", type=float, default=1800)
    p.add_argument("--every", type=float, default=1, help="seconds between scrapes")
    p.add_argument("--most-ms", type=float, default=100)
    p.add_argument("--most-mb", type=float, default=40)
    a = p.parse_args()
    environment = dict(os.environ) | {"GPUFATHOM_LIBRARY_PATH": os.path.abspath(f"{a.build}/fakes"),
                                      "GPUFATHOM_FAKE": "gpus=8"}
    monitor = subprocess.Popen([f"{a.build}/gpufathom", "monitor", "--serve", "127.0.0.1:0"],
                               stderr=subprocess.PIPE, text=True, env=environment)
    port = int(re.search(r"127\.0\.0\.1:(\d+)", monitor.stderr.readline())[1])

    def status(key):
        with open(f"/proc/{monitor.pid}/status") as f:
            return int(re.search(key + r":\s+(\d+)", f.read())[1])

    def cpu_seconds():
        with open(f"/proc/{monitor.pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    attackers = [multiprocessing.Process(target=attack, args=(f, port), daemon=True)
                 for f in ATTACKS]
    for attacker in attackers:
        attacker.start()
    begin = time.monotonic()
    times, failures, looks = [], 0, []
    while (now := time.monotonic()) - begin < a.seconds:
        taken = scrape(port)
        if taken is None:
            failures += 1
        else:
            times.append(taken)
        if not looks or now - begin - looks[-1]["s"] >= a.seconds / 60:
            looks.append({"s": round(now - begin, 1), "rss_mb": round(status("VmRSS") / 1024, 2),
                          "open_files": len(os.listdir(f"/proc/{monitor.pid}/fd"))})
        time.sleep(max(0.0, a.every - (time.monotonic() - now)))
    elapsed = time.monotonic() - begin
    alive = sum(attacker.is_alive() for attacker in attackers)
    most_mb, cpu = status("VmHWM") / 1024, cpu_seconds() / elapsed
    asked = time.monotonic()
    monitor.send_signal(signal.SIGTERM)  # under attack still
    code = monitor.wait(10)
    ended_s = time.monotonic() - asked
    for attacker in attackers:
        attacker.terminate()
    times.sort()
    result = {
        "what": "monitor --serve under five attacks, with a scraper beside them",
        "command": "bench/monitor_attacks.py " + " ".join(sys.argv[1:]), "date": datetime.date.today().isoformat(), "host": platform.machine(), "cores": os.cpu_count(),
        "load_average": [round(x, 1) for x in os.getloadavg()], "driver": "fake, eight GPUs", "attacks": [f.__name__ for f in ATTACKS], "seconds": round(elapsed, 1),
        "scrapes": len(times) + failures, "failures": failures,
        "scrape_ms": {"median": round(times[len(times) // 2], 2), "p99": round(times[int(len(times) * 0.99)], 2), "most": round(times[-1], 2), "over_limit": sum(t > a.most_ms for t in times)},
        "rss_most_mb": round(most_mb, 2), "cpu_share": round(cpu, 4), "sigterm_s": round(ended_s, 2), "exit_code": code, "looks": looks,
    }
    if a.out:
        with open(a.out, "w") as f:
            f.write(json.dumps(result, indent=1) + "\n")
    print({key: result[key] for key in ("scrapes", "failures", "scrape_ms", "rss_most_mb",
                                        "cpu_share", "sigterm_s", "exit_code")})
    bad = [text for holds, text in ((failures == 0, "a scrape failed"),
                                    (times[-1] <= a.most_ms, "a scrape took too long"), (most_mb <= a.most_mb, "too much memory"),
                                    (code == 0, "it did not end well"),
                                    (alive == len(attackers), "an attacker ended early")) if not holds]
    print("; ".join(bad) or "ok")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
