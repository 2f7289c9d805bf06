"""check_version.py writes a release's version wherever it looks for one, once, and dates the
notes."""
import pathlib
import runpy
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "check_version.py"

with tempfile.TemporaryDirectory() as folder:
    copy = pathlib.Path(folder)
    for name in [place for place, _ in runpy.run_path(str(TOOL))["PLACES"]] + ["CHANGELOG.md", "tools/check_version.py"]:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy / name)

    def run(*arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, copy / "tools" / "check_version.py", *arguments],
                              capture_output=True, text=True)

    assert run("--set", "9.8").returncode == 1
    done = run("--set", "9.8.7")
    assert done.returncode == 0 and done.stdout == "version: 9.8.7 everywhere\n", done
    assert "## [Unreleased]\n\n## [9.8.7] - 2" in (copy / "CHANGELOG.md").read_text()
    assert run("--set", "9.8.7").returncode == 1, "a version is released once"
    package = copy / "web" / "package.json"
    package.write_text(package.read_text().replace("9.8.7", "9.8.6"))
    done = run()
    assert done.returncode == 1 and done.stdout == "web/package.json: 9.8.6, CMakeLists.txt has 9.8.7\n", done
