"""Jobs in PyTorch that measurements on a GPU share: what is served and what is learned, by
itself."""
import torch


class Decoder:
    """A token for each of `batch` sequences at every replay(): blocks of attention over 1 024 kept
    keys and values and of an MLP 2 048 wide, in bfloat16, captured once as a CUDA graph."""
    WIDTH, HEADS, ROOM = 2048, 16, 1024

    def __init__(self, batch, blocks):
        torch.manual_seed(0)
        width, half = self.WIDTH, {"device": "cuda", "dtype": torch.bfloat16}
        self.blocks = [[torch.randn(size, **half) * 0.02 for size in (
            (width, 3 * width), (width, width), (width, 4 * width), (4 * width, width))]
            for _ in range(blocks)]
        self.kept = [torch.randn(2, batch, self.HEADS, self.ROOM, width // self.HEADS, **half)
                     for _ in range(blocks)]
        self.token = torch.randn(batch, width, **half)
        for _ in range(3):
            self.decode()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.decode()
        torch.cuda.synchronize()

    def replay(self):
        self.graph.replay()

    def decode(self):
        norm, x = torch.nn.functional.layer_norm, self.token
        batch, width = x.shape
        for (attend, out, up, down), cache in zip(self.blocks, self.kept):
            query, key, value = (x @ attend).view(batch, self.HEADS, 1, -1).chunk(3, -1)
            cache[0, :, :, -1:], cache[1, :, :, -1:] = key, value
            mixed = torch.nn.functional.scaled_dot_product_attention(query, cache[0], cache[1])
            x = norm(x + mixed.reshape(batch, width) @ out, (width,))
            x = x + torch.nn.functional.gelu(x @ up) @ down
        self.token.copy_(norm(x, (width,)))


class Policy:
    """A policy of 64 actors that acts eight times and learns at every step(): hundreds of small
    kernels launched one by one, so that the host is the limit."""

    def __init__(self):
        torch.manual_seed(0)
        self.net = torch.nn.Sequential(
            torch.nn.Linear(64, 128), torch.nn.Tanh(), torch.nn.Linear(128, 128), torch.nn.Tanh(),
            torch.nn.Linear(128, 8)).cuda()
        self.adam = torch.optim.Adam(self.net.parameters(), 1e-4, foreach=False)
        self.state = torch.randn(64, 64, device="cuda")
        self.move = torch.randn(8, 64, device="cuda") * 0.01
        for _ in range(20):
            self.step()
        torch.cuda.synchronize()

    def step(self):
        losses = 0
        for _ in range(8):
            action = torch.softmax(self.net(self.state), 1)
            self.state = torch.tanh(self.state + action @ self.move).detach()
            losses = losses - (action * self.state[:, :8]).sum(1).mean()
        self.adam.zero_grad()
        losses.backward()
        self.adam.step()
