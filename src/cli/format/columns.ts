/** A column of a table that is printed as text. */
export interface TextColumn {
  readonly title: string;
  readonly align: "left" | "right";
}

/**
 * Formats rows of cells as lines. Each column is as wide as its widest cell and at least `widths[i]`. Cells of
 * left-aligned columns with more than `max` characters are cut, and end in an ellipsis.
 */
export function alignColumns(
  columns: readonly TextColumn[],
  rows: readonly (readonly string[])[],
  widths: readonly number[],
  max = 40,
): string[] {
  const cut = (text: string): string => (text.length > max ? `${text.slice(0, max - 1)}…` : text);
  return rows.map((row) =>
    row
      .map((cell, i) => (columns[i].align === "left" ? cut(cell).padEnd(widths[i]) : cell.padStart(widths[i])))
      .join("  ")
      .trimEnd(),
  );
}

/**
 * Returns the width of each column of a table in characters: that of its title or widest cell, where a cell counts at
 * most `max` characters.
 */
export function columnWidthsOf(
  columns: readonly TextColumn[],
  rows: readonly (readonly string[])[],
  max = 40,
): number[] {
  return columns.map(({ title }, i) =>
    rows.reduce((width, row) => Math.max(width, Math.min(row[i].length, max)), title.length),
  );
}

/**
 * Returns the titles of the columns that must be omitted so that the others fit into `lineWidth` characters.
 * `dispensable` lists the titles that may be omitted, the first ones first.
 */
export function columnsToOmit(
  columns: readonly TextColumn[],
  widths: readonly number[],
  lineWidth: number,
  dispensable: readonly string[],
): Set<string> {
  const hidden = new Set<string>();
  const width = (): number => columns.reduce((sum, { title }, i) => sum + (hidden.has(title) ? 0 : widths[i] + 2), -2);
  for (const title of dispensable) if (width() > lineWidth) hidden.add(title);
  return hidden;
}

/** Formats the rows of a table as lines of text, without the columns whose titles are in `hidden`. */
export function visibleLines(
  columns: readonly TextColumn[],
  rows: readonly (readonly string[])[],
  widths: readonly number[],
  hidden: ReadonlySet<string>,
): string {
  const visible = <T>(cells: readonly T[]): T[] => cells.filter((_, i) => !hidden.has(columns[i].title));
  const text = alignColumns(
    visible(columns),
    rows.map((row) => visible(row)),
    visible(widths),
  );
  return `${text.join("\n")}\n`;
}

/** Escapes control characters, because names from a file must not send commands to a terminal. */
export function escapeControls(text: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, "�");
}
