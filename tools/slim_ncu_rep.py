#!/usr/bin/env python3
"""Drops the embedded programs from an Nsight Compute report: slim_ncu_rep.py IN.ncu-rep[.gz]
OUT.ncu-rep[.gz]

A .ncu-rep holds every profiled kernel's cubin, often 99 % of the file. This writes the same report
without them (the sources keep their numbers), small enough to keep beside a test. Results, metrics
and the string table stay byte for byte. The container is described in
docs/formats/nsight-compute.md. Writes gzip when OUT ends with .gz.
"""
import gzip
import struct
import sys

SOURCES, PAYLOAD_BYTES = 1, 5  # fields of BlockHeader
CUBIN, FUNCTIONS = 4, 9  # fields of a source


def opened(path, mode):
    return gzip.open(path, mode) if path.endswith(".gz") else open(path, mode)


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def fields(data):
    """Yields (field number, value or None, the field's own bytes) of a protobuf message."""
    at = 0
    while at < len(data):
        begin = at
        tag, at = read_varint(data, at)
        value = None
        kind = tag & 7
        if kind == 0:
            value, at = read_varint(data, at)
        elif kind == 1:
            at += 8
        elif kind == 2:
            size, at = read_varint(data, at)
            at += size
        elif kind == 5:
            at += 4
        else:
            raise ValueError(f"wire type {kind} at byte {begin}")
        yield tag >> 3, value, data[begin:at]


def sized(data):
    return struct.pack("<I", len(data)) + data


def main(source, target):
    with opened(source, "rb") as file, opened(target, "wb") as out:
        def exactly(n):
            data = file.read(n)
            if len(data) < n:
                sys.exit(f"{source}: ends early")
            return data

        if exactly(4) != b"NVR\0":
            sys.exit(f"{source}: not an Nsight Compute report")
        out.write(b"NVR\0" + sized(exactly(struct.unpack("<I", exactly(4))[0])))
        while size := file.read(4):
            header = exactly(struct.unpack("<I", size)[0])
            values = {number: value for number, value, _ in fields(header)}
            left, sources, payload = values.get(PAYLOAD_BYTES) or 0, values.get(SOURCES) or 0, bytearray()
            while left:
                message = exactly(struct.unpack("<I", exactly(4))[0])
                left -= 4 + len(message)
                if sources:
                    sources -= 1
                    message = b"".join(raw for number, _, raw in fields(message)
                                       if number not in (CUBIN, FUNCTIONS))
                payload += sized(message)
            header = b"".join(varint(number << 3) + varint(len(payload)) if number == PAYLOAD_BYTES
                              else raw for number, _, raw in fields(header))
            out.write(sized(header) + payload)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
