/** The wording of error messages: how values and paths are written, and suggestions for misspelt names. */

/**
 * Formats a value for messages: short and on one line. It does not recurse, because deep nesting in hostile input could
 * exhaust the call stack.
 */
export function show(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") return quote(value);
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "number" || typeof value === "boolean" || value === null
    ? String(value)
    : `a ${typeof value}`;
}

/** Returns a text in quotes, escaped as in JSON and cut after 40 characters. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

/**
 * Formats a path of member names: `["trades", 3, "strike"]` → `trades[3].strike`. A name that is not an identifier is
 * quoted: `rates["a b"]`.
 */
export function formatPath(path: readonly PropertyKey[]): string {
  let text = "";
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(String(key))) text += text === "" ? String(key) : `.${String(key)}`;
    else text += `[${quote(String(key))}]`;
  }
  return text;
}

/**
 * Returns ` (did you mean "strike"?)` for the known name nearest to `name`, or an empty text if no known name is near.
 */
export function didYouMean(name: string, known: Iterable<string>): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? "" : ` (did you mean ${quote(nearest)}?)`;
}

/**
 * Returns the known name nearest to `name`, ignoring letter case. Its edit distance is at most a third of the name's
 * length, but at least 1. Among equally near names it is the first; undefined if there is none.
 */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length > 100) return undefined;
  const wanted = name.toLowerCase();
  let best = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  let nearest: string | undefined;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= best) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < best) [best, nearest] = [distance, candidate];
  }
  return nearest;
}

/**
 * The number of insertions, deletions, substitutions and swaps of neighbours that change one text into the other
 * (optimal string alignment).
 */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitute = last[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      row[j] = Math.min(substitute, last[j] + 1, row[j - 1] + 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) row[j] = Math.min(row[j], beforeLast[j - 2] + 1);
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length];
}
