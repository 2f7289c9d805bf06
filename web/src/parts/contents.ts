// The contents list: stays in sight, and says where the reader is.
import { h, unfold } from "./dom.ts";

export function contents(sections: HTMLElement[]): HTMLElement {
  const links = new Map(sections.map((part) => [part, h("a", { href: `#${part.id}`, click: () => unfold(part) }, part.querySelector("h2")?.textContent ?? part.id)] as const));
  const inSight = new Set<Element>();
  const watch = new IntersectionObserver((seen) => {
    for (const entry of seen) if (entry.isIntersecting) inSight.add(entry.target); else inSight.delete(entry.target);
    const first = sections.find((part) => inSight.has(part));
    for (const [part, link] of links) if (part === first) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
  }, { rootMargin: "-60px 0px -45% 0px" });
  for (const part of sections) watch.observe(part);
  return h("nav", { class: "contents", "aria-label": "Contents" }, h("ol", {}, ...[...links.values()].map((link) => h("li", {}, link))));
}
