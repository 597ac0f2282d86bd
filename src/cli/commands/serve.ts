import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { BackendName } from "../../device/index.ts";
import { packageVersion } from "../../output/formats/index.ts";
import { CliError, EXIT_STATUS, reasonOf } from "../failure.ts";
import type { Terminal } from "../terminal.ts";

/** The options of the command `feynkac serve`. */
export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly tokenFile?: string;
  readonly backend: "auto" | BackendName;
  readonly device?: number;
  readonly threads?: number;
  /** True to end when standard input ends, as it does with the process that has started this one. */
  readonly stdin?: true;
  readonly maxBytes: number;
  readonly maxTrades: number;
  readonly maxSeconds: number;
  readonly maxRequests: number;
  readonly maxMarkets: number;
  readonly finestAccuracy: number;
}

const LOOPBACK: readonly string[] = ["127.0.0.1", "::1", "localhost"];

/**
 * Runs `feynkac serve`, an HTTP service that answers requests until it is stopped. @returns the exit status @throws
 * CliError a public interface without a token, a port in use, or no Fastify
 */
export async function serve(options: ServeOptions, terminal: Terminal, signal: AbortSignal): Promise<number> {
  const { host, port, tokenFile, threads } = options;
  const token = tokenFile === undefined ? undefined : readToken(tokenFile);
  if (token === undefined && !LOOPBACK.includes(host))
    throw new CliError(
      `--host ${host}: others can reach that interface; give a token, --token-file FILE, or 127.0.0.1`,
    );
  const [{ openDevice }, { startService }] = await Promise.all([
    import("../../device/index.ts"),
    import("../../service/http/index.ts"),
  ]);
  const cores = threads ?? availableParallelism();
  // A short launch is quicker on this thread than on another one. A long one leaves it free to answer.
  const share = cores === 1 ? "always" : "when-quicker";
  const { backend, device: index } = options;
  using device = await openDevice({
    backend,
    threads: cores,
    share,
    ...(index === undefined ? {} : { device: index }),
  });
  const limits = {
    bytes: options.maxBytes,
    trades: options.maxTrades,
    seconds: options.maxSeconds,
    requests: options.maxRequests,
    accuracy: options.finestAccuracy,
    markets: options.maxMarkets,
  };
  await using service = await started(() =>
    startService({ device, host, port, token, limits, version: packageVersion() }),
  );
  terminal.stderr.write(`${service.url}, ${device.name}\n`);
  if (signal.aborted) return EXIT_STATUS.ok;
  await new Promise((resolve) => {
    signal.addEventListener("abort", resolve, { once: true });
    if (options.stdin === true) terminal.stdin.once("end", resolve).resume();
  });
  return EXIT_STATUS.ok;
}

async function started<T>(start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ERR_MODULE_NOT_FOUND")
      throw new CliError("the service needs the package fastify: npm install fastify", { cause });
    throw new CliError(`cannot serve: ${reasonOf(cause)}`, { cause });
  }
}

/**
 * Reads the access token from a file. It must have at least 16 characters, so that it cannot be guessed. @throws
 * CliError
 */
function readToken(path: string): string {
  let token: string;
  try {
    token = readFileSync(path, "utf8").trim();
  } catch (cause) {
    throw new CliError(`cannot read ${path}: ${reasonOf(cause)}`, { cause });
  }
  if (!/^[\w.~+/=-]{16,}$/.test(token))
    throw new CliError(`${path}: expected a token of at least 16 letters and digits (openssl rand -hex 32)`);
  return token;
}
