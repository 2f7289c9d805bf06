"""gpufathom.open and what it gives, over the library of the build. Usage: api_test.py BUILD_DIR
Parts whose packages are not installed are skipped; ./dev python installs them and runs everything.
"""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop()).resolve()
os.environ["GPUFATHOM_BUILD"] = str(BUILD)
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True
import gpufathom as gf  # noqa: E402

TRACE = str(ROOT / "examples/resnet50_amp_eager_b64.json.gz")
COUNTERS = str(ROOT / "examples/resnet50_amp_eager_b64.ncu.csv.gz")
SLOWER = str(ROOT / "examples/resnet50_fp32_eager_b64.json.gz")  # than TRACE, the same network
SMALL = str(ROOT / "examples/lenet_train_b64.json.gz")


def needs(*names):
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"{', '.join(missing)} is not installed")


def answer(*words):
    return json.loads(
        subprocess.run(
            [str(BUILD / "gpufathom"), *words, "--format", "json"], capture_output=True, check=True
        ).stdout
    )


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = gf.open(TRACE, counters=COUNTERS)
        cls.told = answer("analyze", TRACE, "--counters", COUNTERS)

    def test_the_same_as_the_command_line(self):
        self.assertEqual(self.run_.analysis.to_dict(), self.told)

    def test_devices_are_chosen_as_on_the_command_line(self):
        chosen = gf.open(TRACE, devices="0")
        self.assertEqual(chosen.analysis.to_dict(), answer("analyze", TRACE, "--devices", "0"))
        self.assertEqual(gf.compare(TRACE, TRACE, devices="0").runs[0].devices, 1)
        for ask in (
            lambda: gf.open(TRACE, devices="3").analysis,
            lambda: gf.compare(TRACE, TRACE, devices="3"),
        ):
            with self.assertRaisesRegex(gf.Error, "no work on device 3"):
                ask()

    def test_parts(self):
        self.assertEqual(
            [level.id for level in self.run_.levels()],
            [level["id"] for level in self.told["levels"]],
        )
        device = self.told["devices"][0]
        self.assertEqual(sum(cause.ns for cause in self.run_.idle()), device["idle_ns"])
        self.assertEqual(
            sum(layer.ns for layer in self.run_.layers()),
            sum(layer["ns"] for layer in self.told["layers"]),
        )
        self.assertEqual(
            [finding.id for finding in self.run_.findings()],
            [finding["id"] for finding in self.told["findings"]],
        )
        self.assertEqual(self.run_.energy().to_dict()["devices"], self.told["energy"]["devices"])

    def test_graphs_get_their_operators(self):
        graphs = str(ROOT / "examples/lenet_graphs_b1.json.gz")
        eager = str(ROOT / "examples/lenet_inf_b1.json.gz")
        capture = gf.open(graphs, graphs=[eager])
        self.assertEqual(
            capture.analysis.to_dict(), answer("analyze", graphs, "--graphs", eager)
        )
        counted = "select count(*) as all_rows, count(operator) as known from attributed_kernels"
        self.assertEqual(capture.query(counted), [{"all_rows": 65, "known": 65}])
        self.assertEqual(gf.open(graphs).query(counted), [{"all_rows": 65, "known": 0}])
        with self.assertRaisesRegex(gf.Error, "13 launches"):
            gf.open(graphs, graphs=[TRACE])

    def test_graphs_are_not_the_change_of_that_name(self):
        replay = str(ROOT / "examples/lenet_graphs_b1.json.gz")
        eager = str(ROOT / "examples/lenet_inf_b1.json.gz")
        told = answer("whatif", replay, "--graphs", eager)
        self.assertEqual(gf.open(replay, graphs=[eager]).what_if(), told)

    def test_compare_takes_the_graphs_of_its_runs(self):
        replay = str(ROOT / "examples/lenet_graphs_b1.json.gz")
        eager = str(ROOT / "examples/lenet_inf_b1.json.gz")
        told = answer("compare", eager, replay, "--window", "all", "--graphs", eager)
        for both in (
            gf.compare(eager, gf.open(replay, graphs=[eager]), window="all"),
            gf.compare(eager, replay, window="all", graphs=[eager]),
        ):
            self.assertEqual(both.to_dict(), told)

    def test_the_window(self):
        steps = gf.open(TRACE, window="steps").analysis.window
        self.assertEqual(steps.kind, "steps")
        with self.assertRaisesRegex(gf.Error, "sometimes"):
            gf.open(TRACE, window="sometimes").levels()

    def test_errors_say_what_and_where(self):
        with self.assertRaisesRegex(gf.Error, "nowhere.json"):
            gf.open("nowhere.json")
        with self.assertRaisesRegex(gf.Error, "no kernel counters"):
            gf.open(TRACE, counters=SMALL)
        with self.assertRaisesRegex(AttributeError, "no table is called colours"):
            _ = self.run_.colours
        with self.assertRaises(AttributeError):
            _ = gf.nothing

    @needs("pandas", "pyarrow")
    def test_texts_of_a_column_have_a_dictionary_of_their_own(self):
        frame = self.run_.kernels.to_pandas()
        counts = frame.phase.value_counts()
        self.assertEqual(frame.phase.dtype.name, "category")
        self.assertGreater(counts.min(), 0)
        self.assertEqual(counts.sum(), frame.phase.notna().sum())
        self.assertEqual(set(frame.name.cat.categories), set(frame.name.dropna()))
        self.assertEqual(list(frame.kind.cat.categories), ["kernel"])

    def test_tables_are_typed_attributes(self):
        told = set(gf.Capture.__annotations__)
        self.assertLessEqual(set(self.run_.tables) - {"devices"}, told)

    def test_levels_and_findings_in_a_notebook(self):
        levels = self.run_.levels()._repr_html_()
        self.assertIn("gpu.busy", levels)
        self.assertIn("no data" if any(x.value is None for x in self.run_.levels()) else "%", levels)
        findings = self.run_.findings()
        self.assertEqual(findings._repr_html_().count("<li>"), len(findings))
        self.assertIn("of a step", findings._repr_html_())

    def test_a_table_needs_no_package(self):
        nothing = dict.fromkeys(("pyarrow", "pandas", "polars", "numpy"))
        with unittest.mock.patch.dict(sys.modules, nothing):
            kernels = gf.open(TRACE, counters=COUNTERS).kernels
            count = self.run_.query("select count(*) as kernels from activities where kind = 'kernel'")
            self.assertEqual(len(kernels), self.told["match"]["trace_kernels"])
            self.assertGreaterEqual(count[0]["kernels"], len(kernels))
            self.assertIn(f"kernels: {len(kernels)} rows of 36 columns (start_ns, ", repr(kernels))
            self.assertIn("duration_ns", kernels.columns)
            self.assertNotIn("_rows", vars(kernels))  # neither of these made any
            self.assertEqual(len(kernels["name"]), len(kernels))
            self.assertEqual(
                sum(kernels["exclusive_ns"]),
                sum(layer["ns"] for layer in self.told["layers"]),
            )
            last = kernels[-1]
            self.assertEqual(kernels[len(kernels) - 1 :], [last])
            self.assertEqual(kernels.to_dicts()[-1], last)
            self.assertTrue(any(cause is None for cause in kernels["idle_cause"]))
            self.assertEqual(list(last), kernels.columns)
            self.assertIn("<td>" + str(kernels[0]["start_ns"]), kernels._repr_html_())
            self.assertEqual(kernels[0:0], [])
            with self.assertRaises(IndexError):
                kernels[len(kernels)]
            with self.assertRaisesRegex(KeyError, "no column colours"):
                kernels["colours"]
            for extra, ask in (
                ("arrow", kernels.to_arrow),
                ("pandas", kernels.to_pandas),
                ("polars", kernels.to_polars),
            ):
                with self.assertRaisesRegex(gf.Error, rf"pip install .*\[{extra}\]"):
                    ask()

    def test_samples_come_in_batches(self):
        capture = gf.open(ROOT / "examples/resnet50_recorded.gpf", window="all")
        sql = "select count(*) as rows, sum(value) as sum, count(distinct metric) as metrics from counter_samples"
        told = capture.query(sql)[0]
        samples = capture.counter_samples
        self.assertEqual(len(samples), told["rows"])
        self.assertEqual(len(set(samples["metric"])), told["metrics"])
        known = [value for value in samples["value"] if value is not None and value == value]
        self.assertAlmostEqual(sum(known) / told["sum"], 1)
        self.assertEqual(samples[len(samples) - 2 :][0]["metric"], samples["metric"][-2])

    def test_what_if(self):
        kernel = self.run_.kernels["name"][0][:12]
        answer = self.run_.what_if(without=["sync"], kernels={kernel: 2}, gpu=2)
        names = [row["change"] for row in answer["changes"]]
        self.assertEqual(names, ["sync", "gpu", "kernel " + kernel, "together"])
        together = answer["changes"][-1]
        most = max(row["gain_ns"] for row in answer["changes"])
        self.assertGreaterEqual(together["gain_ns"], most - answer["own_ns"] / 100)
        self.assertEqual(answer["own_ns"] - together["gain_ns"], together["step_ns"])
        with self.assertRaises(gf.Error):
            self.run_.what_if(colour=2)
        mended = self.run_.what_if(mended=["fused_optimizer"], gpu="B200")
        names = [row["change"] for row in mended["changes"]]
        self.assertEqual(names, ["fused_optimizer", "gpu B200", "together"])

    def test_what_if_job(self):
        here = pathlib.Path(__file__).resolve().parents[1] / "advice" / "captures"
        with tempfile.TemporaryDirectory() as folder:
            for rank in ("rank0", "rank1"):
                shutil.copy(here / f"straggler.{rank}.json.gz", folder)
            answer = gf.what_if_job(folder, rank=1)
            names = [row["change"] for row in answer["changes"]]
            self.assertEqual(
                sorted(names), ["rank 1", "rank 1 gpu", "rank 1 host", "rank 1 input"]
            )
            self.assertEqual(answer["device"], -1)
            with self.assertRaisesRegex(gf.Error, "there is no capture of rank 7"):
                gf.what_if_job(folder, rank=7)

    def test_query(self):
        rows = self.run_.query("select name, null as missing from activities limit 1")
        self.assertEqual([list(row) for row in rows], [["name", "missing"]])
        with self.assertRaisesRegex(gf.Error, "no such table: nowhere"):
            self.run_.query("select * from nowhere")

    def test_completion(self):
        self.assertEqual(dir(gf), sorted([*gf.__all__, "__version__"]))
        for name in dir(gf):
            self.assertIsNotNone(getattr(gf, name))

    def test_page_and_notebook(self):
        self.assertIn("<html", self.run_.page()[:400])
        self.assertIn("srcdoc=", self.run_._repr_html_())
        self.assertNotIn('src="http', self.run_.page())

    def test_compare(self):
        self.assertEqual(gf.compare(TRACE, SLOWER).to_dict(), answer("compare", TRACE, SLOWER))
        with self.assertRaises(ValueError):
            gf.compare(SMALL)
        with self.assertRaisesRegex(gf.Error, "nowhere"):
            gf.compare(SMALL, "nowhere.json")


@needs("pyarrow")
class Tables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = gf.open(TRACE, counters=COUNTERS, window="all")

    def test_kernels_know_their_operators(self):
        kernels = self.run_.kernels.to_arrow()
        asked = subprocess.run(
            [
                str(BUILD / "gpufathom"),
                "query",
                TRACE,
                "--window",
                "all",
                "select row, name, operator, module, layer, phase, idle_ns, idle_cause from "
                "attributed_kernels order by row",
                "--format",
                "json",
                "--rows",
                "0",
            ],
            capture_output=True,
            check=True,
        )
        told = json.loads(asked.stdout)
        self.assertEqual(
            [list(row.values()) for row in kernels.select(told["columns"]).to_pylist()],
            told["rows"],
        )
        exclusive = sum(value for value in kernels["exclusive_ns"].to_pylist() if value)
        self.assertEqual(exclusive, self.run_.analysis.devices[0].kernel_busy_ns)

    def test_all_tables(self):
        for name in self.run_.tables:
            self.assertEqual(
                self.run_.table(name).to_arrow().num_rows, len(self.run_.table(name)), name
            )
        self.assertEqual(self.run_.ops.columns[0], "start_ns")
        self.assertIn("rows of", repr(self.run_.steps))

    def test_numbers_are_not_copied(self):
        first, second = (self.run_.table("activities").to_arrow() for _ in range(2))
        place = [table["start_ns"].chunk(0).buffers()[1].address for table in (first, second)]
        self.assertEqual(place[0], place[1])

    def test_tables_outlive_the_capture(self):
        capture = gf.open(SMALL)
        table = capture.activities.to_arrow()
        before = table["duration_ns"].to_pylist()
        del capture
        self.assertEqual(table["duration_ns"].to_pylist(), before)

    def test_a_stream_that_nobody_takes(self):
        for _ in range(3):
            self.run_.activities.__arrow_c_stream__()
        from gpufathom import _capi

        self.assertEqual(_capi._streams, {})

    @needs("pandas")
    def test_pandas(self):
        frame = self.run_.kernels.to_pandas()
        self.assertEqual(
            frame["start_ns"].tolist(), self.run_.kernels.to_arrow()["start_ns"].to_pylist()
        )
        start = self.run_.table("activities").to_arrow()["start_ns"].chunk(0).buffers()[1].address
        activities = self.run_.activities.to_pandas()
        self.assertEqual(activities["start_ns"].to_numpy().__array_interface__["data"][0], start)
        self.assertIn("<table", self.run_.steps._repr_html_())

    @needs("polars")
    def test_polars(self):
        frame = self.run_.kernels.to_polars()
        self.assertEqual(
            frame["duration_ns"].sum(), sum(self.run_.kernels.to_arrow()["duration_ns"].to_pylist())
        )
        self.assertEqual(frame["name"].to_list(), self.run_.kernels.to_arrow()["name"].to_pylist())

    @needs("duckdb")
    def test_duckdb(self):
        import duckdb

        kernels = self.run_.kernels.to_arrow()  # noqa: F841  asked for by its name
        count = duckdb.sql("select count(*) from kernels where operator is not null").fetchall()[0][
            0
        ]
        self.assertGreater(count, 0)


class Packaging(unittest.TestCase):
    @needs("pip")
    def test_pip_asks_for_a_whole_wheel(self):
        words = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--dry-run"]
        done = subprocess.run([*words, "-e", str(ROOT)], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("pip install . (without -e)", done.stdout + done.stderr)

    def test_missing_packages_are_named_and_not_installed(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, line in (("dpkg-query", "exit 1"), ("apt-get", f"touch {folder}/called")):
                tool = pathlib.Path(folder, name)
                tool.write_text(f"#!/bin/sh\n{line}\n")
                tool.chmod(0o755)
            done = subprocess.run(
                [str(ROOT / "dev"), "wheel"],
                env={"PATH": f"{folder}:/usr/bin:/bin", "GPUFATHOM_NO_PACKAGES": "1"},
                capture_output=True,
                text=True,
            )
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertRegex(done.stderr, r"^missing: apt-get install .*libsimdjson-dev")
            self.assertFalse(pathlib.Path(folder, "called").exists())
            for browser in ("chromium", "slurmd", "valgrind"):
                self.assertNotIn(browser, done.stderr)


class Recording(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "run.gpf")
        os.environ.update(GPUFATHOM_LIBRARY_PATH=str(BUILD / "fakes"), GPUFATHOM_FAKE="")

    def tearDown(self):
        self.folder.cleanup()
        del os.environ["GPUFATHOM_LIBRARY_PATH"], os.environ["GPUFATHOM_FAKE"]

    @unittest.skipUnless((BUILD / "fakes").exists(), "the fake driver is not built")
    def test_a_block(self):
        import time

        with gf.record(self.path) as recording:
            time.sleep(0.6)
            with self.assertWarnsRegex(UserWarning, "record --kernels"), gf.step():
                pass
            with warnings.catch_warnings(), gf.step():  # said once
                warnings.simplefilter("error")
        with warnings.catch_warnings(), gf.step():
            warnings.simplefilter("error")
        self.assertTrue(recording.open().levels())

    def test_what_goes_wrong_is_an_error(self):
        os.environ["GPUFATHOM_LIBRARY_PATH"] = self.folder.name
        with self.assertRaisesRegex(gf.Error, "gpufathom"):
            with gf.record(self.path):
                pass


class Gate(unittest.TestCase):
    def test_of_captures(self):
        self.assertAlmostEqual(gf.assert_no_regression(SMALL, SMALL, limit=0.05).slower, 0)
        with self.assertRaisesRegex(AssertionError, "became slower"):
            gf.assert_no_regression(TRACE, SLOWER)

    def test_it_is_the_decision_of_the_program(self):
        from gpufathom import gate

        for before, after, limit in ((SMALL, SMALL, 0.05), (SMALL, SMALL, 0.01), (TRACE, SLOWER, 0.03)):
            verdict = gate.check(before, after, limit)
            rule = ["--fail-on", f"kernels > {100 * limit:g}%"]
            told = subprocess.run([str(BUILD / "gpufathom"), "compare", before, after, *rule], capture_output=True)
            code = 1 if verdict.regressed else 4 if verdict.undecided else 0
            self.assertEqual(told.returncode, code, verdict.text)

    def test_a_capture_counts_once(self):
        with self.assertRaisesRegex(gf.Error, "given twice"):
            gf.assert_no_regression([SMALL, SMALL], SMALL)

    @needs("pytest")
    def test_the_plugin(self):
        with tempfile.TemporaryDirectory() as folder:
            test = pathlib.Path(folder) / "test_speed.py"
            test.write_text(
                f"def test_same(assert_no_regression):\n    assert_no_regression({SMALL!r}, {SMALL!r}, 0.05)\n"
                f"def test_slower(assert_no_regression):\n    assert_no_regression({TRACE!r}, {SLOWER!r})\n"
            )
            words = [
                sys.executable,
                "-B",
                "-m",
                "pytest",
                "-p",
                "gpufathom.pytest_plugin",
                "-p",
                "no:cacheprovider",
                str(test),
            ]
            done = subprocess.run(
                words,
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
                capture_output=True,
                text=True,
            )
            self.assertIn("1 failed, 1 passed", done.stdout)
            self.assertIn("test_slower: the kernels of a step became slower", done.stdout)


class Figures(unittest.TestCase):
    """A figure's numbers are those of the analysis."""

    @classmethod
    def setUpClass(cls):
        cls.run_ = gf.open(TRACE, counters=COUNTERS)

    def test_vega_without_packages(self):
        (device,) = self.run_.analysis.devices
        bars = self.run_.figure("waterfall", "vega")["data"]["values"]
        self.assertAlmostEqual(bars[-1]["to"], device.span_ns / 1e6)
        self.assertEqual(bars[0]["from"], 0)
        for left, right in zip(bars, bars[1:]):
            self.assertEqual(left["to"], right["from"])
        causes = self.run_.figure("idle", "vega")["data"]["values"]
        self.assertAlmostEqual(sum(row["to"] for row in causes), device.idle_ns / 1e6)
        levels = self.run_.figure("levels", "vega")["data"]["values"]
        self.assertEqual(levels[0]["to"], self.run_.levels()[0].value * 100)

    def test_colors_are_the_pages(self):
        from gpufathom import figures

        theme = (ROOT / "web/src/style/theme.css").read_text()
        for name, color in figures._COLORS.items():
            named = name.replace("_", "-")
            self.assertTrue(
                any(f"--{kind}-{named}: {color};" in theme for kind in ("bar", "cause")), name
            )

    def test_what_there_is_not(self):
        with self.assertRaisesRegex(ValueError, "waterfall, idle, levels"):
            self.run_.figure("pie")
        with self.assertRaisesRegex(ValueError, "matplotlib and vega"):
            self.run_.figure("idle", "plotly")
        with unittest.mock.patch.dict(sys.modules, {"matplotlib.figure": None}):
            with self.assertRaisesRegex(gf.Error, "backend='vega', which needs no package"):
                self.run_.figure("idle")

    @needs("altair")
    def test_vega_is_valid(self):
        import altair

        for kind in ("waterfall", "idle", "levels"):
            altair.Chart.from_dict(dict(self.run_.figure(kind, "vega")))
        with self.assertRaises(Exception) as refused:
            altair.Chart.from_dict({**self.run_.figure("idle", "vega"), "mark": "pie"})
        self.assertIn("pie", str(refused.exception))

    @needs("matplotlib")
    def test_matplotlib(self):
        (axes,) = self.run_.figure("waterfall").axes
        (device,) = self.run_.analysis.devices
        ends = [bar.get_x() + bar.get_width() for bar in axes.patches]
        self.assertAlmostEqual(max(ends), device.span_ns / 1e6)
        self.assertEqual(len(ends), len([bar for bar in device.waterfall if bar.ns]))
        with tempfile.TemporaryFile() as file:
            self.run_.figure("levels").savefig(file)


class Shown(unittest.TestCase):
    """The output of an interpreter and a notebook."""

    def test_answers_are_short(self):
        run = gf.open(TRACE)
        for shown in (run.analysis, run.levels()[0], run.findings()[0], run.analysis.devices[0]):
            self.assertLessEqual(len(repr(shown)), 120)
        self.assertIn(" more\n]", repr(run.analysis.kernels))
        self.assertLessEqual(repr(run.analysis.kernels).count("\n"), 14)
        self.assertEqual(len(run.analysis.kernels[:3]), 3)
        self.assertIn("launch_bound", run.idle()._repr_html_())

    def test_a_finding_shows_its_events(self):
        finding = next(each for each in gf.open(TRACE).findings() if each.id == "launch_bound")
        self.assertEqual((finding.kind, finding.rule), ("loss", ""))
        self.assertEqual(len(finding.moments), 3)
        shown = finding.show(rows=2)
        self.assertEqual([len(rows) for _, rows in shown.answers], [2, 2])
        longest = shown.answers[1][1][0]
        self.assertLessEqual(finding.moments[0].duration_ns, longest["idle_ns"])
        self.assertIn(finding.text, repr(shown))
        self.assertIn("<table>", shown._repr_html_())
        self.assertIn("<b>launch_bound</b>", finding._repr_html_())

    def test_a_comparison_has_its_page(self):
        both = gf.compare(TRACE, SLOWER)
        self.assertRegex(repr(both), r"^<gpufathom.Comparison with resnet50\S+: resnet50\S+: ")
        page = both.page()
        self.assertTrue(page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>"))
        self.assertIn("sandbox", both._repr_html_())
        self.assertEqual(both.to_dict(), answer("compare", TRACE, SLOWER))


class Types(unittest.TestCase):
    @needs("mypy")
    def test_types(self):
        words = [sys.executable, "-m", "mypy", "--cache-dir", os.devnull]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


unittest.main()
