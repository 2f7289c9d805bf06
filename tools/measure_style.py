#!/usr/bin/env python3
"""Measures how a C++ tree reads: names, line widths, comma chains, lengths of functions and files.

    tools/measure_style.py PATH...      prints the measures of every C++ file below the paths
    tools/measure_style.py --check      holds this repository to its own limits; --list shows where each is broken

What is counted, by a tokenizer of its own (comments, strings and #include lines are no code):

single letters   identifier tokens of one letter, as a share of all identifier tokens that are not keywords. A second
                 figure is the share among declarations: identifiers that follow a type (`Type
                 name`, `auto& [a, b]`).
long lines       lines of more than 100 columns.
comma chains     expression statements that join several by commas: `a = 1, b = 2;` (declarations are not counted).
functions        from the line of the opening brace of a body to the line of its closing one; a lambda is part of the
                 function around it. Bodies of namespaces, classes, enumerations and tables are not
                 functions.
files            lines of a file.
"""
from __future__ import annotations

import argparse
import bisect
import pathlib
import re
import subprocess
import sys
from dataclasses import dataclass, field

SUFFIXES = {".h", ".hh", ".hpp", ".hxx", ".inl", ".cuh", ".cc", ".cpp", ".cxx", ".cu", ".def"}
COLUMNS = 100
# The limits of --check: what this repository promises.
LIMITS = {
    "single letters": 4.0,
    "long lines": 0,
    "comma chains": 0,
    "longest function": 80,
}

TOKEN = re.compile(
    r"""\s+
      |(?P<comment>//(?:[^\n\\]|\\(?:\n|.))*|/\*.*?\*/)
      |(?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\\\s"]*)\(.*?\)(?P=mark)")
      |(?P<text>(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"|(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+')
      |(?P<include>\#[ \t]*include[^\n]*)
      |(?P<directive>\#(?:[^\n\\]|\\(?:\n|.))*)
      |(?P<name>[A-Za-z_]\w*)
      |(?P<number>\.?\d(?:'?[\w.]|(?<=[eEpP])[+-])*)
      |(?P<sign>->|::|<<=|<=>|<=|>=|==|!=|&&|\|\||\+\+|--|[-+*/%&|^]=|<<|.)""",
    re.X | re.S | re.M,
)
TYPES = set("auto bool char char8_t char16_t char32_t double float int long short signed unsigned void wchar_t".split())
KEYWORDS = TYPES | set(
    """alignas alignof and and_eq asm bitand bitor break case catch class compl concept const consteval constexpr
    constinit const_cast continue co_await co_return co_yield decltype default delete do dynamic_cast else enum
    explicit export extern false for friend goto if inline mutable namespace new noexcept not not_eq nullptr operator
    or or_eq private protected public register reinterpret_cast requires return sizeof static static_assert
    static_cast struct switch template this thread_local throw true try typedef typeid typename union using virtual
    volatile while xor xor_eq override final""".split()
)
CONTROL = {"if", "for", "while", "switch", "constexpr"}


@dataclass(slots=True)
class Token:
    kind: str
    text: str
    at: int


@dataclass
class Measures:
    lines: list[tuple[str, int]] = field(default_factory=list)
    names: int = 0
    letters: list[str] = field(default_factory=list)
    declarations: int = 0
    declared_letters: int = 0
    long_lines: list[str] = field(default_factory=list)
    chains: list[str] = field(default_factory=list)
    functions: list[tuple[int, str]] = field(default_factory=list)

    def add_file(self, name: str, text: str) -> None:
        rows = text.splitlines()
        self.lines.append((name, len(rows)))
        self.long_lines += [f"{name}:{n}: {len(row)} columns" for n, row in enumerate(rows, 1)
                            if len(row) > COLUMNS]
        starts = [0] + [found.end() for found in re.finditer("\n", text)]
        where = lambda at: f"{name}:{bisect.bisect_right(starts, at)}"  # noqa: E731
        code, directives = tokens(text)
        for token in code + directives:
            if token.kind == "name" and token.text not in KEYWORDS:
                self.names += 1
                if len(token.text) == 1:
                    self.letters.append(f"{where(token.at)}: {token.text}")
        for token in declared(code, text):
            self.declarations += 1
            self.declared_letters += len(token.text) == 1
        chains, functions = structure(code, text)
        self.chains += [where(at) for at in chains]
        for first, last in functions:
            begin, end = bisect.bisect_right(starts, first), bisect.bisect_right(starts, last)
            self.functions.append((end - begin + 1, f"{name}:{begin}"))


def tokens(text: str) -> tuple[list[Token], list[Token]]:
    """The tokens of the code, and those inside preprocessor lines."""
    code, directives = [], []
    for found in TOKEN.finditer(text):
        kind = found.lastgroup if found.lastgroup != "mark" else "raw"
        if kind is None or kind in ("comment", "include"):
            continue
        if kind == "directive":
            body = re.sub(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif|define|undef|pragma|error)?", " ", found[0])
            for inner in TOKEN.finditer(body):
                if inner.lastgroup in ("name", "sign") and inner[0] != "\\":
                    directives.append(Token(inner.lastgroup, inner[0], found.start()))
            continue
        code.append(Token("text" if kind == "raw" else kind, found[0], found.start()))
    return code, directives


def declared(code: list[Token], text: str):
    """Identifiers that stand where a name is declared: after a type, before what may follow a
    declarator."""
    for i in range(1, len(code) - 1):
        token, before, after = code[i], code[i - 1], code[i + 1]
        if before.text == "[" and i > 1 and bound(code, i - 2):
            while i < len(code) and code[i].text != "]":
                if code[i].kind == "name":
                    yield code[i]
                i += 1
            continue
        if token.kind != "name" or token.text in KEYWORDS or after.text not in set("=;,){[:("):
            continue
        if before.kind == "name":
            if before.text not in KEYWORDS or before.text in TYPES | {"const", "class", "struct", "enum", "typename"}:
                yield token
        elif before.text in ("*", "&", "&&", ">"):
            spaced_left = text[before.at - 1].isspace()
            spaced_right = text[before.at + len(before.text)].isspace()
            # `Type& name` and `Type &name` declare; `a & b` and `a > b` compute.
            if spaced_right and not spaced_left or (
                before.text != ">" and spaced_left and not spaced_right and type_like(code, i - 2)
            ):
                yield token


def type_like(code: list[Token], i: int) -> bool:
    return i >= 0 and (code[i].text in TYPES | {"const", ">"} or code[i].kind == "name"
                       and code[i].text not in KEYWORDS)


def bound(code: list[Token], i: int) -> bool:
    while i >= 0 and code[i].text in ("&", "&&"):
        i -= 1
    return i >= 0 and code[i].text == "auto"


@dataclass
class Scope:
    kind: str  # "outer" (namespace, class), "function", "block", "values"
    first: int
    statement: list[Token] = field(default_factory=list)
    # what each open one follows: a control word or nothing
    parens: list[str] = field(default_factory=list)
    commas: int = 0


def structure(code: list[Token], text: str) -> tuple[list[int], list[tuple[int, int]]]:
    """Offsets of comma-chained statements, and the first and last offset of every function's
    body."""
    chains, functions = [], []
    scopes = [Scope("outer", 0)]
    angles = 0
    for i, token in enumerate(code):
        scope = scopes[-1]
        sign = token.text if token.kind == "sign" else ""
        if sign == "{":
            scopes.append(Scope(kind_of_braces(scopes, code, i), token.at))
            angles = 0
            continue
        if sign == "}":
            if len(scopes) == 1:
                continue
            closed = scopes.pop()
            if closed.kind == "function":
                functions.append((closed.first, token.at))
            scope = scopes[-1]
            if closed.kind != "values" and not scope.parens:
                lambda_of = any(t.text == "=" or introduces_lambda(scope.statement, k)
                                for k, t in enumerate(scope.statement))
                if not lambda_of:
                    scope.statement, scope.commas = [], 0
                    continue
            scope.statement.append(token)
            continue
        if sign == "(":
            before = code[i - 1].text if i else ""
            scope.parens.append(before if before in CONTROL else "")
        elif sign == ")":
            if scope.parens and scope.parens.pop() and not scope.parens:
                scope.statement, scope.commas = [], 0
                continue
        elif sign == "<" and opens_template(code, i, text):
            angles += 1
        elif sign == ">" and angles and not text[token.at - 1].isspace():
            angles -= 1
        elif sign == "," and not scope.parens and not angles and scope.kind != "values":
            if not any(t.text == "[" for t in open_brackets(scope.statement)):
                scope.commas += 1
        elif sign == ";" and not scope.parens:
            if scope.commas and expression(scope.statement, text):
                chains.append(scope.statement[0].at)
            scope.statement, scope.commas, angles = [], 0, 0
            continue
        elif not scope.parens and ends_label(scope.statement, sign):
            scope.statement, scope.commas = [], 0
            continue
        elif not scope.parens and token.text in ("else", "do"):
            scope.statement, scope.commas = [], 0
            continue
        scope.statement.append(token)
    return chains, functions


def introduces_lambda(statement: list[Token], i: int) -> bool:
    """`[` that captures, not one that indexes."""
    if statement[i].text != "[":
        return False
    return i == 0 or statement[i - 1].kind not in ("name",
                                                   "text") and statement[i - 1].text not in (")", "]")


def opens_template(code: list[Token], i: int, text: str) -> bool:
    before = code[i - 1] if i else None
    if before is None or before.kind != "name":
        return False
    return before.text == "template" or before.at + len(before.text) == code[i].at and not text[code[i].at + 1].isspace()


def open_brackets(statement: list[Token]) -> list[Token]:
    still: list[Token] = []
    for token in statement:
        if token.text == "[":
            still.append(token)
        elif token.text == "]" and still:
            still.pop()
    return still


def ends_label(statement: list[Token], sign: str) -> bool:
    if sign != ":" or not statement:
        return False
    return statement[0].text in ("case", "default", "public", "private", "protected")


def expression(statement: list[Token], text: str) -> bool:
    """Whether the statement is no declaration: it does not begin with a type and a name."""
    first = statement[0]
    if any(token.text == "<<" for token in statement):
        return False  # Eigen's way to fill a matrix: `matrix << 1, 2;`
    if first.text in KEYWORDS:
        return first.text in ("delete", "this", "return", "throw")
    if first.kind != "name":
        return first.text in ("++", "--", "*", "(")
    i, depth = 0, 0
    while i < len(statement):  # the end of a qualified name with template arguments
        token = statement[i]
        if token.text == "<" and (depth or opens_template(statement, i, text)):
            depth += 1
        elif token.text == ">" and depth:
            depth -= 1
        elif not depth and token.text != "::" and not (token.kind == "name"
                                                       and (i == 0
                                                            or statement[i - 1].text == "::")):
            break
        i += 1
    while i < len(statement) and statement[i].text in ("*", "&", "&&", "const"):
        sign = statement[i]
        if sign.text != "const" and text[sign.at - 1].isspace() and text[sign.at + len(sign.text)].isspace():
            break
        i += 1
    return not (i < len(statement) and statement[i].kind == "name"
                and statement[i].text not in ("and", "or"))


def kind_of_braces(scopes: list[Scope], code: list[Token], i: int) -> str:
    scope, before = scopes[-1], code[i - 1] if i else Token("sign", ";", 0)
    words = [t.text for t in scope.statement]
    inside = any(s.kind == "function" for s in scopes)
    if scope.kind == "values" and before.text not in (")", "]", "mutable", "noexcept"):
        return "values"
    start = 0
    if words[:2] == ["template", "<"]:
        depth = 0
        for start, word in enumerate(words):
            depth += (word == "<") - (word == ">")
            if depth == 0 and start:
                break
        start += 1
    head = words[start : start + 3]
    if not scope.parens and head:
        if "namespace" in head or head[0] == "extern" and len(words) == 2:
            return "outer"
        if head[0] in ("struct", "class", "union",
                       "typedef") and "(" not in words and "=" not in words:
            return "outer"
        if head[0] == "enum":
            return "values"
    if before.text in (")", "]", "const", "noexcept", "override", "final", "mutable", "else", "do",
                       "try"):
        return "block" if inside else "function"
    if not words:
        return "block" if inside else "outer"
    if before.text in ("=", ",", "(", "{", "return", "[") or before.text == "&&" and not inside:
        return "values"
    # `-> Type {` ends a signature; so does the last of a constructor's initializers.
    tail = words[len(words) - 1 - words[::-1].index(")") :] if ")" in words else []
    if "->" in tail and tail[1:2] in (["->"], ["mutable"],
                                      ["noexcept"]) or tail[1:2] == ["const"] and "->" in tail:
        return "block" if inside else "function"
    if not inside and before.text == "}" and ")" in words:
        return "function"
    return "values"


def gather(paths: list[str], root: pathlib.Path | None) -> Measures:
    measures = Measures()
    if root:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True,
                                capture_output=True, text=True)
        files = [root / name for name in listed.stdout.split("\0") if name]
    else:
        files = []
        for path in map(pathlib.Path, paths):
            files += sorted(path.rglob("*")) if path.is_dir() else [path]
    for file in files:
        if file.suffix in SUFFIXES and file.is_file():
            name = str(file.relative_to(root)) if root else str(file)
            measures.add_file(name, file.read_text(encoding="utf-8", errors="replace"))
    return measures


def share(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 0.0


def values(found: Measures) -> dict[str, float]:
    lengths = [count for _, count in found.lines]
    return {
        "single letters": share(len(found.letters), found.names),
        "long lines": len(found.long_lines),
        "comma chains": len(found.chains),
        "longest function": max((length for length, _ in found.functions), default=0),
    }


def report(found: Measures) -> None:
    lengths = sorted(count for _, count in found.lines)
    functions = sorted(length for length, _ in found.functions)
    result = values(found)
    print(f"{len(lengths)} files, {sum(lengths)} lines, {len(functions)} functions")
    print(f"single letters    {result['single letters']:.1f} % of {found.names} identifiers; "
          f"{share(found.declared_letters, found.declarations):.1f} % of {found.declarations} declarations")
    print(f"long lines        {len(found.long_lines)} above {COLUMNS} columns")
    print(f"comma chains      {len(found.chains)} statements")
    if functions:
        longest = max(found.functions)
        print(f"functions         longest {longest[0]} ({longest[1]}); median {functions[len(functions) // 2]}; "
              f"above 60: {sum(n > 60 for n in functions)}; above 80: {sum(n > 80 for n in functions)}")
    if lengths:
        print(f"files             median {lengths[len(lengths) // 2]} lines; 90 % up to {lengths[len(lengths) * 9 // 10]}; "
              f"longest {lengths[-1]}")


def listing(found: Measures) -> None:
    for title, places in [("single letter", found.letters), ("long line", found.long_lines),
                          ("comma chain", found.chains)]:
        for place in places:
            print(f"{place}: {title}" if title == "comma chain" else f"{place} ({title})")
    for length, place in sorted(found.functions, reverse=True):
        if length > 60:
            print(f"{place}: function of {length} lines")


def check(found: Measures) -> int:
    result = values(found)
    broken = [f"{what}: {result[what]:.1f}, the limit is {limit:g}"
              for what, limit in LIMITS.items() if result[what] > limit]
    for place in found.long_lines + found.chains:
        print(place)
    for length, place in found.functions:
        if length > LIMITS["longest function"]:
            print(f"{place}: function of {length} lines")
    print("\n".join(broken) if broken else "style: names, lengths and widths within the limits")
    return 1 if broken else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", help="files and folders; without any, this repository")
    parser.add_argument("--check", action="store_true",
                        help="exit 1 when a limit of this repository is exceeded")
    parser.add_argument("--list", action="store_true", help="print every place that counts")
    arguments = parser.parse_args()
    root = None if arguments.paths else pathlib.Path(__file__).resolve().parent.parent
    found = gather(arguments.paths, root)
    if arguments.list:
        listing(found)
    if arguments.check:
        return check(found)
    report(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
