"""Figures of an analysis: by matplotlib, or as Vega-Lite, which notebooks draw by themselves."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Tuple

from gpufathom import results
from gpufathom._capi import Error

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = Dict[str, Any]

# The page's colors on paper (web/src/style/theme.css).
_COLORS = {
    "idle": "#c4473a",
    "copy": "#8a5cc9",
    "waiting": "#2f7f93",
    "sm_inactive": "#c9741a",
    "stalled": "#a8860c",
    "other_instructions": "#3174c4",
    "tensor": "#1c8a4d",
    "unknown": "#8b94a1",
    "launch_bound": "#c4473a",
    "sync": "#b0457f",
    "memcpy": "#8a5cc9",
    "input": "#c9741a",
    "communication": "#2f7f93",
    "dependency": "#a8860c",
    "kernel_gap": "#9a8474",
    "host_other": "#d0837a",
    "start_up": "#5f7fae",
    "unexplained": "#6b7c3a",
    "other": "#8b94a1",
}
_PLAIN = "#3174c4"


def _device(device: results.DeviceUse) -> str:
    return f"GPU {device.id}, {device.name}" if device.name else f"GPU {device.id}"


def _waterfall(analysis: results.Analysis) -> List[Row]:
    rows: List[Row] = []
    for device in analysis.devices:
        begin = 0
        for bar in device.waterfall:
            if bar.ns:
                share = bar.ns / device.span_ns
                row = {"part": bar.label, "from": begin / 1e6, "to": (begin + bar.ns) / 1e6}
                rows.append({"device": _device(device), "id": bar.id, **row, "share": share})
            begin += bar.ns
    return rows


def _idle(analysis: results.Analysis) -> List[Row]:
    return [
        {
            "device": _device(device),
            "id": cause.cause,
            "part": cause.cause.replace("_", " "),
            "from": 0.0,
            "to": cause.ns / 1e6,
            "share": cause.ns / device.span_ns,
        }
        for device in analysis.devices
        for cause in sorted(device.idle, key=lambda cause: -cause.ns)
        if cause.ns
    ]


def _levels(analysis: results.Analysis) -> List[Row]:
    return [
        {"device": "", "id": level.id, "part": level.id, "from": 0.0, "to": level.value * 100}
        for level in analysis.levels
        if level.value is not None
    ]


_KINDS: Dict[str, Tuple[str, str, Callable[[results.Analysis], List[Row]]]] = {
    "waterfall": ("Time breakdown", "ms", _waterfall),
    "idle": ("Idle time by cause", "ms", _idle),
    "levels": ("Utilization by level", "% of the window", _levels),
}


def _rows(analysis: results.Analysis, kind: str) -> Tuple[str, str, List[Row]]:
    if kind not in _KINDS:
        raise ValueError(f"no figure is called {kind!r}: there are {', '.join(_KINDS)}")
    title, axis, made = _KINDS[kind]
    rows = made(analysis)
    if not rows:
        raise Error(f"the capture has no data for the figure {kind!r}")
    return title, axis, rows


class VegaLite(Dict[str, Any]):
    """A Vega-Lite specification with its data. JupyterLab and VS Code draw it without another
    package; `altair.Chart.from_dict(chart)` goes on with it."""

    def _repr_mimebundle_(self, **_: Any) -> Dict[str, Any]:
        return {"application/vnd.vegalite.v5+json": dict(self), "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"<gpufathom.figures.VegaLite {self['title']}>"


def vega_lite(analysis: results.Analysis, kind: str) -> VegaLite:
    title, axis, rows = _rows(analysis, kind)
    drawn = [{**row, "color": _COLORS.get(row["id"], _PLAIN)} for row in rows]
    names = list(dict.fromkeys(row["part"] for row in rows))
    tooltip = [{"field": "part"}, {"field": "to", "title": axis, "format": ".3f"}]
    if "share" in rows[0]:
        tooltip.append({"field": "share", "format": ".1%"})
    encoding = {
        "y": {"field": "part", "type": "nominal", "sort": names, "title": None},
        "x": {"field": "from", "type": "quantitative", "title": axis},
        "x2": {"field": "to"},
        "color": {"field": "color", "type": "nominal", "scale": None},
        "tooltip": tooltip,
    }
    if any(row["device"] for row in rows):
        encoding["row"] = {"field": "device", "type": "nominal", "title": None}
    return VegaLite(
        {
            "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
            "title": title,
            "data": {"values": drawn},
            "mark": "bar",
            "encoding": encoding,
        }
    )


def matplotlib_figure(analysis: results.Analysis, kind: str) -> Figure:
    title, axis, rows = _rows(analysis, kind)
    try:
        module = importlib.import_module("matplotlib.figure")
    except ImportError as error:
        raise Error(
            "matplotlib is not installed: pip install matplotlib; or use backend='vega', which "
            "needs no package"
        ) from error
    devices = list(dict.fromkeys(row["device"] for row in rows))
    height = 0.32 * len(rows) + 0.7 * len(devices) + 0.4
    figure: Figure = module.Figure(figsize=(8, height), layout="constrained")
    figure.suptitle(title)
    for device, axes in zip(devices, figure.subplots(len(devices), squeeze=False)[:, 0]):
        own = [row for row in rows if row["device"] == device]
        axes.barh(
            [row["part"] for row in own],
            [row["to"] - row["from"] for row in own],
            left=[row["from"] for row in own],
            color=[_COLORS.get(row["id"], _PLAIN) for row in own],
        )
        for row in own:
            if "share" in row:
                axes.annotate(f" {row['share']:.1%}", (row["to"], row["part"]), va="center")
        axes.margins(x=0.12)
        axes.set_xlim(left=0)
        axes.invert_yaxis()
        axes.set_xlabel(axis)
        axes.set_title(device, loc="left", fontsize="medium")
        axes.spines[["top", "right"]].set_visible(False)
    return figure
