"""Questions over a dataset in SQL that DuckDB and Spark SQL both understand."""

from __future__ import annotations

import pathlib
from typing import Any

from gpufathom.ranks.dataset import Path

QUERIES = {
    "slowest_ranks": """
        SELECT rank, host, span_ns, compute_ns, exposed_ns FROM ranks ORDER BY compute_ns DESC, rank LIMIT 20
    """,
    "stragglers": """
        SELECT rank, SUM(exposed_ns) AS exposed_ns, COUNT(*) AS collectives FROM collectives
        GROUP BY rank ORDER BY exposed_ns, rank LIMIT 20
    """,
    "imbalance": """
        SELECT step, COUNT(*) AS ranks, MIN(kernels_ns) AS least_ns, MAX(kernels_ns) AS most_ns,
               MAX(kernels_ns) - MIN(kernels_ns) AS spread_ns
        FROM steps GROUP BY step ORDER BY step
    """,
    "collectives_by_size": """
        SELECT type, bytes, COUNT(*) AS count, MIN(duration_ns) AS fastest_ns, MAX(duration_ns) AS slowest_ns
        FROM collectives GROUP BY type, bytes ORDER BY type, bytes
    """,
    "idle_causes": """
        SELECT cause, SUM(ns) AS ns, COUNT(DISTINCT rank) AS ranks FROM idle GROUP BY cause ORDER BY ns DESC, cause
    """,
    "damage": """
        SELECT code, SUM(count) AS count, COUNT(DISTINCT rank) AS ranks FROM quality GROUP BY code ORDER BY code
    """,
}

_TABLES = ("steps", "collectives", "idle", "levels", "quality", "ranks")


def sql(dataset: Path, query: str) -> list[tuple[Any, ...]]:
    """Rows of a query over the tables of a dataset, by DuckDB."""
    import duckdb

    with duckdb.connect() as connection:
        for name in _TABLES:
            files = str(pathlib.Path(dataset) / name / "*.parquet").replace("'", "''")
            connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{files}')")
        rows: list[tuple[Any, ...]] = connection.execute(query).fetchall()
        return rows


def spark_sql(session: Any, dataset: Path, query: str) -> list[tuple[Any, ...]]:
    """The same by Spark SQL: rows as tuples."""
    for name in _TABLES:
        session.read.parquet(str(pathlib.Path(dataset) / name)).createOrReplaceTempView(name)
    return [tuple(row) for row in session.sql(query).collect()]
