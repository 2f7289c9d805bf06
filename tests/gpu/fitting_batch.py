#!/usr/bin/env python3
"""The largest batch that fits, tried out: fitting_batch.py OUT SECONDS

For each model of the utilisation study a trace with memory events at a small batch, from which
`gpufathom analyze` says what would fit; then batches are tried until the largest that runs two
steps is known within 2 %. OUT gets fitting.json and the traces.
"""
import gc
import json
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "studies" / "utilization"))
SMALL = {"resnet50": 64, "bert": 32, "dlrm": 65536}
CLOSE = 1.02


class Trial:
    def __init__(self, model):
        import models_torch
        import torch

        self.torch = torch
        torch.manual_seed(0)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
        self.workload = models_torch.make(model, False, "cuda")
        self.images = model == "resnet50"
        if self.images:
            self.workload.module.to(memory_format=torch.channels_last)

    def steps(self, batch, count, mark=None):
        torch, work = self.torch, self.workload
        inputs, labels = work.data(batch)
        if self.images:
            inputs = inputs.contiguous(memory_format=torch.channels_last)
        for index in range(count):
            with torch.profiler.record_function(f"{mark or 'step'}#{index}"):
                work.optimizer.zero_grad(set_to_none=True)
                with torch.autocast("cuda", dtype=torch.bfloat16):
                    loss = work.module(inputs, labels)
                loss.backward()
                work.optimizer.step()
                del loss
                torch.cuda.synchronize()

    def clear(self):
        self.workload.optimizer.zero_grad(set_to_none=True)
        gc.collect()
        self.torch.cuda.empty_cache()
        self.torch.cuda.reset_peak_memory_stats()

    def trace(self, batch, path):
        from torch.profiler import ProfilerActivity, profile

        self.steps(batch, 3)
        self.clear()
        kinds = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
        with profile(activities=kinds, record_shapes=True, profile_memory=True) as profiler:
            self.steps(batch, 2, "ProfilerStep")
        profiler.export_chrome_trace(str(path))

    def attempt(self, batch):
        """Bytes at the peak, or None where the memory did not suffice."""
        try:
            self.steps(batch, 2)
            done = {"allocated": self.torch.cuda.max_memory_allocated(),
                    "reserved": self.torch.cuda.max_memory_reserved()}
        except self.torch.OutOfMemoryError:
            done = None
        self.clear()
        return done


def search(trial, small, end):
    """Tries until the largest batch that fits and the smallest that does not are close."""
    tried, fits, too_large = {}, small, None
    while time.monotonic() < end and (too_large is None or too_large > fits * CLOSE):
        batch = fits * 4 if too_large is None else round((fits * too_large) ** 0.5)
        if too_large is None and str(fits) in tried:  # memory grows with the batch, nearly
            total = trial.torch.cuda.get_device_properties(0).total_memory
            batch = max(fits + 1, min(batch, int(fits * total / tried[str(fits)]["reserved"])))
        if batch in (fits, too_large):
            break
        tried[str(batch)] = trial.attempt(batch)
        if tried[str(batch)] is None:
            too_large = batch
        else:
            fits = batch
    return {"fits": fits, "too_large": too_large, "tried": tried}


def main():
    import torch

    out, seconds = pathlib.Path(sys.argv[1]), float(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    answer = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
              "total_memory": torch.cuda.get_device_properties(0).total_memory, "models": {}}
    for number, (model, small) in enumerate(SMALL.items()):
        share = (seconds - (time.monotonic() - begun)) / (len(SMALL) - number)
        end = time.monotonic() + share
        entry = answer["models"][model] = {"traced_batch": small}
        try:
            trial = Trial(model)
            trial.trace(small, out / f"{model}_b{small}.json.gz")
            entry.update(search(trial, small, end))
            del trial
        except Exception as wrong:  # one model never takes the others with it
            entry["failed"] = f"{type(wrong).__name__}: {wrong}"[:300]
        gc.collect()
        torch.cuda.empty_cache()
        print(model, {key: value for key, value in entry.items() if key != "tried"},
              f"{time.monotonic() - begun:.1f} s", flush=True)
        (out / "fitting.json").write_text(json.dumps(answer, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
