"""Sampled levels of a capture between two times, through `gpufathom query`."""
import csv
import io
import subprocess


def levels(gpufathom, capture, start_ns, end_ns):
    """{metric: (mean of a ratio, sum of a count, seconds sampled)} of the counter samples that lie
    inside."""
    sql = f"""select metric, sum(value * duration_ns) / sum(duration_ns) as mean, sum(value) as total, sum(duration_ns) * 1e-9 as seconds
              from counter_samples where duration_ns > 0 and duration_ns < 100000000 and start_ns >= {start_ns} and start_ns + duration_ns <= {end_ns} group by metric"""
    text = subprocess.run([gpufathom, "query", "--format", "csv", capture, sql], check=True,
                          capture_output=True, text=True).stdout
    return {r["metric"]: (float(r["mean"]), float(r["total"]), float(r["seconds"]))
            for r in csv.DictReader(io.StringIO(text))}


def power_watts(gpufathom, capture, start_ns, end_ns):
    sql = f"select avg(value) as watts from counter_samples where metric = 'power.module' and start_ns >= {start_ns} and start_ns <= {end_ns}"
    text = subprocess.run([gpufathom, "query", "--format", "csv", capture, sql], check=True,
                          capture_output=True, text=True).stdout
    return float(next(csv.DictReader(io.StringIO(text)))["watts"])
