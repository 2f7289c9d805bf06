"""Faults in recommenders, graphs, sound, games and science: lookups, loops and detours."""
import collections
import io
import math
import random as dice

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from healthy import fused_adamw
from setting import Running, pair

FEW = {"measured": 10, "active": 2}


def layers_of(setting, sizes, type=torch.float32):
    parts = []
    for inside, outside in zip(sizes, sizes[1:]):
        parts += [nn.Linear(inside, outside), nn.ReLU()]
    return nn.Sequential(*parts[:-1]).to(setting.device, type)


@pair("table_by_table", marks=False, shapes=False, active=2)
def table_by_table(setting, mended):
    """Forty small tables are looked up one by one; mended, they are one table."""
    count, rows, width = setting.pick(40, 3), setting.pick(5000, 10), 32
    batch, bag = setting.pick(2048, 4), 4
    tables = nn.ModuleList(nn.EmbeddingBag(rows, width, mode="sum") for _ in range(count))
    tables = tables.to(setting.device)
    merged = nn.EmbeddingBag(count * rows, width, mode="sum").to(setting.device)
    head = layers_of(setting, [count * width, 512, 256, 1], torch.bfloat16)
    shift = torch.arange(count, device=setting.device)[:, None, None] * rows

    @torch.no_grad()
    def step():
        index = torch.randint(0, rows, (count, batch, bag), device=setting.device)
        if mended:
            found = merged((index + shift).view(-1, bag)).view(count, batch, width)
            found = found.transpose(0, 1).flatten(1)
        else:
            found = torch.cat([table(mine) for table, mine in zip(tables, index)], 1)
        return head(found.to(torch.bfloat16)).sigmoid()

    return Running(step, batch)


@pair("table_on_host", active=2)
def table_on_host(setting, mended):
    """The table is in host memory and summed there; mended, in the GPU's."""
    rows, width, batch, bag = setting.pick(500_000, 50), 128, setting.pick(8192, 4), 20
    place = setting.device if mended else "cpu"
    table = nn.EmbeddingBag(rows, width, mode="mean", device=place)
    head = layers_of(setting, [width, 2048, 2048, 1], torch.bfloat16)
    random = np.random.default_rng(21)

    @torch.no_grad()
    def step():
        index = torch.from_numpy(random.integers(0, rows, (batch, bag)))
        found = table(index.to(place)).to(setting.device)
        return head(found.to(torch.bfloat16)).sigmoid()

    return Running(step, batch)


@pair("negatives_by_numpy", **FEW)
def negatives_by_numpy(setting, mended):
    """Negatives are drawn by NumPy by popularity; mended, by the GPU."""
    items, width, batch = setting.pick(200_000, 50), 128, setting.pick(4096, 4)
    table = nn.Embedding(items, width, sparse=True, device=setting.device)
    tower = layers_of(setting, [width, 1024, 1024, width])
    optimiser = fused_adamw(tower, setting)
    random = np.random.default_rng(22)
    share = random.pareto(1.5, items) + 1e-6
    share /= share.sum()
    on_device = torch.from_numpy(share).to(setting.device, torch.float32)

    def step():
        users = torch.randint(0, items, (batch,), device=setting.device)
        if mended:
            wrong = torch.multinomial(on_device, batch, replacement=True)
        else:
            wrong = torch.from_numpy(random.choice(items, batch, p=share)).to(setting.device)
        optimiser.zero_grad(set_to_none=True)
        table.zero_grad(set_to_none=True)
        with setting.autocast():
            mine, theirs = tower(table(users)), table(wrong)
            loss = F.softplus((mine * theirs).sum(1)).mean()
        loss.backward()
        optimiser.step()

    return Running(step, batch)


@pair("neighbours_in_python", marks=False, **FEW)
def neighbours_in_python(setting, mended):
    """Neighbours are drawn from lists in Python; mended, from a matrix on the GPU."""
    nodes, seeds, width = setting.pick(50_000, 60), setting.pick(512, 4), setting.pick(256, 8)
    fan = (10, 5)
    random = np.random.default_rng(23)
    friends = [random.integers(0, nodes, random.integers(6, 30)).tolist() for _ in range(nodes)]
    table = torch.tensor([(mine * 5)[:30] for mine in friends], device=setting.device)
    features = torch.randn(nodes, width, device=setting.device, dtype=torch.bfloat16)
    layers = nn.ModuleList(nn.Linear(2 * width, width) for _ in fan)
    layers = layers.to(setting.device, torch.bfloat16)

    def drawn(front, count):
        if mended:
            place = torch.randint(0, 30, (len(front), count), device=setting.device)
            return table[front].gather(1, place).flatten()
        found = [dice.choices(friends[node], k=count) for node in front]
        return [node for mine in found for node in mine]

    @torch.no_grad()
    def step():
        hops = [torch.randint(0, nodes, (seeds,), device=setting.device)]
        if not mended:
            hops = [random.integers(0, nodes, seeds).tolist()]
        for count in fan:
            hops.append(drawn(hops[-1], count))
        if not mended:
            hops = [torch.tensor(hop).to(setting.device) for hop in hops]
        states = [features[hop] for hop in hops]
        for layer in layers:
            around = [
                outer.view(len(inner), -1, width).mean(1)
                for inner, outer in zip(states, states[1:])
            ]
            pairs = zip(states, around)
            states = [F.relu(layer(torch.cat([mine, other], 1))) for mine, other in pairs]
        return states[0].mean()

    return Running(step, seeds)


@pair("graph_by_graph", marks=False, shapes=False, active=1)
def graph_by_graph(setting, mended):
    """Molecules pass one after the other; mended, as one graph of many parts."""
    width, graphs = setting.pick(256, 8), setting.pick(48, 3)
    layers = nn.ModuleList(nn.Linear(width, width) for _ in range(4)).to(setting.device)
    random = np.random.default_rng(24)

    def network(state, source, target):
        for layer in layers:
            around = torch.zeros_like(state).index_add_(0, target, state[source])
            state = state + F.relu(layer(around))
        return state

    @torch.no_grad()
    def step():
        sizes = random.integers(8, 40, graphs)
        whole = torch.randn(int(sizes.sum()), width, device=setting.device)
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        edges = [random.integers(0, size, (2, 3 * size)) for size in sizes]
        if mended:
            joined = np.concatenate([part + start for part, start in zip(edges, starts)], 1)
            source, target = torch.from_numpy(joined).to(setting.device)
            return network(whole, source, target).mean()
        all_edges = torch.from_numpy(np.concatenate(edges, 1)).to(setting.device)
        answers = []
        for start, size in zip(starts, sizes):
            source, target = all_edges[:, 3 * start : 3 * (start + size)]
            answers.append(network(whole[start : start + size], source, target).sum(0))
        return torch.stack(answers).sum() / len(whole)

    return Running(step, graphs)


@pair("edges_sorted_again", marks=False, **FEW)
def edges_sorted_again(setting, mended):
    """Each layer builds and sorts the sparse matrix anew; mended, it is made once."""
    nodes, width = setting.pick(100_000, 50), setting.pick(128, 8)
    edges = torch.randint(0, nodes, (2, 12 * nodes), device=setting.device)
    weights = torch.rand(edges.shape[1], device=setting.device)
    layers = nn.ModuleList(nn.Linear(width, width) for _ in range(4)).to(setting.device)
    state0 = torch.randn(nodes, width, device=setting.device)

    def matrix():
        return torch.sparse_coo_tensor(edges, weights, (nodes, nodes)).coalesce()

    once = matrix().to_sparse_csr() if mended else None

    @torch.no_grad()
    def step():
        state = state0
        for layer in layers:
            state = F.relu(layer((once if mended else matrix()) @ state))
        return state.mean()

    return Running(step, nodes)


@pair("spectrum_on_host", marks=False, **FEW)
def spectrum_on_host(setting, mended):
    """Spectra of sound are made on the processor; mended, on the GPU."""
    batch, samples = setting.pick(24, 2), setting.pick(80_000, 2000)
    net = nn.Sequential(
        nn.Conv1d(201, 512, 5, padding=2), nn.GELU(), nn.Conv1d(512, 512, 5, 2, 2), nn.GELU(),
        nn.Conv1d(512, 512, 5, 2, 2),
    ).to(setting.device, torch.bfloat16)
    source = torch.randn(4 * batch, samples)
    window = torch.hann_window(400, device=setting.device if mended else "cpu")
    random = np.random.default_rng(25)

    @torch.no_grad()
    def step():
        sound = source[torch.from_numpy(random.choice(len(source), batch, replace=False))]
        sound = sound.to(setting.device) if mended else sound
        power = torch.stft(sound, 400, 160, window=window, return_complex=True).abs().square()
        level = (power + 1e-6).log().to(setting.device)
        return net(level.to(torch.bfloat16)).mean((1, 2))

    return Running(step, batch)


@pair("frame_by_frame", marks=False, active=1, shapes=False)
def frame_by_frame(setting, mended):
    """Speech is decoded frame by frame and asked by the host; mended, in one operation."""
    frames, width, letters = setting.pick(300, 5), setting.pick(512, 8), 32
    encoder = nn.LSTM(width, width, 2, batch_first=True).to(setting.device, torch.bfloat16)
    head = nn.Linear(width, letters).to(setting.device, torch.bfloat16)

    @torch.no_grad()
    def step():
        sound = torch.randn(1, frames, width, device=setting.device, dtype=torch.bfloat16)
        hidden = encoder(sound)[0][0]
        if mended:
            return torch.unique_consecutive(head(hidden).argmax(-1)).tolist()
        said, last = [], -1
        for place in range(frames):
            letter = head(hidden[place]).softmax(-1).argmax().item()
            if letter != last and letter:
                said.append(letter)
            last = letter
        return said

    return Running(step, 1)


@pair("acts_one_by_one", marks=False, active=1)
def acts_one_by_one(setting, mended):
    """A policy acts in one game at a time; mended, in 256 games at once."""
    games, moves = (setting.pick(256, 4) if mended else 1), setting.pick(64, 4)
    policy = layers_of(setting, [8, 256, 256, 4])
    random = np.random.default_rng(26)

    @torch.no_grad()
    def step():
        state = random.standard_normal((games, 8)).astype(np.float32)
        for _ in range(moves):
            odds = policy(torch.from_numpy(state).to(setting.device)).softmax(-1)
            chosen = torch.multinomial(odds, 1)[:, 0]
            action = chosen.cpu().numpy() if mended else np.array([chosen.item()])
            push = np.array([[-1.0], [-0.1], [0.1], [1.0]], np.float32)[action]
            state = np.tanh(0.98 * state + 0.1 * push + 0.05 * np.roll(state, 1, 1))
            state[np.abs(state[:, 0]) > 0.95] *= 0.1

    return Running(step, games * moves)


@pair("replay_of_tuples", **FEW)
def replay_of_tuples(setting, mended):
    """A batch is put together from tuples of small arrays; mended, from arrays on the GPU."""
    kept, batch, width = setting.pick(20_000, 50), setting.pick(2048, 4), 64
    random = np.random.default_rng(27)
    states = random.standard_normal((kept, width)).astype(np.float32)
    rewards = random.standard_normal(kept).astype(np.float32)
    memory = collections.deque(
        (states[i], int(i) % 6, float(rewards[i]), states[i - 1], False) for i in range(kept)
    )
    memory = list(memory)
    if mended:
        states, rewards = (torch.from_numpy(a).to(setting.device) for a in (states, rewards))
    value = layers_of(setting, [width, 1024, 1024, 6])
    target = layers_of(setting, [width, 1024, 1024, 6])
    optimiser = fused_adamw(value, setting)

    def drawn():
        if mended:
            index = torch.randint(0, kept, (batch,), device=setting.device)
            return states[index], index % 6, rewards[index], states[index - 1]
        now, action, reward, after, _ = zip(*dice.sample(memory, batch))
        arrays = np.stack(now), np.array(action), np.array(reward, np.float32), np.stack(after)
        return [torch.from_numpy(array).to(setting.device) for array in arrays]

    def step():
        now, action, reward, after = drawn()
        with torch.no_grad():
            best = reward + 0.99 * target(after).amax(1)
        loss = F.smooth_l1_loss(value(now).gather(1, action[:, None])[:, 0], best)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()

    return Running(step, batch)


@pair("advantages_backwards", marks=False, active=1, shapes=False)
def advantages_backwards(setting, mended):
    """Advantages are summed backwards in time step by step; mended, by one product."""
    length, games = setting.pick(256, 5), setting.pick(1024, 3)
    value = layers_of(setting, [32, 512, 512, 1], torch.bfloat16)
    power = torch.arange(length, device=setting.device)
    decay = (0.95 ** (power[None] - power[:, None]).clamp(min=0)).triu()

    @torch.no_grad()
    def step():
        states = torch.randn(length + 1, games, 32, device=setting.device, dtype=torch.bfloat16)
        values, reward = value(states)[..., 0].float(), states[:-1, :, 0].float()
        delta = reward + 0.99 * values[1:] - values[:-1]
        if mended:
            return decay.to(torch.bfloat16) @ delta.to(torch.bfloat16)
        advantages, last = torch.zeros_like(reward), 0.0
        for time in reversed(range(length)):
            last = delta[time] + 0.95 * last
            advantages[time] = last
        return advantages

    return Running(step, games)


@pair("residual_asked", marks=False, active=1)
def residual_asked(setting, mended):
    """A solver asks for its residual in each iteration; mended, once in twenty-five."""
    side, most = setting.pick(512, 8), setting.pick(100, 5)
    kernel = torch.tensor([[0.0, -1, 0], [-1, 4.01, -1], [0, -1, 0]], device=setting.device)

    def apply(field):
        return F.conv2d(field[None, None], kernel[None, None], padding=1)[0, 0]

    @torch.no_grad()
    def step():
        right = torch.randn(side, side, device=setting.device)
        field, rest = torch.zeros_like(right), right.clone()
        way, size = rest.clone(), (rest * rest).sum()
        for count in range(most):
            image = apply(way)
            length = size / (way * image).sum()
            field, rest = field + length * way, rest - length * image
            new = (rest * rest).sum()
            if (not mended or count % 25 == 24) and new.sqrt() < 1e-9:
                break
            way, size = rest + new / size * way, new
        return field

    return Running(step, most)


@pair("snapshots_to_file", marks=False, active=1, measured=6)
def snapshots_to_file(setting, mended):
    """The state of a simulation is written after each step; mended, a mean of it is kept."""
    side, steps = setting.pick(2048, 8), setting.pick(12, 2)
    wave = 1 / (1 + torch.fft.fftfreq(side, device=setting.device)[:, None].square()
                + torch.fft.rfftfreq(side, device=setting.device).square())

    @torch.no_grad()
    def step():
        field = torch.randn(side, side, device=setting.device)
        means = []
        for _ in range(steps):
            field = torch.fft.irfft2(torch.fft.rfft2(field) * wave, (side, side)).sin()
            means.append(field.mean())
            if not mended:
                np.save(io.BytesIO(), field.cpu().numpy())
        return torch.stack(means).cpu()

    return Running(step, steps)


@pair("rows_of_jacobian", marks=False, active=1, shapes=False)
def rows_of_jacobian(setting, mended):
    """A Jacobian row by row; mended, all rows in one backward pass."""
    width, outputs = setting.pick(512, 8), setting.pick(48, 3)
    net = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(),
                        nn.Linear(width, outputs)).to(setting.device)

    def step():
        point = torch.randn(width, device=setting.device, requires_grad=True)
        answer = net(point)
        if mended:
            rows = torch.eye(outputs, device=setting.device)
            return torch.autograd.grad(answer, point, rows, is_grads_batched=True)[0].norm()
        rows = [torch.autograd.grad(part, point, retain_graph=True)[0] for part in answer]
        return torch.stack(rows).norm()

    return Running(step, 1)


@pair("double_by_numpy", marks=False, **FEW)
def double_by_numpy(setting, mended):
    """Bodies attract each other in FP64, since NumPy made them; mended, in FP32."""
    bodies = setting.pick(6144, 20)
    random = np.random.default_rng(28)
    start = random.standard_normal((bodies, 3))
    place = torch.from_numpy(start.astype(np.float32) if mended else start).to(setting.device)
    speed = torch.zeros_like(place)

    @torch.no_grad()
    def step():
        for _ in range(3):
            way = place[None] - place[:, None]
            far = (way.square().sum(-1) + 1e-3).rsqrt()
            speed.add_((way * far.pow(3)[..., None]).sum(1), alpha=1e-4)
            place.add_(speed, alpha=1e-3)
        return place.norm()

    return Running(step, bodies)


@pair("index_lists", active=2, shapes=False)
def index_lists(setting, mended):
    """Groups are picked by lists of Python; mended, by one index that is on the GPU."""
    groups, rows, width = setting.pick(60, 3), setting.pick(20_000, 40), setting.pick(256, 8)
    random = np.random.default_rng(29)
    lists = [sorted(random.choice(rows, 32, replace=False).tolist()) for _ in range(groups)]
    joined = torch.tensor(lists, device=setting.device)
    net = layers_of(setting, [width, width, width], torch.bfloat16)

    @torch.no_grad()
    def step():
        state = net(torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16))
        if mended:
            return state[joined].mean(1)
        return torch.stack([state[mine].mean(0) for mine in lists])

    return Running(step, groups)


@pair("histograms_logged", measured=8, active=2)
def histograms_logged(setting, mended):
    """A histogram of each weight is logged by NumPy; mended, none is."""
    width = setting.pick(512, 8)
    net = layers_of(setting, [width] * 9)
    optimiser = fused_adamw(net, setting)

    def step():
        inputs = torch.randn(setting.pick(8192, 4), width, device=setting.device)
        optimiser.zero_grad(set_to_none=True)
        with setting.autocast():
            loss = net(inputs).square().mean()
        loss.backward()
        optimiser.step()
        if not mended:
            for weight in net.parameters():
                np.histogram(weight.detach().cpu().numpy().ravel(), 64)

    return Running(step, 1)


@pair("pins_every_batch", **FEW)
def pins_every_batch(setting, mended):
    """Each batch, of another size, is moved to new pinned memory in the step; mended, kept."""
    most, width = setting.pick(60_000, 40), setting.pick(512, 8)
    net = layers_of(setting, [width, width, 1], torch.bfloat16)
    random = np.random.default_rng(30)
    source = torch.randn(most, width)
    kept = source.pin_memory() if setting.cuda else source

    @torch.no_grad()
    def step():
        count = int(random.integers(most // 2, most))
        if mended:
            batch = kept[:count]
        else:
            batch = torch.empty((count, width), pin_memory=setting.cuda).copy_(source[:count])
        return net(batch.to(setting.device, non_blocking=True).to(torch.bfloat16)).mean()

    return Running(step, most * 3 // 4)


@pair("ensemble_in_a_row", marks=False, shapes=False, active=2)
def ensemble_in_a_row(setting, mended):
    """Twelve small networks run one after the other; mended, as one batch of products."""
    members, width, rows = setting.pick(12, 2), setting.pick(256, 8), setting.pick(256, 4)
    weights = torch.randn(4, members, width, width, device=setting.device) / width**0.5
    weights = weights.to(torch.bfloat16)

    @torch.no_grad()
    def step():
        inputs = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)
        if mended:
            state = inputs.expand(members, -1, -1)
            for layer in weights:
                state = torch.tanh(torch.bmm(state, layer))
            return state.mean(0), state.var(0)
        states = []
        for member in range(members):
            state = inputs
            for layer in weights:
                state = torch.tanh(state @ layer[member])
            states.append(state)
        states = torch.stack(states)
        return states.mean(0), states.var(0)

    return Running(step, rows)


@pair("event_for_each_part", marks=False, active=1, shapes=False)
def event_for_each_part(setting, mended):
    """A pipeline on three streams waits on the host for each part; mended, on the GPU."""
    width, parts = setting.pick(1024, 8), setting.pick(24, 3)
    stages = [layers_of(setting, [width] * 4, torch.bfloat16) for _ in range(3)]
    streams = [setting.stream() for _ in stages]

    @torch.no_grad()
    def step():
        rows = setting.pick(1024, 4)
        whole = torch.randn(parts, rows, width, device=setting.device, dtype=torch.bfloat16)
        setting.synchronise()
        answers = []
        for part in whole:
            before = None
            for stage, stream in zip(stages, streams):
                if before is not None and setting.cuda:
                    stream.wait_event(before)
                with setting.on(stream):
                    part = stage(part)
                    before = torch.cuda.Event() if setting.cuda else None
                    if before is not None:
                        before.record()
                        if not mended:
                            before.synchronize()
            answers.append(part)
        setting.synchronise()
        return torch.stack(answers).float().mean() * math.pi

    return Running(step, parts)
