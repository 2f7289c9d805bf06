"""What ctest skipped is told in one line: counted by reason, each with its command, and whatever
gives no reason by name."""
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import skipped_tests  # noqa: E402


def told(*cases: str) -> str:
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(f"<testsuite>{''.join(cases)}</testsuite>")
        file.flush()
        return skipped_tests.told(file.name)


def case(name: str, output: str, skipped: bool = True) -> str:
    inner = '<skipped message="SKIP_RETURN_CODE=77"/>' if skipped else ""
    return f'<testcase name="{name}">{inner}<system-out>{output}</system-out></testcase>'


def main() -> None:
    assert told(case("a", "GPUFATHOM_CORPUS is unset", skipped=False)) == "No test was skipped."
    line = told(
        case("golden/x.t", "s\n# Ran 1 tests, 1 skipped, 0 failed."),
        case("Corpus.Reads/0  # GetParam() = 1", "GPUFATHOM_CORPUS is unset"),
        case("system/valgrind.sh", "valgrind is not installed: ./dev setup"),
        case("odd", "no reason at all"),
        case("passed", "ok", skipped=False),
    )
    assert "\n" not in line and line.startswith("4 of the tests were skipped: 2 for want of the large corpus"), line
    for part in ("GPUFATHOM_CORPUS=FOLDER ./dev test",
                 "1 for want of packages that are not installed (./dev setup)", "-R '^odd$'"):
        assert part in line, (part, line)


main()
