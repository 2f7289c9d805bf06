"""The check of the repository finds what must not be committed, and lets the rest pass."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import check_constants  # noqa: E402
import check_repository  # noqa: E402


def found_in(name: str, text: str) -> list[str]:
    return list(check_repository.violations(name, text.encode()))


def hidden_in(**files: str) -> list[str]:
    with tempfile.TemporaryDirectory() as root:
        folder = pathlib.Path(root, "src", "a")
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / f"{name}.cpp").write_text(text)
        return check_constants.violations(pathlib.Path(root))


def main() -> None:
    assert found_in("src/a.cpp", "int a;  // reads /proc/self/maps and /tmp\nhttps://x.org/home/page\n") == []
    assert [v.split(":")[1] for v in found_in("src/a.cpp", "ok\nopen(\"/home/someone/x\");\n")] == ["2"]
    assert len(found_in("docs/a.md", "TO" + "DO: write this\n")) == 1
    assert found_in("tests/golden/a.t", "  /home/someone/x\n") == []
    assert found_in("examples/a.bin", "\0/home/someone") == []
    big = list(check_repository.violations("examples/a.gz", b"\0" * 2_000_001))
    assert len(big) == 1 and "2000001 bytes" in big[0], big
    inner = "void f() {\n  constexpr int kMost = 2;\n}\n"
    assert hidden_in(one="constexpr int kMost = 1;\n", two=inner) == ["src/a/two.cpp:2: kMost hides the one of src/a/one.cpp:1"]
    assert hidden_in(one=inner, two=inner, three="constexpr int kMostOfAll = 1;\n") == []


main()
