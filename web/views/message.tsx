/** What the engine says, for people: one sentence, with the rest folded, and fields in words instead of addresses. */
import type { VNode } from "preact";
import { titleOf } from "../form/schema.ts";

/** A sentence is cut after so many characters, at a word. */
const LONGEST = 150;

export interface MessageProps {
  readonly text: string;
  readonly className?: string;
}

export function Message({ text, className = "message" }: MessageProps): VNode {
  const [sentence, rest] = parted(inWords(text));
  if (rest === "") return <p class={className}>{sentence}</p>;
  return (
    <details class={className}>
      <summary>{sentence}</summary>
      <p>{rest}</p>
    </details>
  );
}

/** The first sentence of a message, and what comes after it. */
export function parted(text: string): readonly [string, string] {
  const end = /[.;](?=\s)|\n/.exec(text)?.index ?? text.length;
  if (end <= LONGEST) return [text.slice(0, end), text.slice(end).replace(/^[.;\s]+/, "")];
  const cut = text.lastIndexOf(" ", LONGEST);
  return [`${text.slice(0, cut)} …`, text.slice(cut + 1)];
}

const ADDRESS = /\b(?:trades\[\d+\]\.?|market\.)((?:[A-Za-z_]\w*|\[\d+\]|\.)*)/g;

/** "Barriers 1, Level" for `trades[3].barriers[0].level`: the trade is known where this is shown. */
export function inWords(text: string): string {
  const spoken = text.replaceAll(ADDRESS, (_, path: string) =>
    (path.match(/[A-Za-z_]\w*|\[\d+\]/g) ?? [])
      .map((part) => (part.startsWith("[") ? ` ${Number(part.slice(1, -1)) + 1}` : `, ${titleOf(part)}`))
      .join("")
      .replace(/^[, ]+/, ""),
  );
  return spoken.replace(/^: /, "");
}
