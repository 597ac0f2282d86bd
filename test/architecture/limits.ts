/** Counts by text: what these find is declared in one way all over the sources. */

/** Where a list of positional parameters starts, and how many it has; those of users' functions have any length. */
export function positionalParameters(text: string): readonly { readonly line: number; readonly count: number }[] {
  return [...text.matchAll(/\bparams: \[/g)].map((match) => ({
    line: text.slice(0, match.index).split("\n").length,
    count: entriesFrom(text, match.index + match[0].length).filter((entry) => !entry.startsWith("...")).length,
  }));
}

/** The entries of the list that starts at `from`. */
function entriesFrom(text: string, from: number): readonly string[] {
  const entries: string[] = [];
  let [depth, start] = [0, from];
  for (let i = from; i < text.length; i++) {
    if ("([{<".includes(text[i])) depth++;
    const ends = depth === 0 && text[i] === "]";
    if (ends || (depth === 0 && text[i] === ",")) {
      entries.push(text.slice(start, i).trim());
      start = i + 1;
    }
    if (ends) break;
    if (")]}>".includes(text[i])) depth--;
  }
  return entries.filter((entry) => entry !== "");
}

/** Lines that give a kernel, a function of one, or the environment of its body the type `any`. */
export function typesOfAny(text: string): readonly number[] {
  return text.split("\n").flatMap((line, k) => {
    if (/^\s*(\/\/|\/?\*)/.test(line)) return [];
    const isKernels = /\b(KernelFunction|FunctionOf|FunctionSpec|Kernel)<[^;]*\bany\b/.test(line);
    return isKernels || /\benv\w*\s*: any\b|\bbody\(.*: any[,)]/.test(line) ? [k + 1] : [];
  });
}

/** Lines that are comments, or end with one. */
export function commentLines(text: string): readonly { readonly line: number; readonly text: string }[] {
  return text.split("\n").flatMap((line, k) => {
    const isComment = /^\s*(\/\/|\/\*|\*)/.test(line) || /^[^"'`]*[^:"'`]\/\/ /.test(line);
    return isComment ? [{ line: k + 1, text: line }] : [];
  });
}
