import type { SupervisedProcess } from "../../service/cluster/index.ts";
import type { OpenEngine } from "../engine.ts";
import type { EngineOptions } from "../choose-backend.ts";
import { EXIT_STATUS } from "../failure.ts";
import type { Terminal } from "../terminal.ts";

/** The options of the command `feynkac worker`. */
export interface WorkerOptions extends EngineOptions {
  readonly queue: string;
  /** The port of the server for health and metrics; none by default. */
  readonly port?: number;
  readonly host: string;
  readonly lockSeconds: number;
  readonly chunkTimeout: number;
  /** True to start one worker process for each device. Otherwise this process is the worker, on one device. */
  readonly everyDevice: boolean;
}

interface CommandEnvironment {
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  readonly openEngine: OpenEngine;
}

/**
 * Runs `feynkac worker`, which takes chunks of trades from a queue and prices them until it is stopped. @returns the
 * exit status @throws RunError if no server answers, or if npm packages are missing; DeviceUnavailableError
 */
export async function worker(options: WorkerOptions, environment: CommandEnvironment): Promise<number> {
  const { terminal, signal, openEngine } = environment;
  const [cluster, { jsonLog, startHealthServer }] = await Promise.all([
    import("../../service/cluster/index.ts"),
    import("../../service/monitoring/index.ts"),
  ]);
  cluster.connectionOf(options.queue);
  await cluster.loadBull();
  const log = jsonLog((line) => terminal.stdout.write(line));
  if (options.everyDevice) {
    const all = await processes(options);
    if (all.length > 1) {
      await cluster.supervise(all, signal, log);
      return EXIT_STATUS.ok;
    }
  }
  await using engine = await openEngine(options);
  const metrics = cluster.workerMetrics();
  let isHealthy = (): boolean => false;
  let lengths = async (): Promise<unknown> => ({ waiting: 0, active: 0 });
  const { port, host, queue, lockSeconds, chunkTimeout } = options;
  await using health =
    port === undefined
      ? undefined
      : await startHealthServer({
          port,
          host,
          metrics: metrics.all,
          isHealthy: () => isHealthy(),
          pages: { "/queue": () => lengths() },
        });
  if (health !== undefined) log("info", "health and metrics", { port: health.port, host });
  await cluster.runWorker({
    queue,
    pricer: engine,
    lockSeconds,
    chunkTimeout,
    signal,
    log,
    metrics,
    onReady: (state) => {
      isHealthy = state.isHealthy;
      lengths = () => cluster.queueLengths(state.queue);
      metrics.show(state.queue);
    },
  });
  return EXIT_STATUS.ok;
}

/** The worker processes to start: one for the CPU, and one for each GPU that `auto` finds on this machine. */
async function processes(options: WorkerOptions): Promise<SupervisedProcess[]> {
  const { queue, precision, threads, lockSeconds, chunkTimeout, host, port } = options;
  // The URL may hold a password, which a list of processes would show: it goes through the environment.
  process.env["FEYNKAC_QUEUE"] = queue;
  const common = [
    process.argv[1],
    "worker",
    ...pairs({ precision, host, "lock-seconds": lockSeconds, "chunk-timeout": chunkTimeout }),
  ];
  const cpu = ["--backend", "cpu", ...(threads === undefined ? [] : ["--threads", String(threads)])];
  return [cpu, ...(await gpus(options))].map((device, i) => ({
    name: device.join(" "),
    args: [...common, ...device, ...(port === undefined ? [] : ["--port", String(port === 0 ? 0 : port + i)])],
  }));
}

/** The command-line options that select each GPU. */
async function gpus({ precision }: WorkerOptions): Promise<string[][]> {
  const { devices, openDevice } = await import("../../device/index.ts");
  using device = await openDevice({ backend: "auto", precision });
  if (device.backend === "cpu") return [];
  if (device.backend === "webgpu") return [["--backend", "webgpu"]];
  return (await devices("cuda")).map(({ index }) => ["--backend", "cuda", "--device", String(index)]);
}

/** Converts options to command-line arguments. */
function pairs(options: Readonly<Record<string, string | number>>): string[] {
  return Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
}
