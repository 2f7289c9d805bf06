"""The measures of style count what they say, and nothing that only looks like it."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import measure_style  # noqa: E402


def measured(text: str) -> measure_style.Measures:
    found = measure_style.Measures()
    found.add_file("a.cpp", text)
    return found


def in_function(statement: str) -> measure_style.Measures:
    return measured("void run() {\n  " + statement + "\n}\n")


CHAINS = ["a = 1, b = 2;", "++i, --j;", "if (x) a = 1, b = 2;", "return f(), 1;",
          "f([&] { a = 1, b = 2; });",
          "case 1: a = 1, b.c = 2;", "*p = 1, q[0] = 2;"]
NO_CHAINS = ["int a = 1, b = 2;", "std::map<int, int> m;", "Row &a = b, &c = d;", "f(a, b);",
             "m << 1, 2;", "return {a, b};", "a = {1, 2};",
             "auto& [k, v] = p;", "const std::pair<int, int> a{1, 2}, b;", "x = [a, &b] { return a; };",
             "for (i = 0, j = 1; i < j; ++i, --j) f(a, b);", "std::vector<Row> rows{{1, 2}, {3, 4}};"]


def main() -> None:
    for statement in CHAINS:
        assert len(in_function(statement).chains) == 1, statement
    for statement in NO_CHAINS:
        assert in_function(statement).chains == [], statement

    names = measured('#include <a>\nint n = 1;  // a b c\nauto text = R"(x y)" "z" + count * n;\n')
    assert (names.names, len(names.letters)) == (4, 2), names
    assert (names.declarations, names.declared_letters) == (2, 1), names
    pairs = in_function("for (const auto& [k, value] : f) sum += k & value;")
    assert (pairs.declarations, pairs.declared_letters) == (3, 1), pairs

    assert len(measured("x" * 101 + "\n" + "y" * 100 + "\n").long_lines) == 1

    bodies = measured(
        "namespace a {\nstruct S {\n  S() : x{1} {\n  }\n  int f() const { return 1; }\n  int x;\n};\n"
        "const int kTable[] = {\n  1,\n};\nauto g(int n) -> int {\n  f([&] {\n  });\n}\nenum class E {\n  one\n};\n}\n")
    assert sorted(length for length, _ in bodies.functions) == [1, 2, 4], bodies.functions


main()
