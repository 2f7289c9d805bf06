"""The map as Ray tasks: Ray retries a task whose worker dies.

    import ray; ray.init()
    from gpufathom.ranks import on_ray
    report = on_ray.map_all(paths, "/shared/dataset")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable

if TYPE_CHECKING:
    from gpufathom.ranks.dataset import Path
    from gpufathom.ranks.map import Mapped


def map_all(paths: Iterable[Path], dataset: Path, retries: int = 3) -> list[Mapped]:
    """Mapped for each capture, in the order of `paths`; one that a worker could not finish is
    listed with its error."""
    import ray

    from gpufathom.ranks.map import Mapped, map_rank

    task = ray.remote(num_cpus=1, max_retries=retries)(map_rank)
    waiting = [(str(path), task.remote(str(path), str(dataset))) for path in paths]
    report = []
    for path, reference in waiting:
        try:
            report.append(ray.get(reference))
        except ray.exceptions.RayError as error:
            report.append(Mapped(path, error=f"{path}: {str(error).splitlines()[0]}"))
    return report
