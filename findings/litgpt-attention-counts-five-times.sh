#!/usr/bin/env bash
# Guess: estimate_flops() of LitGPT, "for MFU", is about a tenth too high, as its comment says, because embeddings and norms
# count as matrices.
# So it is: attention counts anew for the frozen parameters, also where there are none: as five forward passes in a training
# step, not three, as two in inference, not one. Llama 3.1 8B has 1.39 of the FLOPs of a training step at 32768 tokens (1.89
# of those of causal attention), 1.57 in inference. All experts of a mixture count: Mixtral 8x7B has 3.58 at 2048 tokens.
# The width of the heads is not read where it is not that of the model: Qwen 3 0.6B has 1.14 at 2048 tokens and 0.89 at
# 32768. Lightning's measure_flops(), which LitGPT's own pretraining uses, is right.
# Why: an MFU from it grows with the length of the text, and is above one for a mixture of experts.
# Versions: litgpt 0.5.13, torch 2.13.0. The models are on torch's meta device.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q litgpt==0.5.13 torch==2.13.0 numpy==2.4.6
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib.metadata, torch
from litgpt import Config, GPT
from litgpt.utils import estimate_flops
print("litgpt", importlib.metadata.version("litgpt"))
for name in "pythia-1b", "Llama-3.1-8B", "Qwen3-0.6B", "Mixtral-8x7B-v0.1":
    for tokens in 2048, 8192, 32768:
        config = Config.from_name(name, block_size=tokens)
        with torch.device("meta"):
            model = GPT(config)
        model.max_seq_length = tokens
        experts = config.n_expert_per_token / config.n_expert if config.n_expert else 1
        weights = sum(layer.weight.numel() * (experts if ".experts." in path else 1) for path, layer in model.named_modules() if isinstance(layer, torch.nn.Linear))
        scores = 4 * config.n_layer * config.n_head * config.head_size * tokens**2
        true, causal = (2 * weights * tokens + scores * share for share in (1, 0.5))
        ways = {way: estimate_flops(model, training=way == "training") / (3 if way == "training" else 1) for way in ("training", "inference")}
        print(f"{name}, {tokens} tokens:", ", ".join(f"{way} {flops / true:.2f}" for way, flops in ways.items()), f"of the true ones; training {ways['training'] / causal:.2f} of the causal ones")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
litgpt 0.5.13
pythia-1b, 2048 tokens: training 1.19, inference 1.23 of the true ones; training 1.27 of the causal ones
pythia-1b, 8192 tokens: training 1.32, inference 1.44 of the true ones; training 1.62 of the causal ones
pythia-1b, 32768 tokens: training 1.50, inference 1.74 of the true ones; training 2.32 of the causal ones
Llama-3.1-8B, 2048 tokens: training 1.11, inference 1.13 of the true ones; training 1.15 of the causal ones
Llama-3.1-8B, 8192 tokens: training 1.20, inference 1.28 of the true ones; training 1.35 of the causal ones
Llama-3.1-8B, 32768 tokens: training 1.39, inference 1.57 of the true ones; training 1.89 of the causal ones
Qwen3-0.6B, 2048 tokens: training 1.14, inference 1.19 of the true ones; training 1.33 of the causal ones
Qwen3-0.6B, 8192 tokens: training 1.00, inference 1.10 of the true ones; training 1.44 of the causal ones
Qwen3-0.6B, 32768 tokens: training 0.89, inference 1.04 of the true ones; training 1.57 of the causal ones
Mixtral-8x7B-v0.1, 2048 tokens: training 3.58, inference 3.60 of the true ones; training 3.66 of the causal ones
Mixtral-8x7B-v0.1, 8192 tokens: training 3.38, inference 3.42 of the true ones; training 3.64 of the causal ones
Mixtral-8x7B-v0.1, 32768 tokens: training 2.86, inference 2.99 of the true ones; training 3.58 of the causal ones
END
