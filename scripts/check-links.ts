// Every relative link and image of a package must lead to a file, a folder or a heading of the package.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** "FILE: TARGET" for each link that leads nowhere; `root` is the package as it is installed. */
export function brokenLinks(root: string): string[] {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" });
  // What is built from the documents is checked where it is built.
  const documents = files.filter((file) => file.endsWith(".md") && !/node_modules|^build[\\/]/.test(file));
  return documents.flatMap((file) =>
    linksOf(readFileSync(join(root, file), "utf8"))
      .filter((target) => !leadsSomewhere(root, file, target))
      .map((target) => `${file}: ${target}`),
  );
}

function leadsSomewhere(root: string, file: string, target: string): boolean {
  const [, name = "", fragment] = /^([^?#]*)(?:\?[^#]*)?(?:#(.*))?$/.exec(target) ?? [];
  const path = name === "" ? join(root, file) : join(root, dirname(file), decodeURI(name));
  if (relative(root, path).startsWith("..") || !existsSync(path)) return false;
  return fragment === undefined || !path.endsWith(".md") || headingsOf(readFileSync(path, "utf8")).has(fragment);
}

const CODE = /^(```|~~~)[^]*?^\1|`[^`\n]*`/gm;
const FENCES = /^(```|~~~)[^]*?^\1/gm;
/** `[text](target "title")`, `![text](target)`; `[name]: target`; `src="target"` and `href="target"`. */
const LINKS = [/\]\(\s*<?([^)\s>]+)/g, /^\s*\[[^\]]+\]:\s*<?([^\s>]+)/gm, /\b(?:src|href)="([^"]+)"/g];

/** What a text links to; no addresses with a scheme. */
function linksOf(markdown: string): string[] {
  const text = markdown.replaceAll(CODE, "");
  const targets = LINKS.flatMap((pattern) => [...text.matchAll(pattern)].map(([, target]) => target));
  return [...new Set(targets.filter((target) => !/^([a-z][a-z+.-]*:|\/\/)/i.test(target)))];
}

/** The fragments of a document's headings, as GitHub makes them. */
function headingsOf(markdown: string): ReadonlySet<string> {
  const headings = [...markdown.replaceAll(FENCES, "").matchAll(/^#+ +(.*)$/gm)].map(([, heading]) => heading);
  return new Set(
    headings.map((text) =>
      text
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}
