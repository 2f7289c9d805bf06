// A remark. A profiler command at its end becomes a block of its own that can be copied with one press.
import { h } from "./dom.ts";

export function note(text: string, className = "note"): HTMLElement {
  const at = text.indexOf("ncu --");
  if (at < 0) return h("p", { class: className }, text);
  const command = text.slice(at), copied = h("button", { type: "button", click: async () => {
    await navigator.clipboard.writeText(command);
    copied.textContent = "Copied";
  } }, "Copy command");
  return h("div", { class: className }, h("p", {}, text.slice(0, at)), h("pre", { tabindex: 0 }, command), navigator.clipboard ? copied : null);
}
