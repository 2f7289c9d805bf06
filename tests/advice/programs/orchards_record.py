"""Services, a training and CuPy's programs that gpufathom records itself, run as recording.py says."""
import asyncio
import atexit
import collections
import datetime
import hashlib
import os
import queue
import sqlite3
import tempfile
import threading
import time
import zlib

import recording
from studies_record import device, waiting
from trades_record import layers_of


def dates_by_strptime(tiny, mended):
    """Bookings bring their moments as text, which datetime.strptime reads one by one.

    Mended, NumPy reads all of them at once.
    """
    import numpy as np
    import torch

    rows, width, where = (6, 16, device()) if tiny else (512, 1024, device())
    into = torch.randn(4, width, device=where, dtype=torch.bfloat16)
    net = layers_of(width, 6, where)
    first = np.datetime64("2026-03-01T00:00:00")
    drawn = np.random.default_rng(0).integers(0, 30_000_000, rows)
    texts = [str(first + np.timedelta64(int(seconds), "s")) for seconds in drawn]

    def by_strptime():
        moments = [datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S") for text in texts]
        return np.array([[when.weekday(), when.hour, when.minute, when.timetuple().tm_yday]
                         for when in moments], np.float32)

    def by_numpy():
        moments = np.array(texts, "datetime64[s]")
        days, hours = moments.astype("datetime64[D]"), moments.astype("datetime64[h]")
        parts = ((days.astype(np.int64) + 3) % 7, (hours - days).astype(np.int64),
                 (moments.astype("datetime64[m]") - hours).astype(np.int64),
                 (days - days.astype("datetime64[Y]")).astype(np.int64) + 1)
        return np.stack(parts, 1).astype(np.float32)

    @torch.no_grad()
    def step():
        some = torch.from_numpy(by_numpy() if mended else by_strptime())
        return net(some.to(where, torch.bfloat16) @ into).float().mean(1).cpu()

    return step, waiting()


def waits_for_a_full_batch(tiny, mended):
    """A server of asyncio waits 4 ms for more requests, though all eight clients have asked.

    Mended, it takes what is there.
    """
    import torch

    rows, width, where = 8, 16 if tiny else 1024, device()
    net = layers_of(width, 8, where)
    vectors = torch.randn(rows, 64, width, dtype=torch.bfloat16)
    loop, asked = asyncio.new_event_loop(), asyncio.Queue()

    @torch.no_grad()
    def answers(batch):
        some = torch.stack([vector for vector, _ in batch]).to(where)
        return net(some).float().mean((1, 2)).tolist()

    async def serve():
        batch = [await asked.get()]
        await asyncio.sleep(0 if mended else 0.004)
        while not asked.empty():
            batch.append(asked.get_nowait())
        for (_, answer), found in zip(batch, answers(batch)):
            answer.set_result(found)

    async def ask(vector):
        answer = loop.create_future()
        await asked.put((vector, answer))
        return await answer

    async def all_ask():
        return await asyncio.gather(serve(), *(ask(vector) for vector in vectors))

    def step():
        return loop.run_until_complete(all_ask())

    return step, waiting()


def hashed_to_look_in_a_cache(tiny, mended):
    """Pictures on the GPU are copied down and hashed to see if they were answered before.

    Mended, a request is known by its number.
    """
    import torch

    rows, side, width, where = (1, 8, 8, device()) if tiny else (4, 512, 64, device())
    layers = []
    for high in (3, width, width):
        layers += [torch.nn.Conv2d(high, width, 3, padding=1), torch.nn.ReLU(inplace=True)]
    net = torch.nn.Sequential(*layers).to(where, torch.bfloat16).eval()
    some = torch.randn(rows, 3, side, side, device=where)
    known, turn = collections.OrderedDict(), [0]

    @torch.no_grad()
    def step():
        turn[0] += 1
        some[0, 0, 0, 0] = turn[0] % 1000
        key = turn[0] if mended else hashlib.sha256(some.cpu().numpy().tobytes()).hexdigest()
        if key not in known:
            known[key] = net(some.to(torch.bfloat16)).mean((1, 2, 3))
            if len(known) > 100:
                known.popitem(last=False)
        return known[key].tolist()

    return step, waiting()


def rows_committed_one_by_one(tiny, mended):
    """Answers go to a table of SQLite, and each of 256 rows is committed; mended, all at once."""
    import torch

    rows, width, where = (4, 16, device()) if tiny else (256, 1024, device())
    net = layers_of(width, 6, where)
    some = torch.randn(rows, width, device=where, dtype=torch.bfloat16)
    folder = tempfile.TemporaryDirectory()
    table = sqlite3.connect(os.path.join(folder.name, "answers.db"))
    for line in ("pragma journal_mode = wal", "pragma synchronous = off",
                 "create table answers (number integer, score real)"):
        table.execute(line)
    atexit.register(lambda: (table.close(), folder.cleanup()))
    line = "insert into answers values (?, ?)"

    @torch.no_grad()
    def step():
        found = list(enumerate(net(some).float().mean(1).tolist()))
        if mended:
            table.executemany(line, found)
        else:
            for one in found:
                table.execute(line, one)
                table.commit()
        table.execute("delete from answers")
        table.commit()

    return step, waiting()


def lock_held_while_unpacking(tiny, mended):
    """Four threads serve requests, each with the lock of the model held while it unpacks them.

    Mended, it is held for the model alone.
    """
    import numpy as np
    import torch

    rows, width, where = (4, 16, device()) if tiny else (128, 1024, device())
    net = layers_of(width, 8, where)
    drawn = np.random.default_rng(0).integers(-40, 40, (rows, width)).astype(np.float32)
    packed, shape = zlib.compress(drawn.tobytes(), 6), drawn.shape
    asked, answered, lock = queue.Queue(), queue.Queue(), threading.Lock()

    def unpacked():
        plain = np.frombuffer(zlib.decompress(packed), np.float32).reshape(shape)
        return torch.from_numpy(plain.copy())

    @torch.no_grad()
    def answer(some):
        return net(some.to(where, torch.bfloat16)).float().mean(1).cpu()

    def serve():
        while True:
            asked.get()
            if mended:
                some = unpacked()
                with lock:
                    answered.put(answer(some))
            else:
                with lock:
                    answered.put(answer(unpacked()))

    for _ in range(4):
        threading.Thread(target=serve, daemon=True).start()

    def step():
        for number in range(8):
            asked.put(number)
        return [answered.get() for _ in range(8)]

    return step, waiting()


def table_drawn_in_each_step(tiny, mended):
    """A table of rich with the times of the last steps is drawn in each step of a training.

    Mended, in each fiftieth.
    """
    import torch
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table

    width, rows, where = (16, 4, device()) if tiny else (1024, 1024, device())
    net = layers_of(width, 6, where)
    optimiser = torch.optim.SGD(net.parameters(), lr=1e-4)
    some = torch.randn(rows, width, device=where, dtype=torch.bfloat16)
    console = Console(file=open(os.devnull, "w"), force_terminal=True, width=100, height=40)
    live = Live(console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False)
    live.start()
    times, turn = collections.deque([time.perf_counter()], 25), [0]

    def drawn():
        table = Table("step", "ms", "rows a second", title="training")
        for place, (before, after) in enumerate(zip(list(times), list(times)[1:])):
            table.add_row(f"{place}", f"{(after - before) * 1e3:.2f}",
                          f"[green]{rows / (after - before):.0f}")
        return table

    def step():
        optimiser.zero_grad()
        net(some).float().square().mean().backward()
        optimiser.step()
        turn[0] += 1
        times.append(time.perf_counter())
        if not mended or turn[0] % 50 == 0:
            live.update(drawn(), refresh=True)

    return step, waiting()


def prefiltered_again(tiny, mended):
    """A map of heights is read at places between its points, and filtered anew for each reading.

    Mended, spline_filter once, then map_coordinates(prefilter=False).
    """
    import cupy
    from cupyx.scipy import ndimage

    side, count = (32, 16) if tiny else (4096, 200_000)
    heights = cupy.random.random_sample((side, side), dtype=cupy.float32)
    places = cupy.random.random_sample((2, count), dtype=cupy.float32) * (side - 1)
    if mended:
        heights = ndimage.spline_filter(heights, order=3, output=cupy.float32, mode="mirror")

    def step():
        return ndimage.map_coordinates(heights, places, order=3, mode="mirror",
                                       prefilter=not mended)

    return step, lambda: cupy.cuda.Device().synchronize()


PLACES = r"""
extern "C" __global__ void sums_of_places(const float* table, const int* asked, float* sums,
                                          int count) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 16, part = threadIdx.x % 16;
    if (row >= count) return;
    float sum = 0.0f;
    for (int turn = 0; turn < 4; turn++)
        sum += table[(size_t)asked[4 * row + turn] * 16 + part];
    sums[16 * row + part] = sum;
}"""


def table_read_across_the_bus(tiny, mended):
    """A kernel looks up rows of a table that lies in pinned memory of the host.

    Mended, the 64 MB were copied to the GPU when they were loaded.
    """
    import cupy
    import cupyx
    import numpy as np

    rows, count = (64, 16) if tiny else (1_000_000, 200_000)
    kernel = cupy.RawKernel(PLACES, "sums_of_places")
    table = cupyx.empty_pinned((rows, 16), np.float32)
    table[:] = np.random.default_rng(0).random((rows, 16), np.float32)
    if mended:
        seen = cupy.asarray(table)
    else:
        memory = cupy.cuda.UnownedMemory(table.ctypes.data, table.nbytes, table, 0)
        seen = cupy.ndarray(table.shape, np.float32, cupy.cuda.MemoryPointer(memory, 0))
    asked = cupy.random.randint(0, rows, (count, 4)).astype(cupy.int32)
    sums = cupy.empty((count, 16), cupy.float32)

    def step():
        kernel((-(-count * 16 // 256),), (256,), (seen, asked, sums, np.int32(count)))
        return sums

    return step, lambda: cupy.cuda.Device().synchronize()


def cellars_counted(tiny, mended):
    """Healthy: wide layers in BF16 on large batches whose answers are fetched, by gpufathom."""
    import torch

    width, rows, where = (16, 4, device()) if tiny else (4096, 16384, device())
    net = layers_of(width, 3, where)
    some = torch.randn(rows, width, device=where, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        return net(some).amax(1)

    return step, waiting()


def paths_through_sparse_lands(tiny, mended):
    """Healthy: a sparse matrix of CuPy times 64 columns, by gpufathom."""
    import cupy
    from cupyx.scipy import sparse

    places, each = (32, 4) if tiny else (500_000, 16)
    columns = cupy.random.randint(0, places, places * each).astype(cupy.int32)
    starts = cupy.arange(0, places * each + 1, each, dtype=cupy.int32)
    values = cupy.random.random_sample(places * each, dtype=cupy.float32)
    roads = sparse.csr_matrix((values, columns, starts), shape=(places, places))
    people = cupy.asfortranarray(cupy.random.random_sample((places, 64), dtype=cupy.float32))

    def step():
        return roads @ people

    return step, lambda: cupy.cuda.Device().synchronize()


BUILDS = {build.__name__: build for build in (
    dates_by_strptime, waits_for_a_full_batch, hashed_to_look_in_a_cache,
    rows_committed_one_by_one, lock_held_while_unpacking, table_drawn_in_each_step,
    prefiltered_again, table_read_across_the_bus, cellars_counted, paths_through_sparse_lands,
)}

if __name__ == "__main__":
    recording.main(BUILDS)
