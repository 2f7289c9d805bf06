// A picture as an array of colours. Rectangles go straight into it: tens of thousands a frame, exact to the pixel, whatever draws the canvas.

/** A colour of the style sheet as a canvas stores it: red in the lowest byte. */
export function packedColour(css: string): number {
  const hex = /^#([0-9a-f]{6})$/i.exec(css.trim())?.[1] ?? "888888", value = parseInt(hex, 16);
  return (0xff000000 | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}

/** `part` of one colour over another. */
export function mixed(over: number, under: number, part: number): number {
  let out = 0xff000000;
  for (let shift = 0; shift < 24; shift += 8)
    out |= Math.round(((over >> shift) & 0xff) * part + ((under >> shift) & 0xff) * (1 - part)) << shift;
  return out >>> 0;
}

export class Pixels {
  private image: ImageData;
  private colours: Uint32Array;

  constructor(public width: number, public height: number) {
    this.image = new ImageData(Math.max(width, 1), Math.max(height, 1));
    this.colours = new Uint32Array(this.image.data.buffer);
  }

  clear(colour: number): void { this.colours.fill(colour); }

  /** Fills whole pixels; what lies outside is left out. */
  rect(left: number, top: number, width: number, height: number, colour: number): void {
    const right = Math.min(left + width, this.width), bottom = Math.min(top + height, this.height);
    const from = Math.max(left, 0);
    if (from >= right) return;
    for (let y = Math.max(top, 0); y < bottom; ++y) this.colours.fill(colour, y * this.width + from, y * this.width + right);
  }

  /** Every pixel of a rectangle a part of the way to a colour. */
  tint(left: number, top: number, width: number, height: number, colour: number, part: number): void {
    const right = Math.min(left + width, this.width), bottom = Math.min(top + height, this.height);
    let before = -1, after = 0;
    for (let y = Math.max(top, 0); y < bottom; ++y)
      for (let at = y * this.width + Math.max(left, 0); at < y * this.width + right; ++at) {
        const now = this.colours[at]!;
        if (now !== before) [before, after] = [now, mixed(colour, now, part)];
        this.colours[at] = after;
      }
  }

  show(context: CanvasRenderingContext2D): void { context.putImageData(this.image, 0, 0); }
}
