import { spawn } from "node:child_process";
import type { Terminal } from "../terminal.ts";
import { serveWeb, WEB_FOLDER } from "../web-server.ts";

/** The options of the command `feynkac web`. */
export interface WebOptions {
  /** The port; 0 for a free one. */
  readonly port: number;
  /** True to open the browser. */
  readonly open: boolean;
}

/**
 * Runs `feynkac web`, which serves the browser page on the loopback interface until it is interrupted. @throws CliError
 * a port in use; the signal's reason
 */
export async function web({ port, open }: WebOptions, { stdout }: Terminal, signal: AbortSignal): Promise<never> {
  const server = await serveWeb(WEB_FOLDER, port);
  try {
    stdout.write(`${server.address}\n`);
    if (open) openBrowser(server.address);
    return await new Promise<never>((_, reject) => {
      if (signal.aborted) reject(signal.reason as Error);
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    });
  } finally {
    server.close();
  }
}

/** Opens the address in a browser. Failure is ignored, because the address is also printed. */
function openBrowser(address: string): void {
  const [command, ...args] = {
    darwin: ["open", address],
    win32: ["cmd", "/c", "start", "", address],
  }[process.platform as string] ?? ["xdg-open", address];
  spawn(command, args, { stdio: "ignore", detached: true })
    .on("error", () => {})
    .unref();
}
