"""Weather, molecules, neural fields, sparse matrices, series of times and speech."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from libraries_text import SERVED, SHAPES, TRAINED, bfloat
from services_training import UNMARKED
from setting import Running, pair


def fully(*widths, act=nn.ReLU):
    """Linear layers of these widths with an activation between them."""
    parts = []
    for wide, high in zip(widths, widths[1:]):
        parts += [nn.Linear(wide, high), act()]
    return nn.Sequential(*parts[:-1])


@pair("rays_for_all_pictures", **UNMARKED)
def rays_for_all_pictures(setting, mended):
    """A neural field's step makes the rays of all pictures to draw 4096; mended, of those drawn."""
    count, side = setting.pick(40, 2), setting.pick(800, 8)
    rays, places = setting.pick(4096, 4), setting.pick(64, 4)
    poses = torch.randn(count, 3, 4, device=setting.device)
    colours = torch.rand(count, side, side, 3, device=setting.device)
    width = setting.pick(256, 16)
    field = fully(63, width, width, width, width, 4).to(setting.device)
    optimiser = torch.optim.Adam(field.parameters(), lr=5e-4, fused=setting.cuda)
    line = torch.linspace(-1, 1, side, device=setting.device)
    depth = torch.linspace(2, 6, places, device=setting.device)
    waves = 2.0 ** torch.arange(10, device=setting.device)

    def whole():
        down, right = torch.meshgrid(line, -line, indexing="ij")
        ways = torch.stack((right, down, -torch.ones_like(down)), -1)
        ways = (ways[None, :, :, None] * poses[:, None, None, :, :3]).sum(-1)
        ways = ways / ways.norm(dim=-1, keepdim=True)
        begins = poses[:, None, None, :, 3].expand(ways.shape)
        known = torch.cat((begins, ways, colours), -1).view(-1, 9)
        return known[torch.randint(0, len(known), (rays,), device=setting.device)].split(3, 1)

    def drawn():
        one, down, right = (torch.randint(0, most, (rays,), device=setting.device)
                            for most in (count, side, side))
        ways = torch.stack((-line[right], line[down], -torch.ones_like(line[down])), -1)
        ways = F.normalize((ways[:, None] * poses[one, :, :3]).sum(-1), dim=1)
        return poses[one, :, 3], ways, colours[one, down, right]

    def step():
        begins, ways, aim = drawn() if mended else whole()
        points = begins[:, None] + ways[:, None] * depth[:, None]
        angles = (points[..., None] * waves).flatten(2)
        optimiser.zero_grad()
        with setting.autocast():
            found = field(torch.cat((points, angles.sin(), angles.cos()), -1)).float()
        dense, colour = F.softplus(found[..., 3]), found[..., :3].sigmoid()
        through = torch.exp(-(dense.cumsum(1) - dense) * 0.06)
        share = through * (1 - torch.exp(-dense * 0.06))
        F.mse_loss((share[..., None] * colour).sum(1), aim).backward()
        optimiser.step()

    return Running(step, rays)


@pair("table_read_by_brackets", **UNMARKED)
def table_read_by_brackets(setting, mended):
    """A hash grid's table[places] goes back by sorting the places; mended, index_select."""
    levels, size, points = setting.pick(8, 2), setting.pick(2**19, 64), setting.pick(262144, 16)
    tables = nn.ParameterList(torch.randn(size, 2, device=setting.device) for _ in range(levels))
    field = fully(2 * levels, 64, 64, 4).to(setting.device)
    optimiser = torch.optim.Adam([*tables, *field.parameters()], lr=1e-2, fused=setting.cuda)
    places = torch.randint(0, size, (levels, points * 8), device=setting.device)
    shares = torch.rand(points, 8, 1, device=setting.device)
    aim = torch.rand(points, 4, device=setting.device)

    def step():
        optimiser.zero_grad()
        parts = []
        for table, place in zip(tables, places):
            found = table.index_select(0, place) if mended else table[place]
            parts.append((found.view(points, 8, 2) * shares).sum(1))
        with setting.autocast():
            answer = field(torch.cat(parts, 1)).float()
        F.mse_loss(answer, aim).backward()
        optimiser.step()

    return Running(step, points)


@pair("latitude_weights_on_host", **TRAINED)
def latitude_weights_on_host(setting, mended):
    """A forecast's loss makes its weights of latitudes on the host in each step; mended, once."""
    parts, high, wide = setting.pick(32, 2), setting.pick(720, 8), setting.pick(1440, 16)
    width = setting.pick(128, 4)
    net = nn.Sequential(nn.Conv2d(parts, width, 3, padding=1), nn.SiLU(),
                        nn.Conv2d(width, width, 3, padding=1), nn.SiLU(),
                        nn.Conv2d(width, parts, 3, padding=1))
    net = net.to(setting.device, memory_format=torch.channels_last)
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-4, fused=setting.cuda)
    now, then = (torch.randn(1, parts, high, wide, device=setting.device)
                 .to(memory_format=torch.channels_last) for _ in "ab")

    def weights():
        latitude = torch.linspace(90, -90, high, dtype=torch.float64)
        share = torch.cos(torch.deg2rad(latitude)).clamp(min=0)
        share = (share / share.mean()).view(1, 1, high, 1)
        return share.expand(1, parts, high, wide).contiguous().float().to(setting.device)

    kept = weights()

    def step():
        optimiser.zero_grad()
        with setting.autocast():
            found = net(now)
        loss = ((found.float() - then).square() * (kept if mended else weights())).mean()
        loss.backward()
        optimiser.step()

    return Running(step, 1)


@pair("species_one_by_one", **SERVED)
def species_one_by_one(setting, mended):
    """ANI: each element's atoms are looked up by nonzero() for its network; mended, kept sorted."""
    atoms, kinds = setting.pick(800_000, 70), 7
    nets = [bfloat(setting, fully(384, 256, 192, 160, 1, act=nn.CELU)) for _ in range(kinds)]
    seen = torch.randn(atoms, 384, device=setting.device, dtype=torch.bfloat16)
    kind = torch.randint(0, kinds, (atoms,), device=setting.device)
    order = kind.argsort()
    sizes = torch.bincount(kind, minlength=kinds).tolist()
    ordered = seen[order]

    @torch.no_grad()
    def step():
        if mended:
            pieces = ordered.split(sizes)
            return torch.cat([net(piece) for net, piece in zip(nets, pieces)]).sum()
        energy = torch.zeros(atoms, 1, device=setting.device, dtype=torch.bfloat16)
        for number, net in enumerate(nets):
            places = (kind == number).nonzero().flatten()
            if places.shape[0] > 0:
                energy.index_add_(0, places, net(seen.index_select(0, places)))
        return energy.sum()

    return Running(step, atoms)


@pair("sparse_made_dense", **SERVED)
def sparse_made_dense(setting, mended):
    """A sparse matrix is made dense for each product; mended, the product is sparse."""
    side, width = setting.pick(16384, 32), setting.pick(128, 4)
    count = 32 * side
    places = torch.randint(0, side, (2, count), device=setting.device)
    matrix = torch.sparse_coo_tensor(places, torch.rand(count, device=setting.device), (side, side))
    matrix = matrix.coalesce().to_sparse_csr()
    some = torch.randn(side, width, device=setting.device)

    @torch.no_grad()
    def step():
        states = some
        for _ in range(4):
            states = (matrix if mended else matrix.to_dense()) @ states / 16
        return states

    return Running(step, side)


@pair("windows_cut_in_python", **UNMARKED)
def windows_cut_in_python(setting, mended):
    """A series is cut into 1024 windows by slices and a stack; mended, by unfold."""
    length, window, width = setting.pick(4096, 40), setting.pick(512, 8), setting.pick(512, 16)
    rows = setting.pick(1024, 8)
    series = torch.randn(length, 8, device=setting.device)
    net = fully(8 * window, width, width, 8).to(setting.device)
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-4, fused=setting.cuda)
    start = torch.arange(rows) * 3

    def step():
        if mended:
            some = series.unfold(0, window, 3)[:rows].transpose(1, 2).flatten(1)
        else:
            some = torch.stack([series[at : at + window] for at in start.tolist()]).flatten(1)
        optimiser.zero_grad()
        with setting.autocast():
            found = net(some)
        F.mse_loss(found.float(), some[:, -8:]).backward()
        optimiser.step()

    return Running(step, rows)


class Cells(nn.Module):
    """A recurrent forecast of sales: LSTMCell in a Python loop, or nn.LSTM."""

    def __init__(self, width, whole):
        super().__init__()
        self.part = nn.LSTM(32, width, batch_first=True) if whole else nn.LSTMCell(32, width)
        self.head, self.whole = nn.Linear(width, 1), whole

    def forward(self, series):
        if self.whole:
            return self.head(self.part(series)[0])
        state, found = None, []
        for moment in series.unbind(1):
            state = self.part(moment, state)
            found.append(state[0])
        return self.head(torch.stack(found, 1))


@pair("cells_in_a_loop", **TRAINED | {"active": 3})
def cells_in_a_loop(setting, mended):
    """nn.LSTMCell is called for each of 96 moments in training; mended, nn.LSTM for all."""
    rows, length, width = setting.pick(256, 4), setting.pick(96, 6), setting.pick(512, 16)
    net = Cells(width, mended).to(setting.device)
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-3, fused=setting.cuda)
    series = torch.randn(rows, length, 32, device=setting.device)

    def step():
        optimiser.zero_grad()
        with setting.autocast():
            found = net(series)
        F.mse_loss(found.float(), series[..., :1]).backward()
        optimiser.step()

    return Running(step, rows)


@pair("window_from_host", **SERVED)
def window_from_host(setting, mended):
    """Griffin-Lim makes its Hann window on the host in each round; mended, once on the GPU."""
    rows, frames, size = setting.pick(8, 1), setting.pick(1024, 8), setting.pick(1024, 16)
    hop = size // 4
    loud = torch.rand(rows, frames, size // 2 + 1, device=setting.device)
    first = torch.rand(rows, hop * (frames + 3), device=setting.device) - 0.5
    kept = torch.hann_window(size, device=setting.device)

    def windowed():
        return kept if mended else torch.hann_window(size).to(setting.device)

    @torch.no_grad()
    def step():
        wave = first
        for _ in range(16):
            window = windowed()
            turned = torch.fft.rfft(wave.unfold(1, size, hop) * window)
            turned = torch.polar(loud, turned.angle())
            pieces = torch.fft.irfft(turned, n=size) * window
            wave = F.fold(pieces.transpose(1, 2), (1, wave.shape[1]), (1, size), stride=(1, hop))
            wave = wave.view(rows, -1) / 1.5
        return wave

    return Running(step, rows)


@pair("durations_item_by_item", **SERVED)
def durations_item_by_item(setting, mended):
    """FastSpeech's sounds are repeated by durations fetched one by one; mended, by searchsorted."""
    rows, sounds, width = setting.pick(16, 2), setting.pick(64, 4), setting.pick(512, 16)
    most = 8 * sounds
    layers = []
    for _ in range(setting.pick(6, 1)):
        layers += [nn.Conv1d(width, 2 * width, 9, padding=4), nn.ReLU(),
                   nn.Conv1d(2 * width, width, 1)]
    writer = bfloat(setting, nn.Sequential(*layers, nn.Conv1d(width, 80, 1)))
    some = torch.randn(rows, sounds, width, device=setting.device, dtype=torch.bfloat16)
    lasting = torch.randint(1, 8, (rows, sounds), device=setting.device)

    def repeated():
        found = torch.zeros(rows, most, width, device=setting.device, dtype=torch.bfloat16)
        for row in range(rows):
            parts = [some[row, at].expand(lasting[row, at].item(), -1) for at in range(sounds)]
            whole = torch.cat(parts)
            found[row, : len(whole)] = whole
        return found

    def looked_up():
        ends = lasting.cumsum(1)
        moments = torch.arange(most, device=setting.device).expand(rows, -1).contiguous()
        which = torch.searchsorted(ends, moments, right=True)
        found = some.gather(1, which.clamp(max=sounds - 1)[..., None].expand(-1, -1, width))
        return found * (which < sounds)[..., None]

    @torch.no_grad()
    def step():
        states = looked_up() if mended else repeated()
        return writer(states.transpose(1, 2))

    return Running(step, rows)
