/** A compiler's messages with the lines they are about. */

const MESSAGE = /^.*?\((\d+)\): ((?:catastrophic )?error\b.*)$/;

/**
 * Returns the log with the generated line under each error and the comment above it, which names the kernel's own line;
 * unchanged where no message has a line.
 */
export function quoteLog(code: string, log: string): string {
  const lines = code.split("\n");
  const quoted = log.split("\n").flatMap((line) => {
    const match = MESSAGE.exec(line);
    if (match === null) return [];
    const number = Number(match[1]);
    const origin = lines.slice(0, number).findLast((text) => text.trimStart().startsWith("// "));
    return [[`CUDA ${number}: ${match[2]}`, origin?.trim(), lines[number - 1]].filter(Boolean).join("\n  ")];
  });
  return quoted.join("\n") || log.trim();
}
