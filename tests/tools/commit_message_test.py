"""The hook for commit messages refuses what CONTRIBUTING.md rules out, and lets the rest pass."""
import pathlib
import subprocess
import tempfile

HOOK = pathlib.Path(__file__).resolve().parents[2] / "tools" / "hooks" / "commit-msg"
GOOD = ("Read a power log twice\n\nThe first pass finds the clock.\n",
        "x" * 72 + "\n\nwhy\n# comment\n", "Merge branch 'a'\n",
        "Subject\n\nbody\n# ------------------------ >8 ------------------------\ndiff --git a b\n")
BAD = {"x" * 73 + "\n\nwhy\n": "73 characters", "Subject\n": "no body",
       "Subject\n\n# only a comment\n": "no body",
       "Subject\nbody\n": "second line", "# nothing\n": "first line",
       "Subject\n# ------------------------ >8\ndiff\n": "no body"}

with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "message"

    def run(message: str) -> subprocess.CompletedProcess:
        file.write_text(message)
        return subprocess.run([HOOK, file], capture_output=True, text=True)

    for message in GOOD:
        assert run(message).returncode == 0, (message, run(message).stderr)
    for message, why in BAD.items():
        done = run(message)
        assert done.returncode == 1 and why in done.stderr, (message, done.stderr)
