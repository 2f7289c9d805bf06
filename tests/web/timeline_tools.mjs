// Helpers for tests that look at the timeline's pixels.

export const painted = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))));

/** Waits until `is` gives true in the page: a busy machine takes its time. */
export async function until(page, is, argument) {
  for (const begin = Date.now(); !(await page.evaluate(is, argument)); await painted(page)) if (Date.now() - begin > 60_000) throw new Error(`never so: ${is} ${argument ?? ""}`);
}

/** The span in view, in ns from the timeline's start. */
export const viewOf = (page) => page.locator("#timeline canvas.events").evaluate((c) => ({ from: Number(c.dataset.from), to: Number(c.dataset.to) }));

/** Shows a span through the address, as a link would. */
export async function show(page, from, to, more = "") {
  await page.evaluate((hash) => new Promise((done) => {
    addEventListener("hashchange", done, { once: true });  // the page's own was added before and comes first
    if (location.hash === hash) done();
    else location.hash = hash;
  }).then(() => true), `#view=${Math.round(from)}-${Math.round(to)}${more}`);
  await painted(page);
}

/** The place of a band's rows in the picture, after scrolling there. */
export async function bandAt(page, title, group = "") {
  return page.evaluate(([title, group]) => {
    let last = "";
    const labels = [...document.querySelectorAll("#timeline .labels > *")];
    for (const [i, label] of labels.entries()) {
      const text = label.textContent.replace(/^[\u25b8\u25be]/, "");
      if (label.classList.contains("group")) last = text;
      else if (text.startsWith(title) && last.startsWith(group)) {
        const top = parseFloat(label.style.top), next = labels[i + 1] ? parseFloat(labels[i + 1].style.top) : document.querySelector("#timeline .inner").clientHeight;
        return { top: top + 18, bottom: next - 4 };
      }
    }
    return null;
  }, [title, group]);
}

/** The colours of the picture, as #rrggbb by row of pixels: only those of `rows`, heights on the
 * whole picture. */
export async function pixelRows(page, heights) {
  const scrolled = await page.evaluate((to) => { const s = document.querySelector("#timeline .scroller"); s.scrollTop = to; return s.scrollTop; }, Math.max(0, heights[0] - 60));
  await painted(page);
  return page.evaluate(([heights, scrolled]) => {
    const canvas = document.querySelector("#timeline canvas.events"), context = canvas.getContext("2d");
    return heights.map((height) => {
      const data = context.getImageData(0, Math.round(height - scrolled), canvas.width, 1).data, row = [];
      for (let i = 0; i < data.length; i += 4) row.push(`#${[data[i], data[i + 1], data[i + 2]].map((v) => v.toString(16).padStart(2, "0")).join("")}`);
      return row;
    });
  }, [heights, scrolled]);
}

export const colourOf = (page, variable) => page.evaluate((name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim(), variable);
