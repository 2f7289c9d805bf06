// The visible span of a picture over time: wheel, pinch and buttons zoom, drag and arrow keys move, within the whole.
import { h } from "./dom.ts";

export interface View { from: number; to: number }

const NARROWEST = 200; // ns

/** `view` moved and stretched into the whole; never narrower than `least`. */
export function clampView(view: View, whole: number, least = NARROWEST): View {
  const span = Math.min(Math.max(view.to - view.from, least), whole);
  const from = Math.min(Math.max(view.from, 0), whole - span);
  return { from, to: from + span };
}

export function zoomed(view: View, at: number, factor: number, whole: number, least = NARROWEST): View {
  const by = Math.max(factor, Math.min(1, least / (view.to - view.from)));
  return clampView({ from: at - (at - view.from) * by, to: at + (view.to - at) * by }, whole, least);
}

export function moved(view: View, by: number, whole: number): View {
  return clampView({ from: view.from + by, to: view.to + by }, whole);
}

/** Buttons for what the wheel and the keys do. */
export function viewButtons(whole: number, get: () => View, set: (view: View) => void, least = NARROWEST): HTMLElement[] {
  const button = (text: string, view: () => View) => h("button", { type: "button", click: () => set(view()) }, text);
  const around = (factor: number) => () => zoomed(get(), (get().from + get().to) / 2, factor, whole, least);
  return [button("All", () => ({ from: 0, to: whole })), button("Zoom in", around(0.5)), button("Zoom out", around(2))];
}

/** Pointer events of a picture over time: `hover` of its place (null when it leaves), `press` of a click, `select` of a span drawn with Shift. */
export interface Steering {
  hover: (event: PointerEvent | null) => void;
  press: (event: PointerEvent) => void;
  select?: (view: View, done: boolean) => void;
  /** True while a plain drag selects instead of moving. */
  selecting?: () => boolean;
}

/** Connects a canvas: `get` and `set` hold the view. */
export function steer(canvas: HTMLElement, whole: number, get: () => View, set: (view: View) => void, on: Steering, least = NARROWEST): void {
  const zoom = (at: number, factor: number) => zoomed(get(), at, factor, whole, least);
  const span = () => get().to - get().from;
  const timeAt = (clientX: number) => { const r = canvas.getBoundingClientRect(); return get().from + ((clientX - r.left) / r.width) * span(); };
  const pointers = new Map<number, number>();
  let travelled = 0, anchor: number | null = null;
  const selection = (clientX: number): View => {
    const at = Math.min(Math.max(timeAt(clientX), 0), whole);
    return { from: Math.min(anchor!, at), to: Math.max(anchor!, at) };
  };
  canvas.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey || !event.shiftKey && Math.abs(event.deltaY) > Math.abs(event.deltaX) && canvas === document.activeElement) set(zoom(timeAt(event.clientX), Math.exp(event.deltaY * 0.002)));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) set(moved(get(), ((event.deltaX || event.deltaY) / canvas.clientWidth) * span(), whole));
    else return; // the page scrolls: the wheel zooms only once the timeline has the focus
    event.preventDefault();
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, event.clientX);
    travelled = 0;
    anchor = on.select && (event.shiftKey || on.selecting?.()) ? timeAt(event.clientX) : null;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const last = pointers.get(event.pointerId);
    if (last === undefined) return on.hover(event);
    const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, x]) => x);
    travelled += Math.abs(event.clientX - last);
    if (anchor !== null) on.select!(selection(event.clientX), false);
    else if (others.length > 0) set(zoom(timeAt(others[0]!), Math.abs(last - others[0]!) / Math.max(Math.abs(event.clientX - others[0]!), 1)));
    else set(moved(get(), ((last - event.clientX) / canvas.clientWidth) * span(), whole));
    pointers.set(event.pointerId, event.clientX);
  });
  const release = (event: PointerEvent) => {
    if (!pointers.delete(event.pointerId) || event.type !== "pointerup") return;
    if (travelled < 4) on.press(event);
    else if (anchor !== null) on.select!(selection(event.clientX), true);
    anchor = null;
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => on.hover(null));
  canvas.addEventListener("dblclick", (event) => set(zoom(timeAt(event.clientX), 0.4)));
  canvas.addEventListener("keydown", (event) => {
    const middle = (get().from + get().to) / 2, left = () => moved(get(), -span() / 8, whole), right = () => moved(get(), span() / 8, whole);
    const closer = () => zoom(middle, 0.7), wider = () => zoom(middle, 1 / 0.7);
    const action: Record<string, () => View> = {
      ArrowLeft: left, a: left, ArrowRight: right, d: right, "+": closer, "=": closer, w: closer, "-": wider, s: wider,
      Home: () => ({ from: 0, to: span() }), End: () => ({ from: whole - span(), to: whole }), "0": () => ({ from: 0, to: whole }),
    };
    const view = action[event.key.length === 1 ? event.key.toLowerCase() : event.key]?.();
    if (!view || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    set(clampView(view, whole, least));
  });
}
