import type { Finding } from "./doctor-cuda.ts";
import type { Probe } from "./doctor-cuda.ts";
import { availableParallelism, cpus, totalmem } from "node:os";
import { EXIT_STATUS } from "../failure.ts";
import type { BackendName } from "../../device/index.ts";
import type { Terminal } from "../terminal.ts";
import { packageVersion } from "../../output/formats/index.ts";
import { cudaFindings, type DiagnoseCuda, diagnoseCudaParts } from "./doctor-cuda.ts";

/**
 * Runs `feynkac doctor`, which lists the devices and libraries that are available or missing, and how to get the
 * missing ones. @returns the exit status, 0 if books can be priced here, at least on the CPU
 */
export async function doctor(
  terminal: Terminal,
  probe: Probe = probeDevice,
  diagnoseCuda: DiagnoseCuda = diagnoseCudaParts,
): Promise<number> {
  const findings = [
    ...host(),
    await cpuFinding(probe),
    await webgpuFinding(probe),
    ...(await cudaFindings(probe, diagnoseCuda)),
  ];
  const width = Math.max(...findings.map(({ what }) => what.length));
  terminal.stdout.write(findings.map((finding) => lineOf(finding, width)).join(""));
  return findings.some(({ state }) => state === "broken") ? EXIT_STATUS.failedTrades : EXIT_STATUS.ok;
}

function lineOf({ what, state, detail, remedy }: Finding, width: number): string {
  const mark = { ok: "ok  ", missing: "–   ", broken: "FAIL" }[state];
  const indent = " ".repeat(width + 8);
  const help =
    remedy === undefined
      ? ""
      : remedy
          .split("\n")
          .map((line) => `${indent}${line}\n`)
          .join("");
  return `${mark}  ${what.padEnd(width)}  ${detail}\n${help}`;
}

function host(): Finding[] {
  const cores = availableParallelism();
  const [cpu] = cpus();
  const shared = typeof SharedArrayBuffer === "function";
  const simd = WebAssembly.validate(SIMD_MODULE);
  const memory = `${(totalmem() / 2 ** 30).toFixed(1)} GiB`;
  return [
    { what: "feynkac", state: "ok", detail: packageVersion() },
    { what: "node", state: "ok", detail: `${process.version} on ${process.platform}-${process.arch}` },
    {
      what: "processor",
      state: "ok",
      detail: `${cpu?.model.trim() ?? "unknown"}, ${cores} ${cores === 1 ? "thread" : "threads"}, ${memory} of memory`,
    },
    shared
      ? { what: "SharedArrayBuffer", state: "ok", detail: "the CPU back end uses every core" }
      : {
          what: "SharedArrayBuffer",
          state: "missing",
          detail: "the CPU back end uses one core",
          remedy: "Start Node without --no-harmony-sharedarraybuffer.",
        },
    simd
      ? { what: "WebAssembly SIMD", state: "ok", detail: "two f64 or four f32 lanes" }
      : {
          what: "WebAssembly SIMD",
          state: "broken",
          detail: "this Node cannot run it",
          remedy: "Use an official build of Node 20 or later on a processor with SIMD.",
        },
  ];
}

/**
 * The WebAssembly module (module (func (result v128) (v128.const 0))), which is valid only if the engine supports SIMD.
 */
const SIMD_MODULE = Buffer.from(
  ["0061736d01000000", "0105016000017b", "03020100", "0a16011400fd0c", "00".repeat(16), "0b"].join(""),
  "hex",
);

async function cpuFinding(probe: Probe): Promise<Finding> {
  try {
    return { what: "CPU back end", state: "ok", detail: `${await probe("cpu")}; f64, f32` };
  } catch (error) {
    return { what: "CPU back end", state: "broken", detail: messageOf(error) };
  }
}

async function webgpuFinding(probe: Probe): Promise<Finding> {
  const what = "WebGPU back end";
  if (!webgpuInstalled()) {
    return {
      what,
      state: "missing",
      detail: "the webgpu package is not installed",
      remedy: "To price on a GPU, in f32: npm install webgpu (132 MB)",
    };
  }
  try {
    return { what, state: "ok", detail: `${await probe("webgpu")}; f32` };
  } catch (error) {
    return {
      what,
      state: "missing",
      detail: "the webgpu package is installed, but it cannot be used",
      remedy: messageOf(error),
    };
  }
}

function webgpuInstalled(): boolean {
  try {
    import.meta.resolve("webgpu");
    return true;
  } catch {
    return false;
  }
}

async function probeDevice(backend: BackendName): Promise<string> {
  const { openDevice } = await import("../../device/index.ts");
  using device = await openDevice({ backend });
  return device.name;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
