/** A server of the Model Context Protocol on standard input and output, by its optional package. */
import type { Readable, Writable } from "node:stream";
import { FeynkacError } from "../../base/errors.ts";
import { packageVersion } from "../../output/formats/index.ts";
import type { EngineOptions } from "../choose-backend.ts";
import type { Engine, OpenEngine } from "../engine.ts";
import { CliError, EXIT_STATUS } from "../failure.ts";
import type { Terminal } from "../terminal.ts";
import { type Tool, TOOLS } from "./tools.ts";

/** What is used of a call by the protocol. */
interface CallContext {
  readonly mcpReq: {
    readonly signal: AbortSignal;
    readonly _meta?: { readonly progressToken?: string | number };
    readonly notify: (notification: object) => Promise<void>;
  };
}

interface Answer {
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  readonly isError?: boolean;
}

/** What is used of the package. */
interface Protocol {
  readonly McpServer: new (
    about: object,
    options: object,
  ) => {
    registerTool(name: string, config: object, run: (args: unknown, context: CallContext) => Promise<Answer>): unknown;
  };
}
interface Stdio {
  readonly StdioServerTransport: new (stdin: Readable, stdout: Writable, options: { maxBufferSize: number }) => object;
  readonly serveStdio: (
    makeServer: () => object,
    options: { readonly transport: object; readonly onerror: (error: Error) => void },
  ) => { close(): Promise<void> };
}

/** The package, as a name that the compiler does not look for: it is optional. */
const PACKAGE: string = "@modelcontextprotocol/server";

async function load(): Promise<Protocol & Stdio> {
  try {
    const [server, stdio] = await Promise.all([import(PACKAGE), import(`${PACKAGE}/stdio`)]);
    return { ...(server as Protocol), ...(stdio as Stdio) };
  } catch (cause) {
    throw new CliError(`assistants are served by an optional package: npm install ${PACKAGE}`, { cause });
  }
}

const INSTRUCTIONS =
  "Feynkac prices books of derivatives and computes their risk. A book is a JSON object with asOf, market, trades. " +
  "Ask the tool schema for the parts that you need before you write one. Times are ISO dates, tenors (1Y) or years.";

/** The most bytes of a message: a book of ten thousand trades has a tenth. */
const MAX_MESSAGE = 64 << 20;

/**
 * Runs `feynkac mcp`, which answers an assistant until standard input ends. @returns the exit status @throws CliError
 * for a missing package
 */
export async function serveAssistant(
  options: EngineOptions,
  terminal: Terminal,
  signal: AbortSignal,
  openEngine: OpenEngine,
): Promise<number> {
  const { McpServer, StdioServerTransport, serveStdio } = await load();
  const { stdin, stdout, stderr } = terminal;
  let opened: Promise<Engine> | undefined;
  const engine = (): Promise<Engine> => (opened ??= openEngine(options));
  const log = (line: string): void => void stderr.write(`feynkac mcp: ${line}\n`);
  const makeServer = (): object => {
    const about = { name: "feynkac", title: "Feynkac", version: packageVersion() };
    const server = new McpServer(about, { capabilities: { tools: {} }, instructions: INSTRUCTIONS });
    for (const tool of TOOLS)
      server.registerTool(tool.name, configOf(tool), (args, context) => answer(tool, args, context, { engine, log }));
    return server;
  };
  const ended = new Promise<void>((resolve) => {
    for (const event of ["end", "close"]) stdin.once(event, resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  const transport = new StdioServerTransport(stdin as Readable, stdout as Writable, { maxBufferSize: MAX_MESSAGE });
  const handle = serveStdio(makeServer, { transport, onerror: ({ message }) => log(message) });
  await ended;
  await handle.close();
  await (await opened?.catch(() => undefined))?.[Symbol.asyncDispose]();
  return EXIT_STATUS.ok;
}

function configOf({ title, description, inputSchema }: Tool): object {
  const converted = { input: () => inputSchema, output: () => inputSchema };
  return {
    title,
    description,
    // The tool checks its arguments itself, and names place and remedy.
    inputSchema: {
      "~standard": {
        version: 1,
        vendor: "feynkac",
        validate: (value: unknown) => ({ value }),
        jsonSchema: converted,
      },
    },
    annotations: { readOnlyHint: true, idempotentHint: true, destructiveHint: false, openWorldHint: false },
  };
}

interface Surroundings {
  readonly engine: () => Promise<Engine>;
  readonly log: (line: string) => void;
}

async function answer(
  tool: Tool,
  args: unknown,
  { mcpReq }: CallContext,
  { engine, log }: Surroundings,
): Promise<Answer> {
  const { signal, _meta: meta, notify } = mcpReq;
  const progressToken = meta?.progressToken;
  const onProgress = ({ done, total }: { readonly done: number; readonly total: number | undefined }): void => {
    if (progressToken === undefined) return;
    const params = { progressToken, progress: done, ...(total === undefined ? {} : { total }) };
    void notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
  try {
    const given = await tool.run(args, { signal, engine, onProgress });
    return { content: [{ type: "text", text: JSON.stringify(given) }] };
  } catch (error) {
    if (signal.aborted) log(`${tool.name}: cancelled`);
    else if (!(error instanceof FeynkacError || error instanceof CliError)) log(`${tool.name}: ${String(error)}`);
    const { message } = error as Error;
    return { content: [{ type: "text", text: message }], isError: true };
  }
}
