/** How a book differs from the one that was loaded, field by field. */
import type { Change } from "./protocol.ts";

type Plain = Readonly<Record<string, unknown>>;

const isGroup = (value: unknown): value is Plain => typeof value === "object" && value !== null;

/** The differences of two books; trades are those of the same name. */
export function changesOf(before: Plain, after: Plain): Change[] {
  const { trades: old, ...oldHeader } = before;
  const { trades: now, ...header } = after;
  const [first, second] = [byName(old as readonly unknown[]), byName(now as readonly unknown[])];
  const parts = new Set([...Object.keys(oldHeader), ...Object.keys(header)]);
  const changes = [...parts].flatMap((part) => differences(part, "", oldHeader[part], header[part]));
  for (const [name, trade] of second)
    if (!first.has(name)) changes.push({ of: name, path: "", before: undefined, after: "new" });
    else changes.push(...differences(name, "", first.get(name), trade));
  for (const name of first.keys())
    if (!second.has(name)) changes.push({ of: name, path: "", before: "removed", after: undefined });
  return changes;
}

function byName(trades: readonly unknown[]): Map<string, unknown> {
  const names = new Map<string, unknown>();
  trades.forEach((trade, i) => {
    const id = (trade as Plain | null)?.["id"];
    const name = typeof id === "string" && id !== "" ? id : `trade ${i + 1}`;
    names.set(names.has(name) ? `${name} (${i + 1})` : name, trade);
  });
  return names;
}

function differences(of: string, path: string, before: unknown, after: unknown): Change[] {
  if (before === after) return [];
  if (!isGroup(before) || !isGroup(after) || Array.isArray(before) !== Array.isArray(after))
    return [{ of, path, before: shown(before), after: shown(after) }];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => {
    const inner = Array.isArray(before) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
    return differences(of, inner, before[key], after[key]);
  });
}

function shown(value: unknown): string | undefined {
  return value === undefined || typeof value === "string" ? value : JSON.stringify(value);
}
