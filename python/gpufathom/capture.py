"""Captures in Python: tables without copies, and what an analysis says as typed results."""

from __future__ import annotations

import functools
import html
import importlib
import json
import os
import types
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterable,
    Iterator,
    List,
    Literal,
    Mapping,
    Sequence,
    Tuple,
    Union,
    overload,
)

from gpufathom import _capi, _columns, _decode, _program, figures, results
from gpufathom.finding import Finding

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from matplotlib.figure import Figure

Path = Union[str, "os.PathLike[str]"]


class Table:
    """A table of a capture, as columns of Apache Arrow. Numbers stay where the library has them;
    texts are dictionaries; what is not known is null. Times are nanoseconds.

        len(run.kernels), run.kernels.columns
        run.kernels["duration_ns"]                 a column as a list
        run.kernels[0], run.kernels[:10]           a row as a dict, some as a list of them

    pyarrow, pandas, polars and DuckDB read it without a copy, by `__arrow_c_stream__`:
    `polars.DataFrame(table)`.
    """

    def __init__(self, name: str, stream: Any, shape: Any) -> None:
        self.name = name
        self._stream = stream
        self._shape_of = shape

    @functools.cached_property
    def _shape(self) -> Tuple[int, List[str]]:
        rows, columns = self._shape_of()
        return rows, columns

    @functools.cached_property
    def _rows(self) -> _columns.Columns:
        return _columns.Columns(self._stream())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The Arrow PyCapsule interface; a request for another schema is not served, as it
        allows."""
        return _capi.capsule(self._stream())

    def to_arrow(self) -> pyarrow.Table:
        """As a pyarrow.Table over the same memory."""
        return _wanted("pyarrow", "arrow").table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """As a pandas.DataFrame; columns without nulls are views of the same memory."""
        _wanted("pandas", "pandas")
        frame: pandas.DataFrame = self.to_arrow().to_pandas(split_blocks=True, self_destruct=False)
        return frame

    def to_polars(self) -> polars.DataFrame:
        """As a polars.DataFrame over the same memory; texts are categories."""
        return _wanted("polars", "polars").DataFrame(self)

    def to_dicts(self) -> List[Dict[str, Any]]:
        """Every row as a dict."""
        return self[:]

    @property
    def columns(self) -> List[str]:
        return list(self._shape[1])

    def __len__(self) -> int:
        return self._shape[0]

    @overload
    def __getitem__(self, which: str) -> List[Any]: ...
    @overload
    def __getitem__(self, which: int) -> Dict[str, Any]: ...
    @overload
    def __getitem__(self, which: slice) -> List[Dict[str, Any]]: ...
    def __getitem__(self, which: str | int | slice) -> Any:
        rows = range(len(self))
        if isinstance(which, str):
            if which not in self.columns:
                raise KeyError(f"{self.name} has no column {which}: {', '.join(self.columns)}")
            return self._rows.values(which, rows)
        if isinstance(which, int):
            row = rows[which]
            return self[row : row + 1][0]
        columns = [self._rows.values(name, rows[which]) for name in self.columns]
        return [dict(zip(self.columns, values)) for values in zip(*columns)]

    def __repr__(self) -> str:
        names = self.columns
        some = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
        return f"<gpufathom.Table {self.name}: {len(self)} rows of {len(names)} columns ({some})>"

    def _repr_html_(self) -> str:
        return _decode.table(
            self.columns, (row.values() for row in self[:20]), f"{len(self)} rows"
        )


def _wanted(package: str, extra: str) -> Any:
    """A package that only this needs."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise _capi.Error(
            f"{package} is not installed: pip install {package}, or the wheel with [{extra}]"
        ) from error


def framed(page: str) -> str:
    """A page in a frame of its own that reaches nothing outside it, for notebooks."""
    return (
        '<iframe sandbox="allow-scripts" style="width:100%;height:720px;border:1px solid #8884" '
        f'title="gpufathom" srcdoc="{html.escape(page, quote=True)}"></iframe>'
    )


class Capture:
    """Everything known about one run. `gpufathom.open` makes it.

    Tables are attributes: `kernels` (with operator, module, layer, phase, exclusive time and the
    idle time before each), `ops`
    (host_ops), `steps`, `api_calls`, `activities`, `counter_samples` and the others of
    docs/capture.md; `tables` names them. `missing` says what it lacks, where `allow_incomplete`
    lets incomplete captures pass.
    """

    # Tables by name, for type checkers and completion: __getattr__ makes them.
    kernels: Table
    ops: Table
    threads: Table
    program_ops: Table
    host_ops: Table
    api_calls: Table
    activities: Table
    collectives: Table
    device_annotations: Table
    syncs: Table
    flows: Table
    handoffs: Table
    memory_events: Table
    counter_samples: Table
    report_kernels: Table
    kernel_counters: Table
    kernel_rules: Table
    steps: Table
    recording_windows: Table
    metadata: Table
    quality: Table

    def __init__(
        self,
        path: Path,
        *,
        counters: Path | None = None,
        power: Path | None = None,
        graphs: Sequence[Path] = (),
        window: str | None = None,
        batch: int = 0,
        energy_model: Path | None = None,
        devices: str | None = None,
        allow_incomplete: bool = False,
    ) -> None:
        self.path = os.fspath(path)
        self._tables: Dict[str, Table] = {}
        self.window = window
        self.batch = batch
        self.devices = devices
        self._energy_model = None if energy_model is None else os.fspath(energy_model)
        self._graphs = [os.fspath(graph) for graph in graphs]
        self._handle = _capi.Handle(
            self.path,
            None if counters is None else os.fspath(counters),
            None if power is None else os.fspath(power),
            self._graphs,
        )
        self.allow_incomplete = allow_incomplete
        self.missing = self._refuse(self._handle.missing())

    def _refuse(self, told: str) -> List[_capi.Missing]:
        """Sentences of what is not there, as rows; raises where nobody allowed that."""
        missing = _capi.Missing.told(told, self.path)
        if missing and not self.allow_incomplete:
            raise _capi.IncompleteEvidence(missing)
        return missing

    def _report(self, form: int) -> str:
        answer, missing = self._handle.report(
            self.window, self.batch, self._energy_model, self.devices, form
        )
        found = self._refuse(missing)
        self.missing.extend(row for row in found if row not in self.missing)
        return answer

    @property
    def tables(self) -> List[str]:
        return ["kernels", *_capi.table_names()]

    def table(self, name: str) -> Table:
        """The table of that name; what was read of it once stays at hand."""
        name = {"ops": "host_ops"}.get(name, name)
        if name in self._tables:
            return self._tables[name]
        if name not in self.tables:
            raise KeyError(f"no table is called {name}: there are {', '.join(self.tables)}")
        handle, window = self._handle, self.window
        made = functools.partial(handle.table, name)
        if name == "kernels":
            made = functools.partial(handle.kernels, window)
        table = Table(name, made, functools.partial(handle.shape, name))
        self._tables[name] = table
        return table

    def __getattr__(self, name: str) -> Table:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self.table(name)
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __dir__(self) -> Iterator[str]:
        return iter([*super().__dir__(), "ops", *self.tables])

    def query(self, sql: str) -> List[Dict[str, Any]]:
        """Rows of one SELECT over the tables of docs/capture.md, as `gpufathom query` answers it;
        of the file alone, without `counters` and `power`."""
        words = ["query", self.path, sql, *self._chosen()]
        answer = _program.answer(*words, allow_incomplete=self.allow_incomplete)
        return [dict(zip(answer["columns"], row)) for row in answer["rows"]]

    def critical_path(self) -> Dict[str, Any]:
        """The critical path of a step, as `gpufathom path` answers it (docs/critical-path.md)."""
        words = ["path", self.path, *self._chosen()]
        answer: Dict[str, Any] = _program.answer(*words, allow_incomplete=self.allow_incomplete)
        return answer

    def _chosen(self) -> List[str]:
        """The options of a verb that ask of the same as this."""
        words = [word for graph in self._graphs for word in ("--graphs", graph)]
        if self.window is not None:
            words += ["--window", self.window]
        if self.devices is not None:
            words += ["--devices", self.devices]
        return words

    def what_if(
        self,
        without: Sequence[str] = (),
        graph: bool = False,
        kernels: Mapping[str, float] = types.MappingProxyType({}),
        mended: Sequence[str] = (),
        **factors: Union[float, str],
    ) -> Dict[str, Any]:
        """The program run again with something changed, as `gpufathom whatif` answers it
        (docs/whatif.md); nothing changed: the usual changes. `kernels`: part of a name, times as
        fast; `mended`: as --with names it; `factors`: gpu (or its name), host, link, batch."""
        words = ["whatif", self.path, *self._chosen()]
        for what in without:
            words += ["--without", what]
        for what in mended:
            words += ["--with", what]
        for name, factor in kernels.items():
            words += ["--kernel", f"{name}={factor}"]
        for name, given in factors.items():
            words += [f"--{name}", str(given)]
        if graph:
            words.append("--graph")
        answer: Dict[str, Any] = _program.answer(*words, allow_incomplete=self.allow_incomplete)
        return answer

    @functools.cached_property
    def analysis(self) -> results.Analysis:
        """The whole answer of `gpufathom analyze`, with the JSON's names and units."""
        return results.Analysis.from_dict(json.loads(self._report(_capi.JSON)))

    def levels(self) -> List[results.Level]:
        """The ladder over all devices, shares of the window from 0 to 1; None is no data."""
        return self.analysis.levels

    def idle(self) -> List[results.IdleCause]:
        """Idle time by cause in nanoseconds, of all devices one after the other."""
        return _decode.Rows(cause for device in self.analysis.devices for cause in device.idle)

    def layers(self) -> List[results.LayerRow]:
        """Kernel time by layer, in nanoseconds of exclusive time."""
        return self.analysis.layers

    def findings(self) -> List[Finding]:
        """Recommendations with their evidence, an upper bound on the gain in nanoseconds, and, by
        `show()`, the events behind each."""
        gain_of = "a step" if self.analysis.window.all_steps else "the run"
        return _decode.Rows(
            Finding.of(each, self.query, gain_of) for each in self.analysis.findings
        )

    def energy(self) -> results.EnergyUse:
        """Energy breakdown, in nanojoules with the bounds of 95 %; `why_missing` says why
        there are none."""
        return self.analysis.energy

    @functools.cached_property
    def _page(self) -> str:
        return self._report(_capi.PAGE)

    def page(self) -> str:
        """The result as one HTML page that works offline."""
        return self._page

    @overload
    def figure(self, kind: str = ..., backend: Literal["matplotlib"] = ...) -> Figure: ...
    @overload
    def figure(self, kind: str, backend: Literal["vega"]) -> figures.VegaLite: ...
    def figure(self, kind: str = "waterfall", backend: str = "matplotlib") -> Any:
        """A figure of the analysis. kind: waterfall, idle or levels. backend: matplotlib, or vega
        for a Vega-Lite specification, which needs no package."""
        if backend not in ("matplotlib", "vega"):
            raise ValueError(f"no backend is called {backend!r}: there are matplotlib and vega")
        draw = figures.vega_lite if backend == "vega" else figures.matplotlib_figure
        return draw(self.analysis, kind)

    def _repr_html_(self) -> str:
        """In a notebook: the page."""
        return framed(self.page())

    def __repr__(self) -> str:
        return f"<gpufathom.Capture {self.path}>"
