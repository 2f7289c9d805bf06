"""A job of thousands of ranks: `map` makes a few small tables of each rank, `reduce` gives the
job's answer.

    from gpufathom import ranks

    report = ranks.map_all(paths, "dataset")            # a process pool; Slurm, Ray and Spark: see the modules beside
    answer = ranks.reduce("dataset")                    # what `gpufathom ranks --format json` prints
    ranks.sql("dataset", ranks.QUERIES["stragglers"])   # DuckDB over the tables

The tables are Parquet, one file a rank and table, named by what they were made of: the capture's
content and the version of gpufathom. A map that runs again finds them and does nothing; one that is
killed leaves nothing that a reader would see. Which engine ran the map does not matter: the files
are the same, byte for byte.

The pool starts fresh interpreters: a script that calls map_all() does so under `if __name__ ==
"__main__":`.

Needs pyarrow; DuckDB for `sql`.
"""
from gpufathom.ranks.dataset import TABLES, digest, parts_of
from gpufathom.ranks.map import Mapped, map_all, map_rank
from gpufathom.ranks.queries import QUERIES, sql
from gpufathom.ranks.reduce import reduce

__all__ = ["Mapped", "QUERIES", "TABLES", "digest", "map_all", "map_rank", "parts_of", "reduce",
           "sql"]
