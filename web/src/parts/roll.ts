// Equal blocks of a model as one: module paths that differ in numbers only.

const NUMBER = /(?<=^|[._])\d+(?=$|[._])/g;

/** The common path of equal blocks; a text that is no module path stands for itself. */
export function rolled(path: string): string { return /^[\w.]+$/.test(path) && path.includes(".") ? path.replace(NUMBER, "*") : path; }

/** The path of several: a number that differs becomes a star. */
export function commonPath(paths: string[]): string {
  const numbers = paths.map((path) => path.match(NUMBER) ?? []);
  let place = 0;
  return paths[0]!.replace(NUMBER, (number) => {
    const at = place++;
    return numbers.every((each) => each[at] === number) ? number : "*";
  });
}

/** True if a path is one of those that a path with stars stands for. */
export function fits(path: string, stars: string): boolean {
  if (!stars.includes("*")) return path === stars;
  const pattern = stars.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("\\d+");
  return new RegExp(`^${pattern}$`).test(path);
}

/** The place of the last letters that tell names apart. */
export const TAIL = 16;
