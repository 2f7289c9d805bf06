// A canvas as sharp as the screen, painted again whenever what it depends on changes.

/** Sizes the picture to the canvas on the page and gives its context in page pixels; null while it is not shown. */
export function fitted(canvas: HTMLCanvasElement, height: number): CanvasRenderingContext2D | null {
  const ratio = devicePixelRatio || 1, width = canvas.clientWidth;
  if (width === 0) return null;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d")!;
  context.scale(ratio, ratio);
  return context;
}

/** Calls `paint` for size, theme and screen, and at most once a frame for each call of the function it returns. */
export function repainter(element: Element, paint: () => void): () => void {
  let queued = false;
  const repaint = (): void => {
    if (queued) return;
    queued = true;
    requestAnimationFrame(() => { queued = false; paint(); });
  };
  new ResizeObserver(repaint).observe(element);
  for (const name of ["themechange", "resize"]) addEventListener(name, repaint);
  addEventListener("beforeprint", paint);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  return repaint;
}
