"""Services and CuPy's programs that gpufathom records itself, run as recording.py says."""
import json
import xml.etree.ElementTree

import recording
from studies_record import device, waiting
from trades_record import layers_of


def vectors_as_json(tiny, mended):
    """Requests bring their vectors as JSON, which Python reads number by number.

    Mended, as bytes, which NumPy takes as they are.
    """
    import numpy as np
    import torch

    rows, width, where = (4, 16, device()) if tiny else (64, 768, device())
    net = layers_of(width, 6, where)
    vectors = np.random.randn(rows, width).astype(np.float32)
    texts = [json.dumps({"vector": vector.tolist()}) for vector in vectors]
    raw = [vector.tobytes() for vector in vectors]

    @torch.no_grad()
    def step():
        if mended:
            some = torch.from_numpy(np.frombuffer(b"".join(raw), np.float32).reshape(rows, -1).copy())
        else:
            some = torch.tensor([json.loads(text)["vector"] for text in texts])
        return net(some.to(where, torch.bfloat16)).float().mean(1).cpu()

    return step, waiting()


def notes_parsed_from_xml(tiny, mended):
    """The notes of each patient are XML, read and searched anew in each round of a ward.

    Mended, they were made numbers when they came in.
    """
    import numpy as np
    import torch

    rows, wide, where = (4, 6, device()) if tiny else (96, 64, device())
    width = 16 if tiny else 1024
    into = torch.randn(wide, width, device=where, dtype=torch.bfloat16)
    net = layers_of(width, 6, where)
    names = [f"measure{number}" for number in range(wide)]
    texts = ["<note>" + "".join(
        f'<item name="{name}" unit="mmol"><value>{value:.4f}</value></item>'
        for name, value in zip(names, np.random.randn(wide))) + "</note>" for _ in range(rows)]

    def numbers(text):
        note = xml.etree.ElementTree.fromstring(text)
        known = {item.get("name"): float(item.findtext("value")) for item in note.iter("item")}
        return [known[name] for name in names]

    kept = torch.tensor([numbers(text) for text in texts])

    @torch.no_grad()
    def step():
        some = kept if mended else torch.tensor([numbers(text) for text in texts])
        return net(some.to(where, torch.bfloat16) @ into).float().mean(1).cpu()

    return step, waiting()


def boxes_by_opencv(tiny, mended):
    """Masks of 128 tumours are copied down, and OpenCV looks for the border of each.

    Mended, borders are found on the GPU.
    """
    import torch

    rows, side, width, where = (1, 16, 8, device()) if tiny else (16, 512, 32, device())
    head = torch.nn.Conv2d(width, 8, 1).to(where, torch.bfloat16,
                                           memory_format=torch.channels_last).eval()
    some = torch.randn(rows, width, side, side, device=where, dtype=torch.bfloat16)
    some = some.to(memory_format=torch.channels_last)

    def borders(masks):
        found = []
        for along in (1, 2):
            seen = masks.any(along).to(torch.uint8)
            found += [seen.argmax(1), side - seen.flip(1).argmax(1)]
        return torch.stack(found, 1).cpu()

    def by_opencv(masks):
        import cv2

        return [cv2.boundingRect(mask) for mask in masks.to(torch.uint8).cpu().numpy()]

    @torch.no_grad()
    def step():
        masks = head(some).flatten(0, 1).contiguous() > 0.8
        return borders(masks) if mended else by_opencv(masks)

    return step, waiting()


def cache_in_other_order(tiny, mended):
    """Keys and values are kept place by place, and put in the order of heads for each new word.

    Mended, they are kept in the order of heads.
    """
    import torch
    import torch.nn.functional as F

    rows, length, heads, size, depth = (2, 8, 2, 4, 2) if tiny else (32, 2048, 8, 128, 6)
    width, where = heads * size, device()
    how = {"device": where, "dtype": torch.bfloat16}
    layers = [(torch.randn(width, 3 * width, **how) / width**0.5,
               torch.randn(width, width, **how) / width**0.5) for _ in range(depth)]
    shape = (rows, heads, length, size) if mended else (rows, length, heads, size)
    caches = [torch.randn(2, *shape, **how) for _ in layers]
    some = torch.randn(rows, width, **how)
    here = length // 2

    @torch.no_grad()
    def step():
        states = some
        for (qkv, out), cache in zip(layers, caches):
            query, key, value = (states @ qkv).view(rows, 3, heads, size).unbind(1)
            if mended:
                cache[0, :, :, here], cache[1, :, :, here] = key, value
                keys, values = cache
            else:
                cache[0, :, here], cache[1, :, here] = key, value
                keys, values = (part.transpose(1, 2).contiguous() for part in cache)
            mixed = F.scaled_dot_product_attention(query[:, :, None], keys, values)
            states = states + mixed.flatten(1) @ out
        return states

    return step, waiting()


def prompt_read_for_each_answer(tiny, mended):
    """Sixteen answers to each of four questions, each of which is read sixteen times.

    Mended, once, and its keys and values are repeated.
    """
    import torch
    import torch.nn.functional as F

    asked, answers, length, heads, size, depth, words = (
        (2, 3, 4, 2, 4, 2, 2) if tiny else (4, 16, 384, 8, 128, 4, 4))
    width, where = heads * size, device()
    how = {"device": where, "dtype": torch.bfloat16}

    def weight(high, wide):
        return torch.randn(high, wide, **how) / high**0.5

    layers = [(weight(width, 3 * width), weight(width, width), weight(width, 4 * width),
               weight(4 * width, width)) for _ in range(depth)]
    questions = torch.randn(asked, length, width, **how)
    rows = asked * answers
    caches = [torch.zeros(2, rows, heads, length + words, size, **how) for _ in layers]

    def through(states, first):
        """Places from `first` on; of a question, keys and values go to the cache repeated."""
        count = states.shape[1]
        for (qkv, out, up, down), cache in zip(layers, caches):
            inner = F.layer_norm(states, (width,))
            parts = (inner @ qkv).unflatten(-1, (3, heads, size)).permute(2, 0, 3, 1, 4)
            query, key, value = parts
            times = rows // len(states)
            cache[:, :, :, first:first + count] = parts[1:].repeat_interleave(times, 1)
            if first:
                key, value = cache[:, :, :, :first + count]
            mixed = F.scaled_dot_product_attention(query, key, value, is_causal=not first)
            states = states + mixed.transpose(1, 2).flatten(2) @ out
            states = states + F.gelu(F.layer_norm(states, (width,)) @ up) @ down
        return states[:, -1:]

    @torch.no_grad()
    def step():
        if mended:
            last = through(questions, 0).repeat_interleave(answers, 0)
        else:
            last = through(questions.repeat_interleave(answers, 0), 0)
        for word in range(words):
            last = through(last, length + word)
        return last

    return step, waiting()


NEAREST = r"""
extern "C" __global__ void nearest_ward(const float* wide, const float* high, const float* wards,
                                        int* found, int count, int many) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    float x = wide[at], y = high[at], best = 1e30f;
    int which = 0;
    for (int ward = 0; ward < many; ward++) {
        float dx = x - wards[2 * ward], dy = y - wards[2 * ward + 1];
        float far = dx * dx + dy * dy;
        if (far < best) { best = far; which = ward; }
    }
    found[at] = which;
}"""


def one_thread_a_block(tiny, mended):
    """A kernel is launched with a block for each of a million people, of one thread each.

    Mended, 256 threads to a block.
    """
    import cupy
    import numpy as np

    count, many = 1_000_000, 128
    kernel = cupy.RawKernel(NEAREST, "nearest_ward")
    wide, high = cupy.random.random_sample((2, count), dtype=cupy.float32)
    wards = cupy.random.random_sample((many, 2), dtype=cupy.float32)
    found = cupy.empty(count, cupy.int32)
    arguments = wide, high, wards, found, np.int32(count), np.int32(many)
    threads = 256 if mended else 1
    grid = (-(-count // threads),)

    def step():
        kernel(grid, (threads,), arguments)
        return found

    return step, lambda: cupy.cuda.Device().synchronize()


def rows_summed_by_python(tiny, mended):
    """Python's own sum() adds up a CuPy array of 256 rows, row by row; mended, CuPy's .sum(0)."""
    import cupy

    meters, hours = (8, 16) if tiny else (256, 65536)
    used = cupy.random.random_sample((meters, hours), dtype=cupy.float32)

    def step():
        total = used.sum(0) if mended else sum(used)
        return cupy.sqrt(total)

    return step, lambda: cupy.cuda.Device().synchronize()


def beds_planned(tiny, mended):
    """Healthy: wide layers in BF16 for large batches, recorded by gpufathom."""
    import torch

    width, rows, where = (16, 4, device()) if tiny else (4096, 8192, device())
    net = layers_of(width, 4, where)
    some = torch.randn(rows, width, device=where, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        return net(some)

    return step, waiting()


BUILDS = {build.__name__: build for build in (
    vectors_as_json, notes_parsed_from_xml, boxes_by_opencv, cache_in_other_order,
    prompt_read_for_each_answer, one_thread_a_block, rows_summed_by_python, beds_planned,
)}

if __name__ == "__main__":
    recording.main(BUILDS)
