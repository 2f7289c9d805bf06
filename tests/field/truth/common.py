"""Interval arithmetic and bookkeeping shared by the truth scripts. Times are whole nanoseconds
(int)."""
import gzip
import lzma
from collections import defaultdict
from decimal import Decimal


def read_bytes(path):
    data = open(path, 'rb').read()
    if data[:2] == b'\x1f\x8b':
        return gzip.decompress(data)
    if data[:6] == b'\xfd7zXZ\x00':
        return lzma.decompress(data)
    return data


def union(intervals):
    """Length of the union of half-open intervals."""
    total, end = 0, None
    for start, stop in sorted(intervals):
        if end is None or start > end:
            total += stop - start
            end = stop
        elif stop > end:
            total += stop - end
            end = stop
    return total


def gaps(intervals):
    """The idle intervals between the first start and the last end."""
    out, end = [], None
    for start, stop in sorted(intervals):
        if end is not None and start > end:
            out.append((end, start))
        end = stop if end is None else max(end, stop)
    return out


def clip(intervals, low, high):
    return [(max(s, low), min(e, high)) for s, e in intervals if e > low and s < high]


def micros(value):
    """Microseconds as written (text or Decimal) to whole nanoseconds."""
    return int((Decimal(str(value)) * 1000).to_integral_value())


def device_truth(rows, name=None):
    """rows: list of (start, end, kind, name) of one device; kind is kernel, copy or set."""
    everything = [(r[0], r[1]) for r in rows]
    kernels = [(r[0], r[1]) for r in rows if r[2] == 'kernel']
    low, high = min(s for s, _ in everything), max(e for _, e in everything)
    span = high - low
    busy, kernel_busy = union(everything), union(kernels)
    by_name = defaultdict(int)
    for r in rows:
        if r[2] == 'kernel':
            by_name[r[3]] += r[1] - r[0]
    kernel_sum = sum(by_name.values())
    top = max(by_name.items(), key=lambda item: item[1]) if by_name else None
    return {
        'name': name, 'gpu_events': len(rows), 'kernels': len(kernels),
        'copies': sum(r[2] == 'copy' for r in rows), 'sets': sum(r[2] == 'set' for r in rows),
        'first_ns': low, 'last_ns': high, 'span_ns': span, 'busy_ns': busy, 'kernel_busy_ns': kernel_busy,
        'kernel_time_sum_ns': kernel_sum,
        'busy_percent': round(100.0 * busy / span, 4) if span else None,
        'kernel_percent': round(100.0 * kernel_busy / span, 4) if span else None,
        'top_kernel': {'name': top[0][:160], 'ns': top[1], 'share_percent': round(100.0 * top[1] / kernel_sum, 2) if kernel_sum else None} if top else None,
        'longest_gap_ns': max((e - s for s, e in gaps(everything)), default=0),
    }


def devices_truth(rows_by_device, names=None):
    return {str(d): device_truth(rows, (names or {}).get(d))
            for d, rows in sorted(rows_by_device.items(), key=lambda i: str(i[0]))}


def launch_truth(rows, launches, syncs):
    """Idle time of one device split by what the host did: the launch of the work that ended the gap
    had not returned (launch late), or a blocking call covered the gap (in sync). rows: (start, end,
    kind, name, correlation); launches: correlation -> (start, end); syncs: intervals of blocking calls."""
    ordered = sorted(rows)
    late = in_sync = unknown = total = 0
    end = None
    for row in ordered:
        if end is not None and row[0] > end:
            gap = (end, row[0])
            total += gap[1] - gap[0]
            call = launches.get(row[4])
            if call is None:
                unknown += gap[1] - gap[0]
            else:
                late += max(0, min(gap[1], call[1]) - gap[0])
            in_sync += union(clip(syncs, *gap)) if syncs else 0
        end = row[1] if end is None else max(end, row[1])
    if not total:
        return None
    return {'idle_between_ns': total, 'launch_not_returned_percent': round(100.0 * late / total, 1),
            'host_in_blocking_call_percent': round(100.0 * in_sync / total, 1),
            'no_launch_record_percent': round(100.0 * unknown / total, 1)}
