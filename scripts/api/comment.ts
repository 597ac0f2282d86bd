/** Comments of the sources, taken apart. */
import { reflowed } from "../markdown.ts";

export interface DocComment {
  /** Without the marks of the comment and without its tags. */
  readonly text: string;
  readonly parameters: readonly { readonly name: string; readonly text: string }[];
  readonly returns: string;
  readonly throws: readonly string[];
  /** TypeScript, as in the tags `@example`. */
  readonly examples: readonly string[];
  /** Whether it has the tag `@internal`. */
  readonly internal: boolean;
  /** The tag `@stable` or `@experimental`: whether a change of it needs a new major version. */
  readonly stability: "stable" | "experimental" | undefined;
}

const COMMENT = /^\/\*\*(.*?)\*\/\s*/s;

/** A declaration as it is written, and the last documentation comment before it. */
export function splitComment(text: string): { readonly comment: string; readonly code: string } {
  let code = text;
  let comment = "";
  for (;;) {
    code = code.replace(/^\s*(\/\/[^\n]*\n\s*)*/, "");
    const [found] = COMMENT.exec(code) ?? [];
    if (found === undefined) return { comment, code };
    comment = found.trimEnd();
    code = code.slice(found.length);
  }
}

/** The lines of a comment without their marks. */
const unmarked = (comment: string): string =>
  comment
    .replace(/^\s*\/\*\*[ \t]*/, "")
    .replace(/\s*\*\/\s*$/, "")
    .replaceAll(/^[ \t]*\*(?: |$)/gm, "")
    .trim();

/** Undefined where there is no text. */
export function parseComment(comment: string): DocComment | undefined {
  if (comment === "") return undefined;
  const [text = "", ...tags] = `\n${unmarked(comment)}`.split(
    /(?:^|(?<=\.|\s))(?=@(?:param|returns|throws|example|internal|stable|experimental)\b)/,
  );
  const of = (name: string): string[] =>
    tags.flatMap((tag) => (tag.startsWith(`@${name}`) ? [tag.slice(name.length + 1).replace(/^[ \t]*\n?/, "")] : []));
  return {
    text: text.trim(),
    parameters: of("param").map((written) => {
      const [, name = "", rest = ""] = /^(\w+)\s*(?:[-–—:]\s*)?(.*)$/s.exec(written) ?? [];
      return { name, text: rest.trim() };
    }),
    returns: of("returns").join(" ").trim(),
    throws: of("throws").map((each) => each.trim()),
    internal: of("internal").length > 0,
    stability: of("stable").length > 0 ? "stable" : of("experimental").length > 0 ? "experimental" : undefined,
    examples: of("example").map((each) => each.replaceAll(/^```\w*\n?/gm, "").trim()),
  };
}

/** Code whose documentation comments end at 120 characters, as short as their text allows. */
export const reflowedComments = (code: string): string =>
  code.replaceAll(/^([ \t]*)(\/\*\*.*?\*\/)/gms, (_, indent: string, comment: string) => {
    const text = unmarked(comment).replaceAll(/\s+(?=@(throws|returns|param)\b)/g, "\n\n");
    const single = `${indent}/** ${text} */`;
    if (!text.includes("\n") && single.length <= 120) return single;
    const joined = reflowed(text, `${indent} * `);
    const line = `${indent}/** ${joined.trim().slice(2)} */`;
    return !joined.includes("\n") && line.length <= 120 ? line : `${indent}/**\n${joined}\n${indent} */`;
  });
