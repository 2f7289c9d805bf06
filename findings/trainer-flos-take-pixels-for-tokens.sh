#!/usr/bin/env bash
# Guess: total_flos of the transformers Trainer is 6 * tokens * parameters, with the tokens that the model
# works on: patches for a vision model, both sequences for an encoder-decoder.
# So it is: the number of elements of the main input is taken for tokens. A ViT on one 224x224 image has
# 150 528 of them (3 colours times the pixels) instead of 197: 764 times the FLOPs. A T5 counts only the encoder's
# input: 8 tokens in and 128 out is 16 times less than 128 in and 8 out, about the same work.
# Why: the Trainer logs total_flos for every model, and MFU made from it is above 100 % or near 0.
# Versions: transformers 5.24.0, torch 2.13.0, accelerate 1.15.0, numpy 2.4.6 (CPU).
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q torch==2.13.0 transformers==5.24.0 accelerate==1.15.0 numpy==2.4.6
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import types, torch
from transformers import T5Config, T5ForConditionalGeneration, Trainer, ViTConfig, ViTForImageClassification
flops = lambda model, **inputs: Trainer.floating_point_ops(types.SimpleNamespace(model=model), inputs)
vit = ViTForImageClassification(ViTConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                                          intermediate_size=128))
image = torch.zeros(1, 3, 224, 224)
tokens = vit.vit.embeddings(image).shape[1]
seen = flops(vit, pixel_values=image)
print("ViT tokens", tokens, "times too many", round(seen / (6 * tokens * vit.num_parameters())))
t5 = T5ForConditionalGeneration(T5Config(d_model=64, num_layers=2, d_ff=128, num_heads=4, d_kv=16))
text = lambda n: torch.zeros(1, n, dtype=torch.long)
a = flops(t5, input_ids=text(128), decoder_input_ids=text(8))
b = flops(t5, input_ids=text(8), decoder_input_ids=text(128))
print("T5 128 in 8 out", a, "8 in 128 out", b, "ratio", a / b)
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
ViT tokens 197 times too many 764
T5 128 in 8 out 126418944 8 in 128 out 7901184 ratio 16.0
END
