/** Line breaks of Markdown and of comments: prose ends at 120 characters, everything else stays as it is written. */

export const LINE_LENGTH = 120;

/** A paragraph broken at spaces; the first line begins with `first`, all others with `rest`. */
export function wrapped(text: string, first = "", rest = first, length = LINE_LENGTH): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/).filter((each) => each !== "")) {
    const start = lines.length === 0 ? first : rest;
    if (line !== "" && start.length + line.length + 1 + word.length > length) {
      lines.push(start + line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  lines.push((lines.length === 0 ? first : rest) + line);
  return lines.join("\n");
}

const LIST_ITEM = /^\s*([*-]|\d+\.) +(.*)$/;

/**
 * Text with its paragraphs and list items broken again, each line beginning with `indent`. Indented lines (equations,
 * tables of words) and tables keep their breaks.
 */
export function reflowed(text: string, indent = "", length = LINE_LENGTH): string {
  const out: string[] = [];
  let open: { readonly first: string; readonly rest: string; text: string } | undefined;
  const close = (): void => {
    if (open !== undefined) out.push(wrapped(open.text, open.first, open.rest, length));
    open = undefined;
  };
  for (const line of text.split("\n")) {
    const item = LIST_ITEM.exec(line);
    if (item !== null) {
      close();
      const [, marker = "", content = ""] = item;
      open = { first: `${indent}${marker} `, rest: indent + " ".repeat(marker.length + 1), text: content };
    } else if (line.trim() === "") {
      close();
      out.push(indent.trimEnd());
    } else if (open !== undefined) open.text += ` ${line.trim()}`;
    else if (/^( {2,}|\|)/.test(line)) out.push(indent + line);
    else open = { first: indent, rest: indent, text: line };
  }
  close();
  return out.join("\n");
}
