#!/usr/bin/env bash
# Guess: total_flos of the transformers Trainer is 6 * tokens * parameters without the embedding look-up;
# tying the output layer to the embedding saves memory but no work, so it does not change the FLOPs.
# So it is: the tied weight is left out as "embedding" though the output layer multiplies by it: the same
# small Llama has 409 MFLOPs untied and 16 tied. For a small model with a large vocabulary most of the
# work is gone. And a mixture of experts is charged with all experts: 8 experts, 1 or 2 chosen, is
# one number, about 5 times that of a model with one expert.
# Why: MFU from total_flos is far too low for tied models (Gemma, small Llama and Qwen) and too high for MoE.
# Versions: transformers 5.24.0, torch 2.13.0, accelerate 1.15.0, numpy 2.4.6 (CPU).
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q torch==2.13.0 transformers==5.24.0 accelerate==1.15.0 numpy==2.4.6
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import types, torch
from transformers import LlamaConfig, LlamaForCausalLM, MixtralConfig, MixtralForCausalLM, Trainer
inputs = {"input_ids": torch.zeros(2, 16, dtype=torch.long)}
flops = lambda model: Trainer.floating_point_ops(types.SimpleNamespace(model=model), inputs)
size = dict(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=4)
for tied in (False, True):
    model = LlamaForCausalLM(LlamaConfig(vocab_size=32000, tie_word_embeddings=tied, **size))
    print("tied", tied, flops(model), "output", tuple(model(**inputs).logits.shape))
for experts, chosen in ((1, 1), (8, 1), (8, 2)):
    config = MixtralConfig(vocab_size=100, num_local_experts=experts, num_experts_per_tok=chosen, **size)
    print("experts", experts, "chosen", chosen, flops(MixtralForCausalLM(config)))
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
tied False 409006080 output (2, 16, 32000)
tied True 15790080 output (2, 16, 32000)
experts 1 chosen 1 17043456
experts 8 chosen 1 83275776
experts 8 chosen 2 83275776
END
