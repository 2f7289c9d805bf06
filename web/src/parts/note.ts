// A remark. A command at its end becomes a block of its own that can be copied with one press.
import { h } from "./dom.ts";

export function note(text: string, className = "note"): HTMLElement {
  const at = text.indexOf("ncu --");
  if (at < 0) return h("p", { class: className }, text);
  return commandNote(text.slice(0, at), text.slice(at), className);
}

export function commandNote(text: string, command: string, className = "note"): HTMLElement {
  const copied = h("button", { type: "button", click: async () => {
    await navigator.clipboard.writeText(command);
    copied.textContent = "Copied";
  } }, "Copy command");
  return h("div", { class: className }, h("p", {}, text), h("pre", { tabindex: 0 }, command), navigator.clipboard ? copied : null);
}
