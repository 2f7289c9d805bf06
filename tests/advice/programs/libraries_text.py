"""Faults around language models, with the models and tokenizers of libraries."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from setting import Running, pair

SERVED = {"measured": 20, "active": 5, "marks": False, "repeats": 4, "shapes": False}
SHAPES = {"shapes": True}
TRAINED = {"measured": 20, "active": 5, "repeats": 4, "shapes": False}


def bfloat(setting, model):
    return model.to(setting.device, torch.bfloat16).eval()


@pair("experts_in_turn", **SERVED)
def experts_in_turn(setting, mended):
    """Qwen3-MoE takes its experts one after the other; mended, by one grouped product."""
    from transformers import Qwen3MoeConfig, Qwen3MoeModel

    width = setting.pick(1024, 64)
    config = Qwen3MoeConfig(
        vocab_size=setting.pick(32000, 100), hidden_size=width, intermediate_size=2 * width,
        moe_intermediate_size=setting.pick(768, 64), num_hidden_layers=2,
        num_attention_heads=setting.pick(16, 2), num_key_value_heads=setting.pick(4, 2),
        head_dim=64 if setting.tiny else 128, num_experts=setting.pick(64, 4),
        num_experts_per_tok=setting.pick(8, 2),
        experts_implementation="grouped_mm" if mended else "eager",
    )
    model = bfloat(setting, Qwen3MoeModel(config))
    rows, length = setting.pick(4, 2), setting.pick(512, 16)
    tokens = torch.randint(0, config.vocab_size, (rows, length), device=setting.device)

    @torch.no_grad()
    def step():
        return model(input_ids=tokens, use_cache=False).last_hidden_state

    return Running(step, rows)


class Dequantised(nn.Module):
    """A linear layer of whole bytes with a scale for each group of 128 inputs."""

    def __init__(self, setting, wide, high, keep):
        super().__init__()
        group = setting.pick(128, 8)
        weight = torch.randint(-127, 127, (high, wide // group, group), dtype=torch.int8)
        self.weight = weight.to(setting.device)
        self.scale = torch.rand(high, wide // group, 1, device=setting.device) / 1000
        self.shape, self.kept = (high, wide), None
        if keep:
            self.kept = self.full()

    def full(self):
        return (self.weight.float() * self.scale).to(torch.bfloat16).view(self.shape)

    def forward(self, states):
        return F.linear(states, self.full() if self.kept is None else self.kept)


@pair("weights_dequantised_again", **SERVED | SHAPES | {"stacks": True})
def weights_dequantised_again(setting, mended):
    """Weights of a byte are made BF16 in every call; mended, once when loaded."""
    width, layers = setting.pick(4096, 32), setting.pick(6, 2)
    net = nn.Sequential(*(
        layer
        for _ in range(layers)
        for layer in (
            nn.RMSNorm(width, device=setting.device, dtype=torch.bfloat16),
            Dequantised(setting, width, 3 * width, mended), nn.SiLU(),
            Dequantised(setting, 3 * width, width, mended),
        )
    ))
    states = torch.randn(64, width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        return net(states)

    return Running(step, 64)


@pair("logprobs_in_full", **TRAINED | SHAPES)
def logprobs_in_full(setting, mended):
    """GRPO makes all log-probabilities in FP32 to take one each; mended, only what is taken."""
    from transformers import LlamaConfig, LlamaForCausalLM

    width, words = setting.pick(1024, 32), setting.pick(64000, 100)
    config = LlamaConfig(
        vocab_size=words, hidden_size=width, intermediate_size=3 * width,
        num_hidden_layers=setting.pick(4, 1), num_attention_heads=setting.pick(16, 2),
        num_key_value_heads=setting.pick(8, 2),
    )
    model = LlamaForCausalLM(config).to(setting.device, torch.bfloat16)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=setting.cuda)
    rows, length = setting.pick(8, 2), setting.pick(1024, 16)
    tokens = torch.randint(0, words, (rows, length), device=setting.device)
    advantage = torch.randn(rows, 1, device=setting.device)
    old = torch.randn(rows, length - 1, device=setting.device) - 11

    def chosen(logits):
        if mended:
            flat = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="none")
            return -flat.view(rows, -1)
        everything = torch.log_softmax(logits.float(), -1)
        return torch.gather(everything, -1, tokens[:, 1:, None])[..., 0]

    def step():
        optimiser.zero_grad()
        now = chosen(model(input_ids=tokens, use_cache=False).logits[:, :-1]).float()
        ratio = (now - old).exp()
        loss = -torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        loss.backward()
        optimiser.step()

    return Running(step, rows)


def byte_pairs(count):
    """A tokenizer of the tokenizers library, trained on words that are made here."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    parts = ["ka", "to", "mi", "ren", "sul", "ive", "tion", "ed", "ing", "er", "al", "os"]
    words = [a + b + c for a in parts for b in parts for c in parts]
    tokenizer = Tokenizer(models.BPE(unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.train_from_iterator(
        [" ".join(words)], trainers.BpeTrainer(vocab_size=count, special_tokens=["?", "."])
    )
    return tokenizer, words


@pair("texts_embedded_singly", **SERVED)
def texts_embedded_singly(setting, mended):
    """A service embeds the texts of a request one by one; mended, as one padded batch."""
    from transformers import MPNetConfig, MPNetModel

    tokenizer, words = byte_pairs(600)
    tokenizer.enable_padding(length=setting.pick(128, 16), pad_id=1, pad_token=".")
    tokenizer.enable_truncation(setting.pick(128, 16))
    width = setting.pick(768, 32)
    config = MPNetConfig(
        vocab_size=600, hidden_size=width, intermediate_size=4 * width, pad_token_id=1,
        num_hidden_layers=setting.pick(6, 1), num_attention_heads=setting.pick(12, 2),
    )
    model = bfloat(setting, MPNetModel(config))
    texts = [" ".join(words[(7 * row + k) % len(words)] for k in range(40 + row % 20))
             for row in range(setting.pick(12, 4))]

    @torch.no_grad()
    def embed(some):
        found = tokenizer.encode_batch(some)
        tokens = torch.tensor([one.ids for one in found]).to(setting.device)
        mask = torch.tensor([one.attention_mask for one in found]).to(setting.device)
        hidden = model(input_ids=tokens, attention_mask=mask).last_hidden_state
        weight = mask[..., None].to(hidden.dtype)
        return F.normalize((hidden * weight).sum(1) / weight.sum(1), dim=-1)

    def step():
        if mended:
            return embed(texts).float().cpu().numpy()
        return [embed([text]).float().cpu().numpy() for text in texts]

    return Running(step, len(texts))


@pair("ngrams_banned_by_host", measured=20, active=1, marks=False, repeats=4, shapes=False)
def ngrams_banned_by_host(setting, mended):
    """generate() looks for repeated words in Python lists; mended, a processor on the GPU does."""
    from transformers import GPT2Config, GPT2LMHeadModel, LogitsProcessor

    words, width = setting.pick(8000, 50), setting.pick(512, 32)
    config = GPT2Config(
        vocab_size=words, n_embd=width, n_layer=setting.pick(4, 1), n_head=setting.pick(8, 2),
        n_positions=1024, bos_token_id=0, eos_token_id=None, pad_token_id=0,
    )
    model = bfloat(setting, GPT2LMHeadModel(config))
    rows, prompt = setting.pick(16, 2), setting.pick(448, 8)
    tokens = torch.randint(1, words, (rows, prompt), device=setting.device)

    class Banned(LogitsProcessor):
        def __call__(self, seen, scores):
            same = (seen[:, :-2] == seen[:, -2:-1]) & (seen[:, 1:-1] == seen[:, -1:])
            low = torch.where(same, -1e4, 0.0).to(scores.dtype)
            return scores.scatter_add(1, seen[:, 2:], low)

    how = {"logits_processor": [Banned()]} if mended else {"no_repeat_ngram_size": 3}

    @torch.no_grad()
    def step():
        return model.generate(
            tokens, attention_mask=torch.ones_like(tokens), do_sample=False,
            max_new_tokens=setting.pick(10, 3), **how,
        )

    return Running(step, rows)
