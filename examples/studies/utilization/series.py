#!/usr/bin/env python3
"""Measures configurations of one model in one framework, one after another, in one process.

Each measurement is a stretch of whole training steps without a pause; its begin and end are times
of the machine's clock, by which a recording made from outside is cut. What is done goes into --out
after every measurement, so that a process that is ended leaves what it has.
"""
import argparse
import contextlib
import ctypes
import fcntl
import gc
import json
import math
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import time

from sizes import CHOSEN

LEAST_STEPS, WARM_UP_STEPS = 3, 3
LONG_S = 0.1  # a step that long keeps the host ahead by itself, and few of them are enough


BREAK_OFF_S = 12  # so long after the time is out a compilation may still go on


def while_time(batches, until, compile, alike):
    """Compiles for one batch after the other; those that are ready before the time is out. `alike`:
    each takes as long as the longest before; else one that takes too long is broken off."""
    def break_off(*_):
        raise TimeoutError("the time to compile is out")

    ready, longest = [], 0.0
    if not alike:
        signal.signal(signal.SIGALRM, break_off)
        signal.setitimer(signal.ITIMER_REAL, max(until + BREAK_OFF_S - time.time(), 1))
    for batch in batches:
        begun = time.time()
        if begun + (longest if alike else 0) > until:
            break
        try:
            compile(batch)
        except Exception as error:  # one batch that fails leaves the others
            print("not compiled:", batch, f"{type(error).__name__}: {error}"[:400], flush=True)
            continue
        longest = max(longest, time.time() - begun)
        print("compiled", batch, f"in {time.time() - begun:.1f} s", flush=True)
        ready.append(batch)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return ready


@contextlib.contextmanager
def alone(path, until):
    """Of the processes that compile, one at a time fills the GPU's memory."""
    with open(path, "w", encoding="utf-8") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.time() > until:
                    raise TimeoutError("another process had the GPU's memory") from None
                time.sleep(0.1)
        yield


class Torch:
    """One model in PyTorch. Its weights stay; what belongs to a batch comes and goes."""

    def __init__(self, options):
        import models_torch
        import torch

        self.torch, self.options = torch, options
        self.cuda = torch.cuda.is_available()
        self.device = "cuda" if self.cuda else "cpu"
        torch.manual_seed(0)
        # The same in every mode, and nothing that many compilers at once should do as well.
        self.flops = (models_torch.flops_per_item(options.model, options.tiny)
                      if options.mode == "eager" and not options.ncu else None)
        with torch.device(self.device):  # weights begin there: it draws them in no time
            self.workload = models_torch.make(options.model, options.tiny, self.device)
        self.module = self.workload.module
        if options.mode == "compile":
            torch._dynamo.config.recompile_limit = 64
            if options.model.startswith("dlrm"):  # its tables have sparse gradients, and stay eager
                self.module.dense = torch.compile(self.module.dense, dynamic=True)
            else:
                self.module = torch.compile(self.module)
        self.versions = {"torch": torch.__version__, "cuda": torch.version.cuda}
        self.gpu = torch.cuda.get_device_name() if self.cuda else "no GPU"

    def select(self, precision):
        torch = self.torch
        torch.backends.cuda.matmul.allow_tf32 = precision != "fp32"
        torch.backends.cudnn.allow_tf32 = precision != "fp32"
        self.amp = precision == "amp"
        if self.options.model == "resnet50":
            wanted = torch.channels_last if self.amp else torch.contiguous_format
            self.workload.module.to(memory_format=wanted)

    def begin(self, precision, batch):
        self.select(precision)
        if self.cuda:
            self.torch.cuda.reset_peak_memory_stats()
        self.inputs, self.labels = self.workload.data(batch)
        if self.options.model == "resnet50" and self.amp:
            self.inputs = self.inputs.contiguous(memory_format=self.torch.channels_last)
        if self.options.mode == "compile":  # one compilation for all batches
            given = self.inputs if isinstance(self.inputs, tuple) else (self.inputs,)
            for tensor in (*given, self.labels):
                self.torch._dynamo.maybe_mark_dynamic(tensor, 0)

    def prepare(self, precision, batches, until):
        """One compilation serves many batches, but the compiler may ask for another at any. Small
        batches first: what is compiled for them is compiled for most."""
        def compile(batch):
            large = not self.options.tiny and batch > CHOSEN[self.options.model]
            lock = self.options.out.with_name("memory.lock")
            with alone(lock, until) if large else contextlib.nullcontext():
                try:
                    self.begin(precision, batch)
                    for _ in range(2):
                        self.step()
                    self.wait()
                except self.torch.OutOfMemoryError:
                    pass  # the measurement finds that, too
                finally:
                    self.end()

        if self.options.mode != "compile":
            return batches
        small = [batch for batch in batches if batch <= CHOSEN[self.options.model]]
        large = [batch for batch in batches if batch not in small]
        return while_time(sorted(small, reverse=True) + sorted(large), until, compile, False)

    def step(self):
        self.workload.optimizer.zero_grad(set_to_none=True)
        with self.torch.autocast(self.device, dtype=self.torch.bfloat16, enabled=self.amp):
            loss = self.module(self.inputs, self.labels)
        loss.backward()
        self.workload.optimizer.step()

    def wait(self):
        if self.cuda:
            self.torch.cuda.synchronize()

    def memory(self):
        if not self.cuda:
            return {}
        return {"allocated": self.torch.cuda.max_memory_allocated(),
                "reserved": self.torch.cuda.max_memory_reserved()}

    def end(self):
        self.inputs = self.labels = None
        self.workload.optimizer.zero_grad(set_to_none=True)
        gc.collect()
        if self.cuda:
            self.torch.cuda.empty_cache()

    def is_out_of_memory(self, error):
        return isinstance(error, self.torch.OutOfMemoryError)


class Jax:
    """One model in JAX: a compiled step for each configuration, weights given on from step to
    step."""

    def __init__(self, options):
        import jax
        import models_jax

        from jax.experimental import serialize_executable

        self.jax, self.models, self.options = jax, models_jax, options
        self.serialize = serialize_executable.serialize
        self.loaded = serialize_executable.deserialize_and_load
        if options.cache:
            jax.config.update("jax_compilation_cache_dir", options.cache)
            # Of the small programs none: what comes out of JAX's cache is not always whole when it
            # is written again.
            jax.config.update("jax_persistent_cache_min_compile_time_secs", 15)
        self.workload = models_jax.make(options.model, options.tiny)
        self.initial = self.workload.weights  # on the host
        self.peak = 0
        self.compiled, self.plans, self.filling = {}, {}, {}
        self.flops = None
        self.versions = {"jax": jax.__version__}
        self.gpu = jax.devices()[0].device_kind

    def fill(self, weights, batch):
        """The optimizer's state, inputs and labels: one program, so that no small ones are compiled
        when the time to measure has come."""
        state = self.models.initial_state(weights, self.workload.optimizer)
        return weights, state, *self.workload.data(batch)

    def kept(self, precision, batch):
        """The folder of a configuration's programs."""
        options = self.options
        size = "_tiny" if options.tiny else ""
        return pathlib.Path(options.cache, f"{options.model}_{precision}_{batch}{size}.programs")

    def compile(self, precision, batch):
        """From shapes alone, or from what another process compiled."""
        if (precision, batch) in self.compiled:
            return
        kept = self.kept(precision, batch) if self.options.cache else None
        if kept and kept.exists():
            try:
                done, filling = (self.loaded(*program)
                                 for program in pickle.loads(kept.read_bytes()))
                self.plans[precision, batch] = done.memory_analysis()
                self.compiled[precision, batch], self.filling[batch] = done, filling
                return
            except Exception as error:  # then JAX's own cache has it, after tracing
                print("not read:", batch, f"{type(error).__name__}: {error}"[:300], flush=True)
        jax, jnp = self.jax, self.jax.numpy
        dtype = jnp.bfloat16 if precision == "amp" else jnp.float32
        exact = {"fp32": "float32", "tf32": "tensorfloat32", "amp": "default"}[precision]
        with jax.default_matmul_precision(exact):
            step = jax.jit(self.models.train_step(self.workload, dtype), donate_argnums=(0, 1))
            filling = jax.jit(self.fill, static_argnums=1, donate_argnums=0)
            done = step.lower(*jax.eval_shape(filling, self.initial, batch)).compile()
            self.filling[batch] = filling.lower(self.initial, batch).compile()
        self.compiled[precision, batch] = done
        self.plans[precision, batch] = done.memory_analysis()
        if kept:
            part = kept.with_suffix(".part")
            try:
                part.write_bytes(pickle.dumps([self.serialize(program)
                                               for program in (done, self.filling[batch])]))
            except Exception as error:
                print("not kept:", batch, f"{type(error).__name__}: {error}"[:300], flush=True)
                part.touch()
            part.replace(kept)

    def prepare(self, precision, batches, until):
        """In a process of its own: a compiler times candidates on the GPU, and what it took of the
        memory for that would stay taken and be in the peak."""
        if not self.options.cache:
            return while_time(batches, until, lambda batch: self.compile(precision, batch), True)
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run([sys.executable, *sys.argv, "--compile-only"], stdin=subprocess.DEVNULL,
                           timeout=max(until + BREAK_OFF_S - time.time(), 1))
        return [batch for batch in batches if self.kept(precision, batch).exists()]

    def compile_only(self):
        options = self.options
        while_time(options.batches, options.prepare_until,
                   lambda batch: self.compile(options.precisions[0], batch), True)

    def begin(self, precision, batch):
        self.compile(precision, batch)
        self.run, self.plan = self.compiled[precision, batch], self.plans[precision, batch]
        weights = self.jax.tree_util.tree_map(self.jax.numpy.asarray, self.initial)
        self.weights, self.state, *self.data = self.filling[batch](weights)

    def step(self):
        self.weights, self.state, self.loss = self.run(self.weights, self.state, *self.data)

    def wait(self):
        self.jax.block_until_ready((self.weights, self.state, self.loss))

    def memory(self):
        """The allocator's peak, which nothing resets: known if no measurement before needed more.
        Beside it XLA's plan: arguments, what it writes, and what it needs meanwhile."""
        found = {}
        if self.plan:
            plan = self.plan
            found["planned"] = (plan.argument_size_in_bytes + plan.output_size_in_bytes
                                + plan.temp_size_in_bytes - plan.alias_size_in_bytes)
        peak = (self.jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use", 0)
        if peak > self.peak:
            found["allocated"] = self.peak = peak
        return found

    def end(self):
        self.data = self.weights = self.state = self.loss = None  # the arrays go with them
        gc.collect()

    def is_out_of_memory(self, error):
        return "RESOURCE_EXHAUSTED" in str(error) or "Out of memory" in str(error)


class Series:
    def __init__(self, options):
        self.options = options
        self.begun = time.monotonic()
        self.configurations = {}
        self.left_out, self.failed, self.prepared_s = [], set(), 0.0
        self.too_large = {}  # the least batch of each precision
        # What compiles nothing waits for its turn without a model on the GPU.
        self.framework = None
        if options.mode != "eager" or not (options.prepare_until or options.turn):
            self.start()

    def start(self):
        options = self.options
        self.framework = Torch(options) if options.framework == "pytorch" else Jax(options)
        self.started_s = time.monotonic() - self.begun

    def left(self):
        return self.options.until - time.time() if self.options.until else math.inf

    def save(self):
        options, framework = self.options, self.framework
        done = {"model": options.model, "framework": options.framework, "mode": options.mode,
                "gpu": framework.gpu, "versions": framework.versions,
                "flops_per_item": framework.flops, "started_s": round(self.started_s, 2),
                "prepared_s": round(self.prepared_s, 2), "not_compiled": self.left_out,
                "configurations": list(self.configurations.values())}
        temporary = options.out.with_suffix(".part")
        temporary.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
        temporary.replace(options.out)

    def warm_up(self, precision, batch):
        """Seconds of a step, the last of the warm-up."""
        framework = self.framework
        framework.begin(precision, batch)
        entry = self.configurations.get(f"{precision} {batch}", {})
        known = entry["runs"][0]["step_s"] if entry.get("runs") else 0
        for index in range(WARM_UP_STEPS):
            begin = time.perf_counter()
            framework.step()
            framework.wait()
            seconds = time.perf_counter() - begin
            if known > LONG_S or (index > 0 and seconds > LONG_S):
                break
        return known or seconds

    def stretch(self, steps):
        """Steps without a pause; their begin and end on the machine's clock, and seconds of one."""
        begin_ns, begin = time.time_ns(), time.perf_counter()
        for _ in range(steps):
            self.framework.step()
        self.framework.wait()
        taken = (time.perf_counter() - begin) / steps
        return {"begin_ns": begin_ns, "end_ns": time.time_ns(), "steps": steps, "step_s": taken}

    def measure(self, entry, precision, batch):
        begun = time.monotonic()
        seconds = self.warm_up(precision, batch)
        entry.setdefault("first_s", round(time.monotonic() - begun, 2))
        # A lone step is slower than those of a stretch: the host waits there.
        if seconds < LONG_S and not entry["runs"]:
            seconds = self.stretch(max(LEAST_STEPS, math.ceil(0.1 / seconds)))["step_s"]
        least = LEAST_STEPS if seconds < LONG_S else 2 if seconds < 5 * LONG_S else 1
        steps = max(least, math.ceil(self.options.seconds / seconds))
        entry["runs"].append(self.stretch(steps))
        entry.update(self.framework.memory())

    def visit(self, precision, batch):
        if batch >= self.too_large.get(precision, math.inf):
            return
        key = f"{precision} {batch}"
        if key in self.failed:
            return
        entry = self.configurations.setdefault(
            key, {"precision": precision, "batch": batch, "runs": []})
        try:
            self.measure(entry, precision, batch)
        except Exception as error:
            if self.framework.is_out_of_memory(error):
                entry["out_of_memory"] = True
                self.too_large[precision] = batch
            else:
                entry["error"] = f"{type(error).__name__}: {error}"[:300]
                self.failed.add(key)
        self.framework.end()
        self.save()
        print(key, entry.get("error", ""), [round(r["step_s"] * 1e3, 3) for r in entry["runs"]],
              f"{self.left():.1f} s left", flush=True)

    def expected(self, precision, batch):
        """Seconds of a visit, from the largest batch before it; 0 when nothing is known."""
        before = [entry for entry in self.configurations.values()
                  if entry["precision"] == precision and entry["runs"] and entry["batch"] <= batch]
        if not before:
            return 0
        largest = max(before, key=lambda entry: entry["batch"])
        return 0.8 + 7 * largest["runs"][0]["step_s"] * batch / largest["batch"]

    def run(self):
        options = self.options
        slowest = 0.0
        if options.prepare_until:
            self.wait_for_turn()
        for round_index in range(options.rounds):
            last = round_index + 1 == options.rounds
            fine = options.fine if last or not options.fine_last else ()
            for batches in (options.batches, fine):
                for precision in options.precisions:
                    for batch in sorted(batches):
                        if self.left() < max(slowest, self.expected(precision, batch)):
                            continue
                        begun = time.monotonic()
                        self.visit(precision, batch)
                        if round_index:
                            slowest = max(slowest, time.monotonic() - begun)

    def wait_for_turn(self):
        """Compiles, says so, and measures when a line on the standard input says until when."""
        options = self.options
        precision, = options.precisions
        begun = time.time()
        if self.framework:
            ready = self.framework.prepare(precision, options.batches, options.prepare_until)
            self.left_out = [batch for batch in options.batches if batch not in ready]
            options.batches = ready
            if options.framework == "jax":
                while_time(ready, math.inf, lambda batch: self.framework.compile(precision, batch),
                           True)  # reads what was compiled
            # What is compiled for some batches may do for others: they are tried at the end.
            options.fine = self.left_out if ready and options.mode == "compile" else []
            options.fine_last = True
        else:
            import models_torch  # this and counting take seconds, which are nobody's turn

            models_torch.flops_per_item(options.model, options.tiny)
            if models_torch.torch.cuda.is_available():
                models_torch.torch.zeros(1, device="cuda")
        self.prepared_s = time.time() - begun
        options.out.with_suffix(".ready").touch()
        line = sys.stdin.readline()
        if not line:
            raise SystemExit("nobody said when to begin")
        options.until = float(line)
        if not self.framework:
            self.start()

    def count(self):
        """One step between the marks that ncu waits for. Everything that is not work on the GPU is
        done before its turn, which a file says."""
        options = self.options
        if options.framework == "jax":
            self.framework.compile(options.precisions[0], options.batches[0])
        else:
            import torch  # noqa: F401 (read before its turn)
        while options.turn and not options.turn.exists():
            time.sleep(0.05)
        if not self.framework:
            self.start()
        self.warm_up(options.precisions[0], options.batches[0])
        cuda = ctypes.CDLL("libcuda.so.1")
        cuda.cuProfilerStart()
        self.framework.step()
        self.framework.wait()
        cuda.cuProfilerStop()
        options.out.with_suffix(".counted").touch()


def arguments():
    def words(text):
        return text.split(",") if text else []

    def numbers(text):
        return [int(word) for word in words(text)]

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, choices=tuple(CHOSEN))
    parser.add_argument("--framework", required=True, choices=("pytorch", "jax"))
    parser.add_argument("--mode", required=True, choices=("eager", "compile", "xla"))
    parser.add_argument("--precisions", type=words, default=["amp", "tf32", "fp32"])
    parser.add_argument("--batches", type=numbers, required=True)
    parser.add_argument("--fine", type=numbers, default=[])
    parser.add_argument("--fine-last", action="store_true", help="--fine in the last round only")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, help="of a measurement, at least")
    parser.add_argument("--until", type=float, default=0, help="time of the clock to end before")
    parser.add_argument("--prepare-until", type=float, default=0,
                        help="compile until then, make OUT.ready, wait for --until as a line")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--cache", default="", help="folder of JAX's compilation cache")
    parser.add_argument("--compile-only", action="store_true", help="into --cache, with JAX")
    parser.add_argument("--ncu", action="store_true", help="one step between profiler marks")
    parser.add_argument("--turn", type=pathlib.Path, help="with --ncu: wait until this file is there")
    parser.add_argument("--tiny", action="store_true")
    return parser.parse_args()


def main():
    options = arguments()
    series = Series(options)
    if options.compile_only:
        series.framework.compile_only()
    elif options.ncu:
        series.count()
    else:
        series.run()
        series.save()
    os._exit(0)  # frameworks take their time to end, and the GPU waits


if __name__ == "__main__":
    main()
