"""One question has one answer: of the program, of the C interface and of Python, key for key, for
every example with what can be joined to it. Usage: parity_test.py BUILD_DIR
"""

import ctypes
import json
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop()).resolve()
EXAMPLES = ROOT / "examples"
os.environ["GPUFATHOM_BUILD"] = str(BUILD)
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True
import gpufathom as gf  # noqa: E402
from gpufathom import _capi  # noqa: E402

# The file that another one is joined with.
JOINED = {
    "lenet_train_b64.json.gz": {"counters": "lenet_train_b64.ncu-rep.gz"},
    "resnet50_amp_eager_b64.json.gz": {"counters": "resnet50_amp_eager_b64.ncu.csv.gz"},
    "resnet50_recorded.gpf": {"power": "power_mixed.csv.gz"},
    "gemm_types.jsonl": {"counters": "gemm_types.ncu.csv.gz"},
}


def questions():
    """Every example by itself, and those of above joined: (file, options)."""
    for file in sorted(EXAMPLES.iterdir()):
        if file.is_file() and file.suffix != ".md":
            yield file, {}
            if file.name in JOINED:
                yield file, {key: str(EXAMPLES / name) for key, name in JOINED[file.name].items()}


def of_program(file, joined):
    """The answer or None, and what standard error says."""
    words = [word for key, name in joined.items() for word in ("--" + key, name)]
    done = subprocess.run(
        [str(BUILD / "gpufathom"), "analyze", str(file), *words, "--format", "json"],
        capture_output=True,
        text=True,
    )
    said = [line.removeprefix("gpufathom: ") for line in done.stderr.splitlines()]
    assert (done.returncode == 0) == (not said), (done.returncode, said)
    return json.loads(done.stdout) if done.stdout else None, said


def of_c(file, joined):
    """The same from the functions of gpufathom.h alone, with its defaults."""
    library, error = _capi.library(), ctypes.c_void_p()
    names = [str(file), *(joined.get(key) for key in ("counters", "power"))]
    handle, text, missing = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    opened = library.gpufathom_open_with(
        *(name and name.encode() for name in names), ctypes.byref(handle), ctypes.byref(error)
    )
    if opened or library.gpufathom_report_checked(
        handle, None, 0, ctypes.byref(text), ctypes.byref(missing), ctypes.byref(error)
    ):
        answer, said = None, [_capi._take(error)]
    else:
        answer = json.loads(_capi._take(text))
        start = f"{file}: incomplete result: "
        said = [start + line for line in _capi._take(missing).splitlines()]
    library.gpufathom_close(handle)
    return answer, said


def of_python(file, joined):
    try:
        capture = gf.open(file, **joined, allow_incomplete=True)
        return capture.analysis.to_dict(), [str(row) for row in capture.missing]
    except gf.Error as error:
        return None, [str(error)]


class OneAnswer(unittest.TestCase):
    maxDiff = 2000

    def test_of_every_example(self):
        energies = alone = 0
        for file, joined in questions():
            with self.subTest(file.name, **joined):
                told, said = of_program(file, joined)
                self.assertEqual((told, said), of_c(file, joined))
                typed, missing = of_python(file, joined)
                self.assertEqual(told, typed)
                self.assertEqual(len(said), len(missing))
                energies += bool(told and told["energy"]["model"])
                alone += bool(told and told["source"]["format"].startswith("nsight_compute"))
        # Cases that the library once did not answer.
        self.assertGreaterEqual(energies, 4)
        self.assertGreaterEqual(alone, 4)

    def test_a_model_that_does_not_fit(self):
        """A wrong model is refused alike."""
        file = EXAMPLES / "lenet_train_b64.json.gz"
        with self.assertRaisesRegex(gf.Error, "no_model.json"):
            _ = gf.open(file, energy_model="no_model.json").analysis


unittest.main()
