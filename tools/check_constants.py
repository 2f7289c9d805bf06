"""The files of a folder are compiled together, so that a constant inside a function or class must
not have the name of one of the folder's own: a reader of either could take one for the other, and Clang warns of it."""
import pathlib
import re

CONSTANT = re.compile(r"^(\s*)(?:static |inline )*constexpr\b[^=({]*\b(k[A-Z]\w*)\s*(?:\[[^\]]*\])?\s*[={]")


def constants(path: pathlib.Path):
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        if match := CONSTANT.match(line):
            yield number, match[2], not match[1]


def violations(root: pathlib.Path) -> list[str]:
    found = []
    for folder in sorted({path.parent for path in (root / "src").rglob("*.cpp")}):
        shared, inner = {}, []
        for path in sorted(folder.glob("*.cpp")):
            for number, name, outermost in constants(path):
                place = f"{path.relative_to(root)}:{number}"
                if outermost:
                    shared[name] = place
                else:
                    inner.append((place, name))
        found += [f"{place}: {name} hides the one of {shared[name]}" for place, name in inner
                  if name in shared]
    return found
