"""The callbacks of Hugging Face's Trainer and of Lightning, each in a training run on the CPU,
recorded over the fake driver; a live
torch.profiler; a notebook. Usage: frameworks_test.py BUILD_DIR. Parts whose packages are not
installed are skipped.
"""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop()).resolve()
os.environ.update(
    GPUFATHOM_BUILD=str(BUILD),
    PYTHONPATH=str(ROOT / "python"),
    PYTHONDONTWRITEBYTECODE="1",
    OMP_NUM_THREADS="1",
)
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True
import gpufathom as gf  # noqa: E402


def needs(*names):
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"{', '.join(missing)} is not installed")


TRACE = str(ROOT / "examples/lenet_train_b64.json.gz")


class Frameworks(unittest.TestCase):
    def recorded(self, framework):
        with tempfile.TemporaryDirectory() as folder:
            capture = os.path.join(folder, "run.gpf")
            fakes = BUILD / "fakes"
            environment = {
                **os.environ,
                "GPUFATHOM_LIBRARY_PATH": str(fakes),
                "GPUFATHOM_FAKE": "",
                "HF_HUB_OFFLINE": "1",
                "TRACE": TRACE,
                "FAKE_DRIVER": str(next(fakes.glob("libcuda.so*"))),
            }
            words = [
                str(BUILD / "gpufathom"),
                "record",
                "-q",
                "--kernels",
                "--window",
                "0",
                "-o",
                capture,
                "--",
                sys.executable,
                str(ROOT / "tests/python/programs/training.py"),
                framework,
                folder,
            ]
            done = subprocess.run(words, env=environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("profiled steps: 2", done.stdout)
            busy = gf.open(TRACE).levels()[0].value
            self.assertIn(f"busy: {busy}", done.stdout)
            self.assertIn(f"logged: [{busy}]", done.stdout)
            self.assertIn("<html", pathlib.Path(folder, "page.html").read_text()[:400])
            asked = [
                str(BUILD / "gpufathom"),
                "query",
                capture,
                "select (select count(*) from steps), (select count(*) from kernels)",
                "--format",
                "csv",
            ]
            # A busy machine loses samples, of which the exit code tells; the rows are whole.
            return subprocess.run(asked, capture_output=True, text=True).stdout.split()[-1]

    @needs("torch", "transformers", "accelerate", "pyarrow")
    def test_hugging_face(self):
        self.assertEqual(self.recorded("huggingface"), "6,6")

    @needs("torch", "lightning", "pyarrow")
    def test_lightning(self):
        self.assertEqual(self.recorded("lightning"), "6,6")

    @needs("torch", "pyarrow")
    def test_a_live_profiler(self):
        import torch

        with torch.profiler.profile() as profiler:
            for _ in range(3):
                torch.randn(64, 64) @ torch.randn(64, 64)
                profiler.step()
        capture = gf.analyze(profiler)
        self.assertIn("aten::mm", capture.ops.to_arrow()["name"].to_pylist())
        with self.assertRaisesRegex(gf.Error, "no GPU activity"):
            capture.levels()


NOTEBOOK = """
import gpufathom as gf
run = gf.open({trace!r})
run
"""


class Notebook(unittest.TestCase):
    @needs("nbclient", "nbformat", "ipykernel")
    def test_shows_the_page(self):
        import nbclient
        import nbformat

        notebook = nbformat.v4.new_notebook()
        trace = str(ROOT / "examples/lenet_train_b64.json.gz")
        notebook.cells = [nbformat.v4.new_code_cell(NOTEBOOK.format(trace=trace))]
        nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
        shown = notebook.cells[0].outputs[0]["data"]["text/html"]
        self.assertIn("srcdoc=", shown)
        self.assertIn("&lt;html", shown)
        self.assertNotIn("src=&quot;http", shown, "a page that fetches nothing")


unittest.main()
