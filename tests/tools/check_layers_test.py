"""The layering check finds a violation, and only a violation."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import check_layers  # noqa: E402


def found_in(files: dict[str, str]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        src = pathlib.Path(folder)
        for name, text in files.items():
            (src / name).parent.mkdir(parents=True, exist_ok=True)
            (src / name).write_text(text, encoding="utf-8")
        return [v.removeprefix(str(src) + "/") for v in check_layers.violations(src)]


def main() -> None:
    good = {"core/a.h": "#include <vector>\n", "model/b.h": '#include "core/a.h"\n',
            "report/c.cpp": '#include "analyze/d.h"\n  #  include "model/b.h"\n'}
    assert found_in(good) == [], found_in(good)
    up = found_in({"core/a.h": '#include <vector>\n#include "model/b.h"\n'})
    assert up == ["core/a.h:2: core must not include model"], up
    across = found_in({"import/x.cpp": '#include "analyze/y.h"\n'})
    assert across == ["import/x.cpp:1: import must not include analyze"], across
    table = found_in({"model/t.def": '#include "report/z.h"\n'})
    assert table == ["model/t.def:1: model must not include report"], table
    stranger = found_in({"misc/x.cpp": ""})
    assert len(stranger) == 1 and "misc" in stranger[0], stranger


main()
