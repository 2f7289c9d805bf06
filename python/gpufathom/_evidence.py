"""The statements that show the events behind a finding."""

from __future__ import annotations

from typing import List, Sequence

# What shows a finding's events: time by operation, then the largest single ones.
_BEFORE = (
    "(select {1} from attributed_kernels union all select {1} from attributed_copies) "
    "where idle_cause = '{0}'"
)
_IDLE = (
    "select operator, parent, module, count(*) as gaps, sum(idle_ns) as idle_ns from "
    + _BEFORE.replace("{1}", "operator, parent, module, idle_ns, idle_cause")
    + " group by 1, 2, 3 order by idle_ns desc",
    "select start_ns - idle_ns as idle_from_ns, idle_ns, operator, phase, step, step_offset_ns, "
    "short_name as then_ran from "
    + _BEFORE.replace(
        "{1}", "start_ns, idle_ns, idle_cause, operator, phase, step, step_offset_ns, short_name"
    )
    + " order by idle_ns desc",
)
_CALLS = (
    "select name, count(*) as calls, sum(duration_ns) as ns, max(duration_ns) as longest_ns from "
    "api_calls where kind = '{0}' group by name order by ns desc",
)
_COPIES = (
    "select copy, operator, count(*) as copies, sum(duration_ns) as ns, sum(bytes) as bytes from "
    "attributed_copies group by 1, 2 order by ns desc",
)
_KERNELS = (
    "select short_name, operator, layer, count(*) as kernels, sum(duration_ns) as ns, "
    "cast(avg(duration_ns) as integer) as mean_ns, max(grid_x * grid_y * grid_z) as blocks from "
    "attributed_kernels{0} group by 1, 2, 3 order by ns desc",
)


def _filled(statements: Sequence[str], word: str) -> List[str]:
    return [statement.format(word) for statement in statements]


def statements(finding: str) -> List[str]:
    """By what the finding is about; those of kernels without a row here show the kernels."""
    of = {
        "launch_bound": _filled(_IDLE, "launch_bound"),
        "host_bound": _filled(_IDLE, "host_other"),
        "input_bound": _filled(_IDLE, "input")
        + [
            "select name, count(*) as times, sum(duration_ns) as ns from host_ops where name like "
            "'%DataLoader%' group by name order by ns desc"
        ],
        "sync_in_step": _filled(_CALLS, "sync") + _filled(_IDLE, "sync"),
        "blocking_copies": list(_COPIES) + _filled(_IDLE, "memcpy"),
        "device_allocations": _filled(_CALLS, "alloc"),
        "exposed_communication": _filled(_IDLE, "communication"),
        "recompilation": [
            "select name, count(*) as times, sum(duration_ns) as ns from host_ops where name like "
            "'%compile%' or name like '%dynamo%' or name like '%inductor%' group by name "
            "order by ns desc"
        ],
        "unfused_optimiser": _filled(_KERNELS, " where phase = 'optimizer'"),
        "eager_attention": _filled(_KERNELS, " where layer in ('MatMul', 'Softmax')"),
        "casts": _filled(_KERNELS, " where operator like '%copy%' or operator like '%_to%'"),
        "observer_effect": [
            "select kind, count(*) as recorded_events from host_ops group by kind",
            "select count(*) as recorded_calls from api_calls",
        ],
        "warm_up_in_window": ["select * from steps"],
    }
    return of.get(finding, _filled(_KERNELS, ""))
