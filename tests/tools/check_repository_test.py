"""The check of the repository finds what must not be committed, and lets the rest pass."""
import bz2
import gzip
import io
import lzma
import pathlib
import sqlite3
import sys
import tarfile
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import check_constants  # noqa: E402
import check_repository  # noqa: E402


def found_in(name: str, text: str) -> list[str]:
    return list(check_repository.violations(name, text.encode()))


def tar_of(name: str, content: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def zip_of(name: str, content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return packed.getvalue()


def capture_of(text: str) -> bytes:
    base = sqlite3.connect(":memory:")
    base.execute("create table strings (text)")
    base.execute("insert into strings values (?)", (text,))
    base.commit()
    return base.serialize()


def looks_into_archives() -> None:
    ways = {
        "a.json.gz": gzip.compress,
        "a.csv.xz": lzma.compress,
        "a.bz2": bz2.compress,
        "a.tgz": lambda content: tar_of("in/a.pb.gz", gzip.compress(content)),
        "a.zip": lambda content: zip_of("in/a.json", content),
        "a.pb": lambda content: b"\0\n" + content,
        "a.gpf.gz": lambda content: gzip.compress(capture_of(content.decode())),
    }
    for name, pack in ways.items():
        # The letter before the path is its length in a protobuf.
        for path in ("/root/out/x.json", "A/work/here/x.py", "/home/someone/x", "/mnt/x",
                     "/Users/x"):
            found = list(check_repository.violations(f"tests/{name}",
                                                     pack(f'{{"k":"{path}"}}'.encode())))
            assert len(found) == 1 and path.lstrip("A") in found[0], (name, path, found)
        clean = pack(b'{"k":"/home/user/programs/p.py /usr/lib/x /tmp/x https://x.org/homework/work"}')
        assert list(check_repository.violations(f"tests/{name}", clean)) == [], name
    assert len(list(check_repository.violations("a.tgz", tar_of("/home/someone/x", b"")))) == 1
    for broken in (gzip.compress(b"x" * 99)[:-9], b"\x28\xb5\x2f\xfd\0",
                   zip_of("x", b"y" * 99)[:-9]):
        found = list(check_repository.violations("a.bin", broken))
        assert len(found) == 1 and "cannot be looked into" in found[0], found


def hidden_in(**files: str) -> list[str]:
    with tempfile.TemporaryDirectory() as root:
        folder = pathlib.Path(root, "src", "a")
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / f"{name}.cpp").write_text(text)
        return check_constants.violations(pathlib.Path(root))


def main() -> None:
    assert found_in("src/a.cpp",
                    "int a;  // reads /proc/self/maps and /tmp\nhttps://x.org/home/page\n") == []
    assert [v.split(":")[1]
            for v in found_in("src/a.cpp", "ok\nopen(\"/home/someone/x\");\n")] == ["2"]
    assert len(found_in("docs/a.md", "TO" + "DO: write this\n")) == 1
    for words in ("gpufathom", "'gpufathom[arrow]'", "-q gpufathom==0.1", '"gpufathom"'):
        assert len(found_in("docs/a.md", f"    pip install {words}\n")) == 1, words
    assert found_in("docs/a.md", "pip install ./gpufathom-*.whl './gpufathom-….whl[pandas]'  # gpufathom\n") == []
    assert [v.split(":")[1] for v in check_repository.long_page("docs/a.md",
                                                                "# A\n" + "w" * 101 + "\n| "
                                                                + "w" * 101)] == ["2"]
    assert "201 lines" in "".join(check_repository.long_page("docs/a.md", "w\n" * 201))
    assert list(check_repository.long_page("docs/a.md", "w\n" * 200)) == []
    assert found_in("tests/golden/a.t", "  /home/someone/x\n") == []
    assert len(found_in("tests/golden/a.t",
                        "  gpufathom: /somewhere/tests/golden/../../examples/x: wrong\n")) == 1
    assert len(found_in("examples/a.bin", "\0/home/someone")) == 1
    looks_into_archives()
    big = list(check_repository.violations("examples/a.gz", b"\0" * 2_000_001))
    assert len(big) == 1 and "2000001 bytes" in big[0], big
    inner = "void f() {\n  constexpr int kMost = 2;\n}\n"
    assert hidden_in(one="constexpr int kMost = 1;\n",
                     two=inner) == ["src/a/two.cpp:2: kMost hides the one of src/a/one.cpp:1"]
    assert hidden_in(one=inner, two=inner, three="constexpr int kMostOfAll = 1;\n") == []


main()
