A script that times one operator with its captured inputs.

  $ T=resnet50_amp_eager_b64.json.gz; cp $EXAMPLES/$T .
  $ gpufathom benchmark $T conv2d --cases 2 -o conv.py
  $ python3 -m py_compile conv.py
  $ grep -A 8 '^CAPTURE' conv.py
  CAPTURE = "resnet50_amp_eager_b64.json.gz"
  OPERATOR = "aten::conv2d"
  CASES = [  # kernel_ns: kernel time of a call in the capture
      {"shapes": "[[64, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], []]", "types": "[\"c10::BFloat16\", \"c10::BFloat16\", \"\", \"ScalarList\", \"ScalarList\", \"ScalarList\", \"Scalar\"]",
       "strides": "[[150528, 1, 672, 3], [147, 1, 21, 3], [], [], [], [], []]",
       "arguments": "[\"\", \"\", \"\", \"[2, 2]\", \"[3, 3]\", \"[1, 1]\", \"1\"]",
       "calls": 3, "kernel_ns": 431729},
      {"shapes": "[[64, 64, 56, 56], [256, 64, 1, 1], [], [], [], [], []]", "types": "[\"c10::BFloat16\", \"c10::BFloat16\", \"\", \"ScalarList\", \"ScalarList\", \"ScalarList\", \"Scalar\"]",
       "strides": "[[200704, 1, 3584, 64], [64, 1, 64, 64], [], [], [], [], []]",

Tensors lie as the recorded ones did, and other arguments are what they were: here in place of PyTorch what says how it is called.

  $ mkdir stand_in && cat > stand_in/torch.py <<'PY'
  > class Type(str):
  >     is_floating_point = True
  > for name in "float32 float64 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex64 complex128".split():
  >     globals()[name] = Type(name)
  > class Memory:
  >     def __init__(self, length): self.length = length
  >     def to(self, dtype): return f"{dtype}[{self.length}]"
  > def randn(length, device): return Memory(length)
  > def as_strided(memory, shape, strides): return f"{memory} as {shape} by {strides}"
  > class no_grad:
  >     def __enter__(self): pass
  >     def __exit__(self, *_): pass
  > seen = set()
  > class aten:
  >     @staticmethod
  >     def conv2d(*inputs):
  >         if str(inputs) not in seen: print(inputs)
  >         seen.add(str(inputs))
  > class ops: pass
  > ops.aten = aten
  > __version__ = "0"
  > PY
  $ PYTHONPATH=stand_in python3 conv.py --device cpu | sed -E 's/ +[0-9.]+  \[\[/ HERE  [[/'
  aten::conv2d of resnet50_amp_eager_b64.json.gz on CPU, PyTorch 0
    calls   captured us     here us  inputs
  ('bfloat16[9633792] as [64, 3, 224, 224] by [150528, 1, 672, 3]', 'bfloat16[9408] as [64, 3, 7, 7] by [147, 1, 21, 3]', None, [2, 2], [3, 3], [1, 1], 1)
        3        431.73 HERE  [[64, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], []]
  ('bfloat16[12845056] as [64, 64, 56, 56] by [200704, 1, 3584, 64]', 'bfloat16[16384] as [256, 64, 1, 1] by [64, 1, 64, 64]', None, [1, 1], [0, 0], [1, 1], 1)
       12         36.27 HERE  [[64, 64, 56, 56], [256, 64, 1, 1], [], [], [], [], []]
  $ sed 's/^OPERATOR = .*/OPERATOR = "aten::relu"/' conv.py > gone.py && PYTHONPATH=stand_in python3 gone.py --device cpu
  PyTorch 0 has no aten::relu: import the package that defines it, above, or take the PyTorch of the capture
  [1]
  $ sed 's/if str(inputs) not in seen: print(inputs)/raise NotImplementedError/' stand_in/torch.py > torch.py && PYTHONPATH=. python3 conv.py --device cpu | tail -1 | cut -c1-60; rm torch.py
       12         36.27      failed  [[64, 64, 56, 56], [256, 
  $ gpufathom benchmark $T conv2
  gpufathom: resnet50_amp_eager_b64.json.gz: no operator conv2 launched a kernel in the window (gpufathom work FILE lists the operators)
  [1]
  $ mkdir jax && tar -xzf $EXAMPLES/jax_mlp.tgz -C jax && gpufathom benchmark jax loop_select_fusion
  gpufathom: jax/plugins/profile/2026_11_20_15_18_26/vm.xplane.pb: is of jax: the script calls operators of PyTorch (give a capture of a PyTorch program)
  [1]
  $ gpufathom benchmark $T aten::conv2d -o conv.txt
  gpufathom: -o conv.txt: unknown ending .txt: use .py (see gpufathom benchmark --help)
  [2]
  $ cp $EXAMPLES/lenet_train_b64.json.gz . && gpufathom benchmark lenet_train_b64.json.gz aten::mmm
  gpufathom: lenet_train_b64.json.gz: no operator aten::mmm launched a kernel in the window: did you mean aten::mm? (gpufathom work FILE lists the operators)
  [1]
