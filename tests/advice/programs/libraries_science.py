"""Faults of graphs, Gaussian processes and differential equations, with their libraries."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from setting import Running, pair
from libraries_text import SERVED, SHAPES, TRAINED

UNMARKED = TRAINED | {"marks": False}


@pair("graph_sizes_asked", **TRAINED)
def graph_sizes_asked(setting, mended):
    """GraphNorm and pooling ask the GPU how many graphs there are; mended, they are told."""
    from torch_geometric.nn import GINConv, GraphNorm, global_add_pool

    graphs, nodes, width = setting.pick(1024, 4), setting.pick(24, 5), setting.pick(128, 8)
    layers = setting.pick(8, 2)

    def mlp():
        return nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))

    convs = nn.ModuleList(GINConv(mlp()) for _ in range(layers))
    norms = nn.ModuleList(GraphNorm(width) for _ in range(layers))
    head = nn.Linear(layers * width, 1)
    net = nn.ModuleList([convs, norms, head]).to(setting.device)
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-3, fused=setting.cuda)
    total = graphs * nodes
    start = torch.randn(total, width, device=setting.device)
    place = torch.arange(total, device=setting.device)
    batch = place // nodes
    step_of = torch.cat([(place + k) % nodes + batch * nodes for k in (1, 2)])
    edges = torch.stack([place.repeat(2), step_of])
    aim = torch.randn(graphs, 1, device=setting.device)
    size = graphs if mended else None

    def step():
        optimiser.zero_grad()
        state, pooled = start, []
        for conv, norm in zip(convs, norms):
            state = F.relu(norm(conv(state, edges), batch, size))
            pooled.append(global_add_pool(state, batch, size))
        F.mse_loss(head(torch.cat(pooled, 1)), aim).backward()
        optimiser.step()

    return Running(step, graphs)


@pair("weights_of_edges_again", **UNMARKED)
def weights_of_edges_again(setting, mended):
    """Each of a network's GCNConv works out a fixed graph's edge weights; mended, cached."""
    from torch_geometric.nn import GCNConv

    nodes, edges = setting.pick(200_000, 50), setting.pick(3_000_000, 200)
    width = setting.pick(16, 8)
    convs = nn.ModuleList(GCNConv(width, width, cached=mended) for _ in range(4))
    convs = convs.to(setting.device)
    optimiser = torch.optim.Adam(convs.parameters(), lr=1e-3, fused=setting.cuda)
    state = torch.randn(nodes, width, device=setting.device)
    graph = torch.randint(0, nodes, (2, edges), device=setting.device)
    aim = torch.randint(0, width, (nodes,), device=setting.device)

    def step():
        optimiser.zero_grad()
        hidden = state
        for conv in convs:
            hidden = F.relu(conv(hidden, graph))
        F.cross_entropy(hidden, aim).backward()
        optimiser.step()

    return Running(step, nodes)


@pair("deterministic_left_on", **TRAINED | SHAPES)
def deterministic_left_on(setting, mended):
    """use_deterministic_algorithms makes GraphSAGE's sums sort their rows; mended, it is off."""
    from torch_geometric.nn import SAGEConv

    nodes, edges = setting.pick(20_000, 50), setting.pick(200_000, 200)
    width = setting.pick(64, 8)
    convs = nn.ModuleList(SAGEConv(width, width) for _ in range(3)).to(setting.device)
    optimiser = torch.optim.Adam(convs.parameters(), lr=1e-3, fused=setting.cuda)
    state = torch.randn(nodes, width, device=setting.device)
    graph = torch.randint(0, nodes, (2, edges), device=setting.device)
    aim = torch.randn(nodes, width, device=setting.device)
    torch.use_deterministic_algorithms(not mended, warn_only=True)

    def step():
        optimiser.zero_grad()
        hidden = state
        for conv in convs:
            hidden = F.relu(conv(hidden, graph))
        F.mse_loss(hidden, aim).backward()
        optimiser.step()

    return Running(step, nodes, lambda: torch.use_deterministic_algorithms(False))


@pair("posterior_forgotten", **SERVED)
def posterior_forgotten(setting, mended):
    """train() and eval() around each query drop a GP's solved system; mended, it is kept."""
    import gpytorch

    class Model(gpytorch.models.ExactGP):
        def __init__(self, *data):
            super().__init__(*data)
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(
                gpytorch.kernels.MaternKernel(nu=2.5, ard_num_dims=6)
            )

        def forward(self, inputs):
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(inputs), self.covar_module(inputs)
            )

    count = setting.pick(4000, 20)
    inputs = torch.rand(count, 6, device=setting.device)
    values = torch.sin(inputs.sum(1) * 3) + 0.1 * torch.randn(count, device=setting.device)
    noise = gpytorch.likelihoods.GaussianLikelihood()
    model = Model(inputs, values, noise).to(setting.device).eval()
    asked = torch.rand(setting.pick(256, 4), 6, device=setting.device)

    def step():
        if not mended:
            model.train()
        model.eval()
        with torch.no_grad(), gpytorch.settings.skip_posterior_variances():
            with gpytorch.settings.max_cholesky_size(10_000):
                return model(asked).mean

    return Running(step, len(asked))


@pair("restarts_one_by_one", **SERVED | {"active": 1})
def restarts_one_by_one(setting, mended):
    """BoTorch's acquisition is asked for one starting point at a time; mended, for all."""
    from botorch.acquisition import qLogExpectedImprovement
    from botorch.models import SingleTaskGP
    from botorch.sampling import SobolQMCNormalSampler

    how = {"device": setting.device, "dtype": torch.float64}
    inputs = torch.rand(setting.pick(200, 10), 5, **how)
    values = torch.sin(inputs.sum(1, keepdim=True) * 3)
    model = SingleTaskGP(inputs, values).eval()
    sampler = SobolQMCNormalSampler(torch.Size([setting.pick(128, 4)]))
    better = qLogExpectedImprovement(model, best_f=float(values.max()), sampler=sampler)
    starts = torch.rand(setting.pick(12, 3), 3, 5, **how)

    def step():
        points = starts.clone().requires_grad_()
        if mended:
            better(points).sum().backward()
        else:
            for index in range(len(points)):
                better(points[index : index + 1]).sum().backward()
        return points.grad

    return Running(step, len(starts))


@pair("time_read_by_host", **UNMARKED)
def time_read_by_host(setting, mended):
    """A neural ODE reads its time with .item() for the math module; mended, torch.sin does."""
    from torchdiffeq import odeint

    rows, width = setting.pick(2048, 8), setting.pick(256, 16)
    net = nn.Sequential(nn.Linear(width + 8, width), nn.SiLU(), nn.Linear(width, width))
    net = net.to(setting.device)
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-3, fused=setting.cuda)
    start = torch.randn(rows, width, device=setting.device)
    aim = torch.randn(rows, width, device=setting.device)
    moments = torch.linspace(0, 1, 2, device=setting.device)
    tones = torch.arange(1, 9, device=setting.device)

    def slope(time, state):
        if mended:
            phase = torch.sin(math.pi * tones * time)
        else:
            now = time.item()
            phase = [math.sin(math.pi * tone * now) for tone in range(1, 9)]
            phase = torch.tensor(phase, device=setting.device)
        return net(torch.cat([state, phase.expand(len(state), 8)], 1))

    def step():
        optimiser.zero_grad()
        end = odeint(slope, start, moments, method="rk4", options={"step_size": 0.1})[-1]
        F.mse_loss(end, aim).backward()
        optimiser.step()

    return Running(step, rows)


@pair("neighbours_by_differences", **SERVED | SHAPES)
def neighbours_by_differences(setting, mended):
    """Distances out of all differences, expanded to a large tensor; mended, of one product."""
    count, width = setting.pick(2048, 16), setting.pick(256, 8)
    asked = torch.randn(count, width, device=setting.device)
    known = torch.randn(2 * count, width, device=setting.device)

    @torch.no_grad()
    def step():
        if mended:
            squares = (known**2).sum(1) - 2 * asked @ known.T
            return squares.topk(16, largest=False).indices
        apart = asked[:, None] - known[None]
        return (apart**2).sum(-1).topk(16, largest=False).indices

    return Running(step, count)
