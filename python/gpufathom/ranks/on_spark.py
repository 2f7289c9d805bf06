"""The map in Spark, by mapInArrow: Spark retries a task whose executor dies.

    from pyspark.sql import SparkSession
    from gpufathom.ranks import on_spark
    report = on_spark.map_all(SparkSession.builder.getOrCreate(), paths, "/shared/dataset")

The driver and the workers need pyarrow and, for Spark 4, pandas. Workers run the python3 of their
PATH: PYSPARK_PYTHON names another one, before the session starts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator

if TYPE_CHECKING:
    from gpufathom.ranks.dataset import Path
    from gpufathom.ranks.map import Mapped


def _mapper(dataset: str) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def map_batches(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from gpufathom.ranks.map import map_rank

        for batch in batches:
            for path in batch.column("path").to_pylist():
                row = map_rank(path, dataset).row()
                yield pa.RecordBatch.from_pydict({name: [value] for name, value in row.items()})

    return map_batches


def map_all(session: Any, paths: Iterable[Path], dataset: Path,
            slices: int | None = None) -> list[Mapped]:
    """Mapped for each capture, in the order of `paths`. A slice is what is tried again as one."""
    from gpufathom.ranks.map import Mapped

    names = [str(path) for path in paths]
    rows = session.createDataFrame([(name,) for name in names],
                                   "path string").repartition(slices or len(names), "path")
    shape = "path string, key string, ranks long, seconds double, done_before boolean, error string"
    found = {row["path"]: Mapped(**row.asDict())
             for row in rows.mapInArrow(_mapper(str(dataset)), shape).collect()}
    return [found[name] for name in names]
