// The page: reads its own data and builds the sections in reading order. A new section is one file and one line here.
import { readReport, unpacked, type Report } from "./page_data.ts";
import { contents } from "./parts/contents.ts";
import { fold, h, NARROW } from "./parts/dom.ts";
import { startTips } from "./parts/tips.ts";
import { comparePage, type CompareReport } from "./compare/page.ts";
import { ranksPage, type RanksReport } from "./ranks/page.ts";
import { samplesSection } from "./samples/section.ts";
import { curveSection } from "./sections/curve.ts";
import { energySection } from "./sections/energy.ts";
import { energyHeadline } from "./sections/energy_headline.ts";
import { findingsSection } from "./sections/findings.ts";
import { flameSection } from "./sections/flame.ts";
import { headerPart, themeButton } from "./sections/header.ts";
import { idleSection } from "./sections/idle.ts";
import { kernelsSection } from "./sections/kernels.ts";
import { ladderSection } from "./sections/ladder.ts";
import { layersSection } from "./sections/layers.ts";
import { readingsSection } from "./sections/readings.ts";
import { runtimeSection } from "./sections/runtime.ts";
import { servingSection } from "./sections/serving.ts";
import { definitionsSection, matchSection, qualitySection } from "./sections/trust.ts";
import { waterfallSection } from "./sections/waterfall.ts";
import { accountSection } from "./work/account.ts";
import { memorySection } from "./work/memory.ts";
import { rooflineSection } from "./work/roofline.ts";
import { sequencesSection } from "./work/sequences.ts";
import { shapesSection } from "./work/shapes.ts";
import { Timeline } from "./timeline/events.ts";
import { timelineSection } from "./timeline/section.ts";
import { claimsPage, type ClaimsReport } from "./claims/page.ts";
import { sweepPage } from "./sweep/page.ts";
import type { SweepReport } from "./sweep/charts.ts";

type Part = HTMLElement | null;

/** Two sections beside each other where there is room. */
function pair(className: string, ...parts: Part[]): HTMLElement { return h("div", { class: `pair ${className}` }, ...parts); }

/** The answer first, then where it comes from, then what it stands on. */
function analysisPage(report: Report): Part[] {
  const types = new Map(report.analysis.kernels.map((kernel) => [kernel.operator, kernel.layer_type])), typeOf = (operator: string): string => types.get(operator) ?? "";
  return [pair("answer", waterfallSection(report), findingsSection(report), ladderSection(report)), servingSection(report), samplesSection(report), timelineSection(report), idleSection(report), flameSection(report),
    layersSection(report), kernelsSection(report), shapesSection(report.work), sequencesSection(report.work), accountSection(report.work), rooflineSection(report.work, typeOf), memorySection(report.work), runtimeSection(report), energySection(report), readingsSection(report), pair("", curveSection(report), matchSection(report)),
    qualitySection(report), definitionsSection(report)];
}

/** Joules first; the time they were spent in after them. */
function energyPage(report: Report): Part[] {
  return [energySection(report), timelineSection(report), waterfallSection(report), ladderSection(report), samplesSection(report), findingsSection(report), flameSection(report), layersSection(report), kernelsSection(report),
    readingsSection(report), matchSection(report), qualitySection(report), definitionsSection(report)];
}

function build(report: Report): HTMLElement[] {
  if (report.page === "compare") {
    const compared = comparePage(report as unknown as CompareReport, [themeButton()]);
    return laidOut(compared.header, compared.parts, report.version, (report as unknown as CompareReport).comparison.schema);
  }
  if (report.page === "ranks") {
    const job = report as unknown as RanksReport, page = ranksPage(job, [themeButton()]);
    return laidOut(page.header, page.parts, report.version, job.job.schema);
  }
  if (report.page === "sweep") {
    const swept = report as unknown as SweepReport, page = sweepPage(swept, [themeButton()]);
    return laidOut(page.header, page.parts, report.version, swept.sweep.schema);
  }
  if (report.page === "claims") {
    const judged = report as unknown as ClaimsReport, page = claimsPage(judged, [themeButton()]);
    return laidOut(page.header, page.parts, report.version, "gpufathom.reproduction/1");
  }
  if (report.page === "energy") report.headline = energyHeadline(report);
  const header = headerPart(report);
  return laidOut(header, report.page === "energy" ? energyPage(report) : analysisPage(report), report.version, report.analysis.schema);
}

function laidOut(header: HTMLElement, all: Part[], version: string, schema: string): HTMLElement[] {
  const parts = all.filter((part): part is HTMLElement => part !== null && (!part.classList.contains("pair") || part.childElementCount > 0));
  const sections = parts.flatMap((part) => (part.classList.contains("pair") ? [...part.children] as HTMLElement[] : [part]));
  return [header, h("div", { class: "desk" }, contents(sections), h("main", {}, ...parts, h("footer", {}, `gpufathom ${version} \u00b7 ${schema}`)))];
}

const frame = (): Promise<unknown> => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));

/** The events stand behind this script: the page is drawn before they are read. */
async function readTimeline(): Promise<Timeline | null> {
  if (document.readyState === "loading") await new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true }));
  const text = document.getElementById("events")?.textContent ?? "";
  if (text.trim() === "") return null;
  await frame();
  return new Timeline(await unpacked(text));
}

/** A phone shows the answer and the timeline, and the headings of what is below. */
function foldBelowTimeline(): void {
  const sections = [...document.querySelectorAll("main section")], timeline = sections.findIndex((part) => part.id === "timeline");
  if (!matchMedia(NARROW).matches || timeline < 0) return;
  for (const part of sections.slice(timeline + 1)) if (`#${part.id}` !== location.hash) fold(part, true);
}

async function start(): Promise<void> {
  const page = document.getElementById("page")!;
  try {
    const report = await readReport(document.getElementById("data")!.textContent ?? "");
    report.timeline = readTimeline();
    document.title = `${["claims", "compare", "ranks", "sweep"].includes(report.page) ? report.page : report.analysis.source.path.split("/").pop()} \u00b7 gpufathom`;
    page.append(...build(report));
    startTips();
    await report.timeline;
    await frame();
    foldBelowTimeline();
    document.body.dataset["ready"] = "yes";
  } catch (error) {
    page.append(h("p", { class: "failure" }, `This report cannot be shown: ${error instanceof Error ? error.message : String(error)}`));
    throw error;
  }
}

void start();
