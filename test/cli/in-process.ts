/** The command, run inside the test's own process, with everything it writes kept. */
import { Readable } from "node:stream";
import { main } from "../../src/cli/main.ts";
import type { Sink, Terminal } from "../../src/cli/terminal.ts";
import { type FakeEngine, fakeEngine } from "./fake-engine.ts";

export interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly engine: FakeEngine;
}

interface Surroundings {
  readonly stdin?: string | Buffer;
  readonly tty?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  readonly engine?: FakeEngine;
  readonly signal?: AbortSignal;
}

export async function feynkac(
  args: readonly string[],
  { stdin = "", tty = false, columns = 100, rows = 24, engine = fakeEngine(), signal }: Surroundings = {},
): Promise<Outcome> {
  const { terminal, stdout, stderr } = kept(stdin, tty, columns, rows);
  const status = await main(args, terminal, signal ?? new AbortController().signal, engine.open);
  return { status, stdout: stdout(), stderr: stderr(), engine };
}

/** A terminal, or the pipes in its place, that keeps what is written to it. */
export function kept(
  stdin: string | Buffer = "",
  tty = false,
  columns = 100,
  rows = 24,
): { terminal: Terminal; stdout: () => string; stderr: () => string } {
  const out = sink(tty, columns, rows);
  const err = sink(tty, columns, rows);
  const terminal: Terminal = { stdin: Readable.from([Buffer.from(stdin)]), stdout: out, stderr: err };
  return { terminal, stdout: out.text, stderr: err.text };
}

function sink(isTTY: boolean, columns: number, rows: number): Sink & { text: () => string } {
  const parts: (string | Uint8Array)[] = [];
  return {
    isTTY,
    columns,
    rows,
    write: (text) => parts.push(text) > 0,
    once: () => {},
    off: () => {},
    text: () => Buffer.concat(parts.map((part) => Buffer.from(part))).toString("utf8"),
  };
}
