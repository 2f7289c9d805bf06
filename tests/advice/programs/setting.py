"""Device and size of a program, and the list of all programs of this folder."""
import contextlib
import dataclasses
from typing import Callable

import torch


@dataclasses.dataclass(frozen=True)
class Setting:
    """The device, and whether sizes are cut down for a machine without a GPU."""

    device: str = "cuda"
    tiny: bool = False
    rank: int = 0
    world: int = 1

    def pick(self, full, tiny):
        return tiny if self.tiny else full

    @property
    def type(self):
        return self.device.split(":")[0]

    @property
    def cuda(self):
        return self.type == "cuda"

    def autocast(self):
        return torch.autocast(self.type, dtype=torch.bfloat16)

    def synchronise(self):
        if self.cuda:
            torch.cuda.synchronize()

    def stream(self):
        return torch.cuda.Stream() if self.cuda else None

    def on(self, stream):
        return torch.cuda.stream(stream) if stream else contextlib.nullcontext()


@dataclasses.dataclass
class Running:
    """A program that is ready: its step, how many items a step works on, what to do at the end."""

    step: Callable[[], object]
    items: int
    close: Callable[[], None] = lambda: None


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    build: Callable[[Setting], Running]
    active: int = 4  # steps in the trace
    stacks: bool = False  # the trace holds Python functions
    shapes: bool = True  # the trace holds the shapes of inputs
    marks: bool = True  # the trace marks its steps
    memory: bool = False  # the trace holds allocations
    measured: int = 30  # steps timed without a profiler, at least
    ranks: int = 1
    repeats: int = 1  # of the timing, some before the capture and some after it


PROGRAMS: dict[str, Program] = {}


def program(name: str, **how):
    """Enters the decorated build function under a name."""

    def enter(build):
        PROGRAMS[name] = Program(name, build, **how)
        return build

    return enter


def pair(name: str, **how):
    """Enters a build function twice: NAME has the planted fault, NAME.mended has not."""

    def enter(build):
        PROGRAMS[name] = Program(name, lambda setting: build(setting, False), **how)
        mended = f"{name}.mended"
        PROGRAMS[mended] = Program(mended, lambda setting: build(setting, True), **how)
        return build

    return enter
