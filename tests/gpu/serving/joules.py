"""The driver's energy counter of the GPU that this process sees first."""
import os
import threading
import time


def energy():
    """A function that reads the driver's energy counter, in millijoules."""
    try:
        import pynvml
        pynvml.nvmlInit()
        number = int((os.environ.get("CUDA_VISIBLE_DEVICES") or "0").split(",")[0])
        board = pynvml.nvmlDeviceGetHandleByIndex(number)
        pynvml.nvmlDeviceGetTotalEnergyConsumption(board)
        return lambda: pynvml.nvmlDeviceGetTotalEnergyConsumption(board)
    except Exception:  # no library, no driver, no counter
        return lambda: None


class Meter(threading.Thread):
    """The driver's energy counter: (time, joules) whenever it moves, from beside the engine."""

    def __init__(self):
        super().__init__(daemon=True)
        self.readings, self.read, self.stopped = [], energy(), threading.Event()

    def run(self):
        while not self.stopped.is_set() and (now := self.read()) is not None:
            value = now / 1e3
            if not self.readings or value != self.readings[-1][1]:
                self.readings.append((time.time_ns(), value))
            time.sleep(0.01)

    def joules(self, begin, end):
        """Between two moments, by straight lines between its changes."""
        def at(moment):
            for (left, low), (right, high) in zip(self.readings, self.readings[1:]):
                if left <= moment <= right:
                    return low + (high - low) * (moment - left) / (right - left)
            return None
        values = at(begin), at(end)
        return None if None in values else values[1] - values[0]
