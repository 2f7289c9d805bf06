"""The gate's table is what its committed runs give, and its intervals are Clopper's and Pearson's.
Usage: gate_curve_test.py VERDICT_RATES"""

import doctest
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERDICTS = sys.argv.pop()
sys.path.insert(0, str(ROOT / "bench/gpu"))
sys.dont_write_bytecode = True
import gate_curve  # noqa: E402


class GateCurve(unittest.TestCase):
    def test_intervals(self):
        self.assertEqual(doctest.testmod(gate_curve).failed, 0)
        self.assertEqual(gate_curve.interval(30, 30)[1], 1.0)
        low, high = gate_curve.interval(43, 124)
        self.assertAlmostEqual(low, 0.2636, 4)
        self.assertAlmostEqual(high, 0.4375, 4)

    def test_the_committed_table(self):
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder, "gate.json")
            drawn = pathlib.Path(folder, "gate.svg")
            words = [sys.executable, "-B", str(ROOT / "bench/gpu/gate_curve.py")]
            words += [str(ROOT / f"docs/results/gate_runs_{name}.json.gz")
                      for name in ("h200", "second_h200")]
            words += ["--verdicts", VERDICTS, "--json", str(made), "--chart", str(drawn)]
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
            committed = json.loads((ROOT / "docs/results/gate.json").read_text())
            self.assertEqual(json.loads(made.read_text()), committed)
            self.assertEqual(drawn.read_text(), (ROOT / "docs/images/gate.svg").read_text())


if __name__ == "__main__":
    unittest.main()
