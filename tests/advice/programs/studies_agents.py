"""Agents in games on the GPU, and models trained by preferences and rewards."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from libraries_text import SERVED, TRAINED, bfloat
from services_decoding import Decoder, graphed
from services_serving import Mixer
from services_training import UNMARKED
from setting import Running, pair


@pair("resets_by_nonzero", **SERVED)
def resets_by_nonzero(setting, mended):
    """Robots that fell are looked up with nonzero() and reset by index; mended, by torch.where."""
    count, width = setting.pick(131072, 8), setting.pick(1024, 16)
    policy = bfloat(setting, nn.Sequential(nn.Linear(64, width), nn.ELU(), nn.Linear(width, width),
                                           nn.ELU(), nn.Linear(width, 8)))
    parts = [torch.rand(count, 8, device=setting.device) - 0.5 for _ in range(8)]
    starts = [torch.rand(count, 8, device=setting.device) - 0.5 for _ in parts]
    age = torch.randint(0, 100, (count,), device=setting.device)

    @torch.no_grad()
    def turn():
        moves = policy(torch.cat(parts, 1).to(torch.bfloat16)).float().tanh()
        place, speed, *others = parts
        speed.mul_(0.99).add_(moves, alpha=0.01).clamp_(-1, 1)
        place.add_(speed, alpha=0.02)
        for other in others:
            other.lerp_(place, 0.01)
        age.add_(1)
        over = (age > 100) | (place.abs().amax(1) > 2)
        if mended:
            for part, start in zip(parts, starts):
                torch.where(over[:, None], start, part, out=part)
            age.masked_fill_(over, 0)
            return
        which = over.nonzero().squeeze(1)
        if len(which) > 0:
            for part, start in zip(parts, starts):
                part[which] = start[which]
            age[which] = 0

    def step():
        for _ in range(8):
            turn()

    return Running(step, 8 * count)


def blocks_of(setting, width, depth, heads=16):
    layers = nn.Sequential(*(Mixer(width, heads) for _ in range(depth)))
    return layers.to(setting.device, torch.bfloat16)


@pair("rewards_item_by_item", **TRAINED)
def rewards_item_by_item(setting, mended):
    """Rewards of 512 answers are made floats one by one to be centred; mended, on the GPU."""
    width, answers, length = setting.pick(1024, 32), setting.pick(512, 4), setting.pick(64, 4)
    words = setting.pick(8192, 32)
    policy = nn.Sequential(nn.Embedding(words, width), *blocks_of(setting, width,
                           setting.pick(4, 1), setting.pick(16, 2)), nn.Linear(width, words))
    policy = policy.to(setting.device, torch.bfloat16)
    judge = bfloat(setting, nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, 1)))
    optimiser = torch.optim.AdamW(policy.parameters(), lr=1e-6, fused=setting.cuda)
    tokens = torch.randint(0, words, (answers, length), device=setting.device)
    seen = torch.randn(answers, width, device=setting.device, dtype=torch.bfloat16)

    def step():
        with torch.no_grad():
            rewards = judge(seen).squeeze(1).float()
            if mended:
                gains = (rewards - rewards.mean()) / (rewards.std() + 1e-4)
            else:
                found = [reward.item() for reward in rewards]
                mean = sum(found) / len(found)
                spread = (sum((one - mean) ** 2 for one in found) / (len(found) - 1)) ** 0.5
                gains = torch.tensor([(one - mean) / (spread + 1e-4) for one in found])
                gains = gains.to(setting.device)
        optimiser.zero_grad()
        lost = F.cross_entropy(policy(tokens).flatten(0, 1), tokens.flatten(), reduction="none")
        (gains[:, None] * lost.view(answers, length)).mean().backward()
        optimiser.step()

    return Running(step, answers)


@pair("priorities_by_numpy", **UNMARKED)
def priorities_by_numpy(setting, mended):
    """A replay of a million moments is drawn by numpy.random.choice; mended, on the GPU."""
    size, rows, width = setting.pick(1_000_000, 100), setting.pick(2048, 8), setting.pick(1024, 16)
    seen = torch.randn(size, 64, device=setting.device)
    net = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                        nn.Linear(width, 18)).to(setting.device)
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-4, fused=setting.cuda)
    urgent = np.random.rand(size) + 0.1
    urgent_here = torch.rand(size, device=setting.device) + 0.1

    def drawn():
        if mended:
            upto = urgent_here.pow(0.6).cumsum(0)
            return torch.searchsorted(upto, torch.rand(rows, device=setting.device) * upto[-1])
        chance = urgent**0.6
        return np.random.choice(size, rows, p=chance / chance.sum())

    def step():
        places = drawn()
        here = places.clamp_(max=size - 1) if mended else torch.from_numpy(places).to(setting.device)
        found = net(seen[here])
        wrong = found.amax(1) - found[:, 0].detach()
        optimiser.zero_grad()
        wrong.square().mean().backward()
        optimiser.step()
        if mended:
            urgent_here[here] = wrong.detach().abs() + 1e-3
        else:
            urgent[places] = wrong.detach().abs().cpu().numpy() + 1e-3

    return Running(step, rows)


@pair("reference_moved_in_and_out", **UNMARKED | {"active": 3})
def reference_moved_in_and_out(setting, mended):
    """DPO: the reference model goes to the GPU and back to the host in each step; mended, it
    stays."""
    width, depth, heads = setting.pick(1024, 32), setting.pick(6, 1), setting.pick(16, 2)
    policy, reference = (blocks_of(setting, width, depth, heads) for _ in "ab")
    reference.requires_grad_(False)
    optimiser = torch.optim.AdamW(policy.parameters(), lr=1e-6, fused=setting.cuda)
    pairs, length = setting.pick(16, 2), setting.pick(1024, 4)
    chosen, rejected = (torch.randn(pairs, length, width, device=setting.device,
                                    dtype=torch.bfloat16) for _ in "ab")
    both = torch.cat((chosen, rejected))

    def margin(model):
        good, bad = model(both).float().mean((1, 2)).chunk(2)
        return good - bad

    def step():
        with torch.no_grad():
            reference.to(setting.device)
            known = margin(reference)
            if not mended:
                reference.to("cpu")
        optimiser.zero_grad()
        (-F.logsigmoid(0.1 * (margin(policy) - known))).mean().backward()
        optimiser.step()

    return Running(step, pairs)


@pair("finish_asked_for_each_token", **SERVED)
def finish_asked_for_each_token(setting, mended):
    """Answers are written by a CUDA graph; the host asks after each token whether all have ended.

    Mended, it asks after sixteen.
    """
    width, rows, words = setting.pick(1024, 32), setting.pick(64, 2), setting.pick(32000, 50)
    places = setting.pick(256, 20)
    model = Decoder(setting, words, width, setting.pick(16, 2), setting.pick(6, 1), rows, places)
    tokens = torch.zeros(rows, 1, dtype=torch.long, device=setting.device)
    place = torch.zeros(1, dtype=torch.long, device=setting.device)
    run = graphed(setting, lambda: model(tokens, place))
    history = torch.zeros(rows, places, dtype=torch.long, device=setting.device)
    lengths = torch.zeros(rows, dtype=torch.long, device=setting.device)
    ended = torch.zeros(rows, dtype=torch.bool, device=setting.device)

    @torch.no_grad()
    def step():
        ended.zero_()
        lengths.zero_()
        for count in range(16):
            open_ = ~ended
            lengths.add_(open_)
            history[:, count] = tokens[:, 0] * open_
            place.fill_(count)
            found = run().view(rows, words).float() / 0.8
            best, which = found.topk(min(50, words), dim=-1)
            # what multinomial does, without its checks
            noise = torch.empty_like(best).exponential_()
            chosen = (best.softmax(-1) / noise).argmax(-1, keepdim=True)
            tokens.copy_(which.gather(1, chosen))
            ended.logical_or_(tokens[:, 0] == words + 1)
            if (not mended or count == 15) and bool(ended.all()):
                break
        return history

    return Running(step, 16 * rows)
