// Every relative link and image of a package's own Markdown files must lead to a file or folder of the package.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** "FILE: TARGET" for each link that leads nowhere; `root` is the package as it is installed. */
export function brokenLinks(root) {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" });
  const documents = files.filter((file) => file.endsWith(".md") && !file.includes("node_modules"));
  return documents.flatMap((file) =>
    relativeLinks(readFileSync(join(root, file), "utf8"))
      .filter((target) => !isInside(root, join(root, dirname(file), target)))
      .map((target) => `${file}: ${target}`),
  );
}

const isInside = (root, path) => !relative(root, path).startsWith("..") && existsSync(path);

const CODE = /^(```|~~~)[^]*?^\1|`[^`\n]*`/gm;
/** `[text](target "title")`, `![text](target)`; `[name]: target`; `src="target"` and `href="target"`. */
const LINKS = [/\]\(\s*<?([^)\s>]+)/g, /^\s*\[[^\]]+\]:\s*<?([^\s>]+)/gm, /\b(?:src|href)="([^"]+)"/g];

/** What a text links to, without fragments; neither addresses with a scheme nor places in the text itself. */
function relativeLinks(markdown) {
  const text = markdown.replaceAll(CODE, "");
  const targets = LINKS.flatMap((pattern) => [...text.matchAll(pattern)].map(([, target]) => target));
  const relativeOnes = targets.filter((target) => !/^([a-z][a-z+.-]*:|\/\/|#)/i.test(target));
  return [...new Set(relativeOnes.map((target) => decodeURI(target.replace(/[?#].*$/, ""))))];
}
