// The page of a publication: its statements with their verdicts, its figures of the runs that judge them, and those runs.
import { filesLine, h, section } from "../parts/dom.ts";
import type { SweepReport } from "../sweep/charts.ts";
import { runsSection } from "../sweep/page.ts";
import type { Figure } from "../model.ts";
import { figureSections } from "./figures.ts";

/** In words that the program made (report/claims). */
interface SaidClaim { id: string; section: string; kind: string; verdict: string; statement: string; original: string; rules: { verdict: string; text: string; shipped: string }[]; left_out: string[]; needs: string }
export interface ClaimsReport extends Omit<SweepReport, "sweep"> { title: string; summary: string; claims: SaidClaim[]; figures: Figure[]; sweep: SweepReport["sweep"] | null }

function claimItem(claim: SaidClaim): HTMLElement {
  const notes = [`${claim.section}; original: ${claim.original}.`, ...claim.left_out, ...(claim.needs === "" ? [] : [claim.needs])];
  return h("li", { class: claim.kind, "data-claim": claim.id }, h("strong", { class: "said" }, `${claim.id} ${claim.verdict}`), h("div", {}, h("p", {}, claim.statement),
    h("ul", {}, ...claim.rules.map((rule) => h("li", {}, `${rule.verdict}: ${rule.text}`, ...(rule.shipped === "" ? [] : [h("div", { class: "note" }, `ours: ${rule.shipped}`)])))), ...notes.map((note) => h("p", { class: "note" }, note))));
}

export function claimsPage(report: ClaimsReport, tools: HTMLElement[]): { header: HTMLElement; parts: HTMLElement[] } {
  const statements = section("claims", "Statements", "each judged by all rows that have its numbers", h("ol", { class: "claims" }, ...report.claims.map(claimItem)));
  const { sweep } = report;
  return { header: h("header", { class: "top" }, h("div", { class: "bar" }, h("span", { class: "brand" }, "gpufathom"), filesLine(report.title), h("span", { class: "spring" }), ...tools),
    h("h1", {}, report.summary)), parts: [statements, ...figureSections(report.figures), ...(sweep ? [runsSection({ ...report, sweep })] : [])] };
}
