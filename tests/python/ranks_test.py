#!/usr/bin/env python3
"""The map and the reduction of gpufathom.ranks, and what faults do to them: ranks_test.py PROGRAM

Needs pyarrow and GPUFATHOM_CORPUS (77 without); DuckDB, Ray and Spark are tried where they are
installed.
"""
import gzip
import json
import os
import pathlib
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

try:
    import pyarrow  # noqa: F401
except ImportError:
    print("pyarrow is not installed: ./dev python")
    sys.exit(77)
if not os.environ.get("GPUFATHOM_CORPUS"):
    print("GPUFATHOM_CORPUS is unset")
    sys.exit(77)

# The pool's workers import this file again.
PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve()) if __name__ == "__main__" else os.environ["GPUFATHOM"]
PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python"
sys.path.insert(0, str(PACKAGE))
os.environ.setdefault("GPUFATHOM", PROGRAM)
os.environ["PYTHONPATH"] = str(PACKAGE)
from gpufathom import ranks  # noqa: E402
from gpufathom.ranks.program import Failure, Incomplete  # noqa: E402

CAPTURES = pathlib.Path(os.environ["GPUFATHOM_CORPUS"]) / "h200" / "ranks"


def have(module):
    try:
        __import__(module)
        return True
    except ImportError:
        return False


class Ranks(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.paths = [str(CAPTURES / f"fsdp.rank{rank}.json.gz") for rank in range(2)]
        self.dataset = self.folder / "dataset"

    def program_that(self, script):
        """A program in place of gpufathom, until the test ends."""
        path = self.folder / "program"
        path.write_text(f"#!/bin/sh\n{script}\nexec {PROGRAM} \"$@\"\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        os.environ["GPUFATHOM"] = str(path)
        self.addCleanup(os.environ.__setitem__, "GPUFATHOM", PROGRAM)

    def drafts(self):
        return list(self.dataset.rglob(".*.tmp"))

    def test_the_answer_is_that_of_the_captures(self):
        report = ranks.map_all(self.paths, self.dataset, workers=2)
        self.assertEqual([(row.ranks, row.error) for row in report], [(1, ""), (1, "")])
        answer = ranks.reduce(self.dataset, rows=0)
        direct = json.loads(subprocess.run([PROGRAM, "ranks", "--format", "json", *self.paths],
                                           stdout=subprocess.PIPE,
                                           check=True).stdout)
        self.assertEqual(answer.pop("failed"), [])
        self.assertEqual(answer, direct)
        # rank 0 is late in all, and recording alone may be why
        self.assertEqual(answer["stragglers"], [])
        self.assertGreater(answer["ranks"][0]["recording_doubt_ns"], 0)

    def test_again_changes_nothing(self):
        ranks.map_all(self.paths, self.dataset, workers=1)
        before, times = ranks.digest(self.dataset), [path.stat().st_mtime_ns
                                                     for path in sorted(self.dataset.rglob("*"))]
        report = ranks.map_all(self.paths, self.dataset, workers=2)
        self.assertTrue(all(row.done_before for row in report))
        self.assertEqual(times,
                         [path.stat().st_mtime_ns for path in sorted(self.dataset.rglob("*"))])
        self.assertEqual(before, ranks.digest(self.dataset))

    def test_a_worker_that_is_killed_is_replaced(self):
        self.program_that(f'case "$*" in *--map*rank1*) [ -e {self.folder}/once ] || {{ touch {self.folder}/once; kill -9 $PPID; }};; esac')
        report = ranks.map_all(self.paths, self.dataset, workers=2)
        self.assertEqual([row.error for row in report], ["", ""])
        self.assertEqual(len(ranks.parts_of(self.dataset)), 2)

    def test_a_capture_that_kills_every_worker_is_listed_and_the_others_stay(self):
        self.program_that('case "$*" in *--map*rank1*) kill -9 $PPID;; esac')
        report = ranks.map_all(self.paths, self.dataset, workers=2, retries=1)
        self.assertEqual(report[0].error, "")
        self.assertIn("without an answer", report[1].error)
        with self.assertRaisesRegex(Incomplete, "1 of 2 ranks have no file: 1"):
            ranks.reduce(self.dataset)
        self.assertEqual(ranks.reduce(self.dataset, allow_incomplete=True)["missing_ranks"], [1])

    def test_damage_and_absence_are_said(self):
        cut, torn = self.folder / "fsdp.rank1.json.gz", self.folder / "torn.rank1.json.gz"
        cut.write_bytes(pathlib.Path(self.paths[1]).read_bytes()[:600000])
        torn.write_bytes(b"\x1f\x8b\x08")
        report = ranks.map_all([self.paths[0], cut, torn, self.folder / "none.json"], self.dataset,
                               workers=1)
        self.assertEqual([bool(row.error) for row in report], [False, False, True, True])
        with self.assertRaisesRegex(Incomplete, "torn.rank1"):
            ranks.reduce(self.dataset)
        answer = ranks.reduce(self.dataset, allow_incomplete=True)
        self.assertEqual(len(answer["failed"]), 2)
        self.assertIn("truncated_json", [note["code"] for note in answer["quality"]])
        torn.write_bytes(gzip.compress(b"{}"))

    def test_two_runs_are_refused(self):
        ranks.map_all([self.paths[0], str(CAPTURES / "none.rank1.json.gz")], self.dataset,
                      workers=1)
        with self.assertRaises(Failure):
            ranks.reduce(self.dataset)

    def test_no_room_leaves_nothing_half(self):
        command = [sys.executable, "-m", "gpufathom.ranks", "map", "--dataset", str(self.dataset),
                   self.paths[0]]

        def little_room():
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

        full = subprocess.run(command, preexec_fn=little_room, capture_output=True, check=False)
        self.assertEqual(full.returncode, 1, full.stderr)
        self.assertFalse(list((self.dataset / "ranks").glob("*")))
        self.assertEqual(self.drafts(), [])
        self.assertEqual(subprocess.run(command, capture_output=True, check=False).returncode, 0)
        self.assertEqual(len(ranks.parts_of(self.dataset)), 1)

    def test_a_full_disk_leaves_nothing_half(self):
        disk = self.folder / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", disk],
                          stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("no file system may be mounted")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        self.dataset = disk / "dataset"
        command = [sys.executable, "-m", "gpufathom.ranks", "map", "--dataset", str(self.dataset),
                   *self.paths]
        full = subprocess.run(command, capture_output=True, check=False)
        self.assertEqual(full.returncode, 1, full.stderr)
        self.assertEqual(self.drafts(), [])
        self.assertFalse(list((self.dataset / "ranks").glob("*")))
        subprocess.run(["mount", "-o", "remount,size=4m", disk], check=True)
        self.assertEqual(subprocess.run(command, capture_output=True, check=False).returncode, 0)
        self.assertEqual(len(ranks.parts_of(self.dataset)), 2)

    def test_a_task_of_a_slurm_array_takes_its_line(self):
        listed = self.folder / "captures.txt"
        listed.write_text("\n".join(self.paths) + "\n")
        for task in "01":
            done = subprocess.run([sys.executable, "-m", "gpufathom.ranks", "map", "--list",
                                   str(listed), "--dataset", str(self.dataset)],
                                  env={**os.environ, "SLURM_ARRAY_TASK_ID": task,
                                       "SLURM_ARRAY_TASK_COUNT": "2",
                                       "SLURM_ARRAY_TASK_MIN": "0"}, stdout=subprocess.PIPE,
                                  check=True)
            self.assertIn(f"fsdp.rank{task}", done.stdout.decode())
        other = self.folder / "by_pool"
        ranks.map_all(self.paths, other, workers=1)
        self.assertEqual(ranks.digest(self.dataset), ranks.digest(other))

    @unittest.skipUnless(have("duckdb"), "no DuckDB")
    def test_every_query_has_an_answer(self):
        ranks.map_all(self.paths, self.dataset, workers=1)
        for name, query in ranks.QUERIES.items():
            rows = ranks.sql(self.dataset, query)
            self.assertTrue(rows or name == "damage", name)
        self.assertEqual(ranks.sql(self.dataset, ranks.QUERIES["stragglers"])[0][0], 0)

    @unittest.skipUnless(have("ray"), "no Ray")
    def test_ray_gives_the_same_files(self):
        import ray
        from gpufathom.ranks import on_ray

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        self.addCleanup(ray.shutdown)
        report = on_ray.map_all(self.paths, self.dataset)
        self.assertEqual([row.error for row in report], ["", ""])
        other = self.folder / "by_pool"
        ranks.map_all(self.paths, other, workers=1)
        self.assertEqual(ranks.digest(self.dataset), ranks.digest(other))

    @unittest.skipUnless(have("pyspark") and have("pandas") and shutil.which("java"), "no Spark")
    def test_spark_gives_the_same_files_and_rows(self):
        from pyspark.sql import SparkSession
        from gpufathom.ranks import on_spark, queries

        os.environ["PYSPARK_PYTHON"] = sys.executable
        session = SparkSession.builder.master("local[2]").config("spark.ui.enabled",
                                                                 "false").getOrCreate()
        self.addCleanup(session.stop)
        report = on_spark.map_all(session, self.paths, self.dataset)
        self.assertEqual([row.error for row in report], ["", ""])
        other = self.folder / "by_pool"
        ranks.map_all(self.paths, other, workers=1)
        self.assertEqual(ranks.digest(self.dataset), ranks.digest(other))
        if have("duckdb"):
            for query in ranks.QUERIES.values():
                self.assertEqual(queries.spark_sql(session, self.dataset, query),
                                 ranks.sql(other, query))


if __name__ == "__main__":
    unittest.main()
