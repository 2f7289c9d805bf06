"""Consumers take whole evidence alone. Every damage that `analyze` sees in a capture (exit code 1)
is refused by each of them with 3, and what is whole gets their usual answer.
Usage: evidence_test.py BUILD_DIR"""

import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = str(BUILD / "gpufathom")
os.environ["GPUFATHOM_BUILD"] = str(BUILD)
os.environ["PYTHONPATH"] = str(ROOT / "python")
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True
import gpufathom as gf  # noqa: E402
from gpufathom import gate  # noqa: E402

SOUND = ROOT / "examples/lenet_train_b64.json.gz"
RANKS = [ROOT / f"tests/ranks/captures/none.rank{rank}.json.gz" for rank in (0, 1)]
WHOLE, REFUSED = 0, 3


def kernels(change):
    """A damage that changes the list of a trace's kernels."""

    def done(trace):
        told = json.loads(trace)
        events = told["traceEvents"]
        found = [event for event in events if event.get("cat") == "kernel"]
        others = [event for event in events if event.get("cat") != "kernel"]
        return json.dumps({**told, "traceEvents": others + change(found)}).encode()

    return done


def cut(share):
    return lambda trace: trace[: int(len(trace) * share)]


def shifted(found):
    return [{**event, "ts": float(event["ts"]) - 2000} for event in found]


def dropped(found):
    return [event for at, event in enumerate(found) if at % 10 >= 3]


def later(trace):
    """Another recording of the same: all times a second later."""
    told = json.loads(trace)
    events = [
        {**event, "ts": float(event["ts"]) + 1e6} if "ts" in event else event
        for event in told["traceEvents"]
    ]
    return json.dumps({**told, "traceEvents": events}).encode()


DAMAGES = {
    "cut to 80 %": cut(0.8),
    "cut to 95 %": cut(0.95),
    "dropped": kernels(dropped),
    "middle third dropped": kernels(lambda found: found[: len(found) // 3] + found[-len(found) // 3 :]),
    "doubled": kernels(lambda found: found + found),
    "shifted": kernels(shifted),
    "in another order": kernels(lambda found: found[::-1]),
}


def ends_with(*words):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True).returncode


class Evidence(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.sound = str(self.folder / "sound.json")
        pathlib.Path(self.sound).write_bytes(gzip.decompress(SOUND.read_bytes()))
        self.other = self.damaged(SOUND, later, "other.json")

    def damaged(self, source, damage, name="damaged.json"):
        path = self.folder / name
        path.write_bytes(damage(gzip.decompress(pathlib.Path(source).read_bytes())))
        return str(path)

    def consumers(self, path):
        """The exit code of each, asked about a sound capture and this one."""
        rules = ["--fail-on", "kernels > 1000%"]
        compare = [PROGRAM, "compare", self.sound, path, *rules]
        ask = [sys.executable, "-B", "-m", "gpufathom.gate", "--limit", "1000"]
        return {
            "compare": ends_with(*compare),
            "compare, first": ends_with(PROGRAM, "compare", path, self.sound, *rules),
            "gate": ends_with(*ask, "--before", self.sound, "--after", path),
            "gate, 1 of 2": ends_with(
                *ask, "--before", self.sound, "--after", self.other, path
            ),
            "open": self.raised(lambda: gf.open(path).analysis),
            "gf.compare": self.raised(lambda: gf.compare(self.sound, path)),
            "assert": self.raised(lambda: gf.assert_no_regression(self.sound, path, limit=1000)),
        }

    @staticmethod
    def raised(ask):
        try:
            ask()
        except gf.IncompleteEvidence as error:
            assert error.rows and all(row.count > 0 and row.detail for row in error.rows), error
            return REFUSED
        return WHOLE

    def test_every_consumer_refuses_what_analyze_says_is_not_whole(self):
        for name, damage in DAMAGES.items():
            with self.subTest(name):
                path = self.damaged(SOUND, damage)
                told = ends_with(PROGRAM, "analyze", path)
                self.assertEqual(told, 0 if name == "in another order" else 1)
                expected = REFUSED if told else WHOLE
                found = self.consumers(path)
                self.assertEqual(found, dict.fromkeys(found, expected))

    def test_what_is_whole_gets_the_usual_answer(self):
        found = self.consumers(self.sound)
        self.assertEqual(found, dict.fromkeys(found, WHOLE))

    def test_ranks(self):
        self.assertEqual(ends_with(PROGRAM, "ranks", *RANKS), WHOLE)
        for name, damage in DAMAGES.items():
            if name == "in another order":
                continue
            with self.subTest(name):
                part = self.damaged(RANKS[1], damage, RANKS[1].name.removesuffix(".gz"))
                self.assertEqual(ends_with(PROGRAM, "ranks", RANKS[0], part), REFUSED)
                asked = ["ranks", "--allow-incomplete", RANKS[0], part]
                self.assertEqual(ends_with(PROGRAM, *asked), 1)

    def test_a_recording_that_was_not_ended(self):
        import sqlite3

        path = self.folder / "killed.gpf"
        shutil.copy(ROOT / "examples/mnist_recorded.gpf", path)
        path.chmod(0o644)
        told = sqlite3.connect(path)
        key = "(select id from strings where text = 'record.complete')"
        told.execute(f"delete from _metadata where key = {key}")
        told.execute(
            "update _metadata set row = (select count(*) from _metadata b where b.rowid < _metadata.rowid)"
        )
        told.commit()
        told.close()
        with self.assertRaises(gf.IncompleteEvidence) as caught:
            gf.open(path)
        self.assertEqual([row.code for row in caught.exception.rows], ["incomplete_recording"])
        self.assertEqual(len(gf.open(path, allow_incomplete=True).missing), 1)

    def test_allowing_it_says_what_is_missing(self):
        path = self.damaged(SOUND, cut(0.8))
        ask = [sys.executable, "-B", "-m", "gpufathom.gate", "--before", self.sound, "--after",
               path]
        done = subprocess.run(
            [*ask, "--limit", "1000", "--allow-incomplete"], capture_output=True, text=True
        )
        self.assertEqual(done.returncode, WHOLE, done.stderr)
        self.assertRegex(done.stdout, r"incomplete: .*damaged.json: 1 x truncated_json")
        refused = subprocess.run(ask, capture_output=True, text=True)
        self.assertRegex(refused.stdout, r"^refused: .*damaged.json: 1 x truncated_json: ")
        run = gf.open(path, allow_incomplete=True)
        missing = ["truncated_json", "calls_missing"]
        self.assertEqual([row.code for row in run.missing], missing)
        self.assertTrue(run.levels())
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            gf.compare(self.sound, path, allow_incomplete=True)
        self.assertIn("truncated_json", str(said[0].message))
        verdict = gate.check(self.sound, path, limit=1000, allow_incomplete=True)
        self.assertEqual([row.code for row in verdict.missing], missing)

    def test_what_cannot_be_read_is_refused(self):
        nowhere = str(self.folder / "nowhere.json")
        ask = [sys.executable, "-B", "-m", "gpufathom.gate", "--before", self.sound, "--after"]
        done = subprocess.run([*ask, nowhere], capture_output=True, text=True)
        self.assertEqual(done.returncode, REFUSED)
        self.assertEqual(done.stdout.count("nowhere.json"), 1, done.stdout)
        rule = ["--fail-on", "step > 3%"]
        self.assertEqual(ends_with(PROGRAM, "compare", self.sound, nowhere, *rule), REFUSED)
        self.assertEqual(ends_with(PROGRAM, "compare", self.sound, nowhere), 1)


class Undecided(unittest.TestCase):
    def test_exit_codes_and_limits(self):
        ask = [sys.executable, "-B", "-m", "gpufathom.gate", "--before", SOUND, "--after", SOUND]
        self.assertEqual(ends_with(*ask), 4)  # one capture of each, and a limit of 1 %
        self.assertEqual(ends_with(*ask, "--limit", "1000"), 0)
        self.assertEqual(ends_with(*ask, SOUND, "--limit", "1000"), 3)  # the same one twice
        for limit in ("nan", "inf", "0", "-1"):
            self.assertEqual(ends_with(*ask, "--limit", limit), 2, limit)
            with self.assertRaises(ValueError):
                gate.check(SOUND, SOUND, limit=float(limit))
        with self.assertRaises(gf.Undecided) as caught:
            gf.assert_no_regression(SOUND, SOUND)
        self.assertIsInstance(caught.exception, AssertionError)
        verdict = caught.exception.verdict
        self.assertTrue(verdict.undecided and not verdict.regressed)
        self.assertIn("captures of each version, recorded in turns, would decide", verdict.text)
        self.assertGreaterEqual(verdict.more, 3)

    def test_other_kernels_are_told(self):
        with tempfile.TemporaryDirectory() as folder:
            fewer = pathlib.Path(folder, "fewer.json")
            fewer.write_bytes(DAMAGES["dropped"](gzip.decompress(SOUND.read_bytes())))
            verdict = gate.check(SOUND, fewer, limit=10, allow_incomplete=True)
        self.assertIn("a step has 35 kernels, and had 50", verdict.text)


unittest.main()
