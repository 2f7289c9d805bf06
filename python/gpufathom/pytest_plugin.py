"""For pytest: the fixture `assert_no_regression(before, after, limit=0.01)`, whose verdicts end the
test report. An undecided verdict fails as a regression does, and an incomplete capture is an
error.

def test_speed(assert_no_regression):
    assert_no_regression(sorted(glob("main-*.gpf")), sorted(glob("branch-*.gpf")))
"""

from __future__ import annotations

from typing import Any, Callable, List

import pytest

from gpufathom import gate

_VERDICTS: pytest.StashKey[List[str]] = pytest.StashKey()


@pytest.fixture
def assert_no_regression(request: pytest.FixtureRequest) -> Callable[..., gate.Verdict]:
    """Fails the test unless the kernels of the second version's runs are shown to be no slower
    (gpufathom.gate)."""

    def check(
        before: Any, after: Any, limit: float = 0.01, *, allow_incomplete: bool = False
    ) -> gate.Verdict:
        __tracebackhide__ = True
        verdict = gate.check(before, after, limit, allow_incomplete=allow_incomplete)
        request.config.stash.setdefault(_VERDICTS, []).append(
            f"{request.node.nodeid}: {verdict.text}"
        )
        if verdict.regressed or verdict.undecided:
            pytest.fail(verdict.text, pytrace=False)
        return verdict

    return check


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    lines: List[str] = config.stash.get(_VERDICTS, [])
    for number, line in enumerate(lines):
        if number == 0:
            terminalreporter.section("gpufathom")
        terminalreporter.write_line(line)
