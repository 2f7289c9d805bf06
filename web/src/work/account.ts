// Account of peak x time: useful work and each loss with its owners, parts that add up to the window.
import type { AccountPart, WorkAccount, WorkUse } from "../model.ts";
import { h, section } from "../parts/dom.ts";
import { lengthOf, rate, share, time } from "../parts/format.ts";

function partRow(part: AccountPart, account: WorkAccount, before: number): HTMLElement {
  const inside = h("ul", { class: "short", hidden: true, id: `account-${account.device}-${part.id}` }, ...part.owners.slice(0, 10).map((owner) =>
    h("li", {}, h("span", {}), h("span", { class: "what", title: owner.name }, `${owner.name}${owner.phase ? `, ${owner.phase}` : ""}`), h("span", { class: "number" }, time(owner.ns)))));
  const button = h("button", { type: "button", class: "row", "aria-expanded": "false", "aria-controls": inside.id, disabled: part.owners.length === 0, click: () => {
    inside.hidden = !inside.hidden;
    button.setAttribute("aria-expanded", String(!inside.hidden));
  } }, h("span", { class: "name" }, part.label), h("span", { class: "track" }, part.ns === 0 ? null : h("span", { class: `fill account-${part.id.replaceAll("_", "-")}`, style: `left:${lengthOf(before, account.span_ns)};width:${lengthOf(part.ns, account.span_ns)}` })),
    h("span", { class: "value" }, time(part.ns)), h("span", { class: "value share" }, share(part.share)));
  return h("li", { "data-part": part.id, "data-ns": part.ns }, button, inside);
}

function accountOf(account: WorkAccount, many: boolean): HTMLElement {
  let before = 0;
  return h("div", { "data-device": account.device }, many ? h("h3", {}, `Device ${account.device} ${account.name}`) : null,
    h("dl", { class: "numbers" }, ...([["MFU", share(account.mfu)], ["HFU, recomputed work counted", share(account.hfu)], ["peak", `${rate(account.peak_flops_per_s, "FLOP/s")} ${account.peak_type}`], ["kernels divided by", account.source === "measured" ? "counters" : "shapes and names"]] as const)
      .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    h("ol", { class: "waterfall" }, ...account.parts.filter((part) => part.ns > 0).map((part) => {
      const row = partRow(part, account, before);
      before += part.ns;
      return row;
    })), account.causes.length === 0 ? null : h("ul", {}, ...account.causes.map((cause) => h("li", { class: "note" }, `${cause.text}: ${time(cause.ns)} (${share(cause.share)})`))));
}

export function accountSection(work: WorkUse | null): HTMLElement | null {
  const accounts = work?.accounts.filter((account) => account.mfu !== null && account.parts.length > 0) ?? [];
  if (accounts.length === 0) return null;
  return section("account", "Peak time breakdown", "peak × time, by part; click a part for its owners", ...accounts.map((account) => accountOf(account, accounts.length > 1)));
}
