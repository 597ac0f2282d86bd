/** NVRTC, loaded: its functions, its version, the architectures it compiles for. */
import { DeviceUnavailableError } from "../../base/errors.ts";
import { type Version, versionText } from "./driver.ts";
import { addressOf, type ForeignLibrary, type Koffi } from "./ffi/koffi.ts";
import { NVRTC_SUCCESS, nvrtcFunctions, nvrtcResultName } from "./ffi/nvrtc.ts";
import { bindFunctions, type Calls } from "./ffi/signatures.ts";
import { type Host, thisHost } from "../host.ts";
import { loadFailuresText, openFirst, type OpenedLibrary } from "./library/open.ts";
import { type ToolkitLibrary, toolkitPaths } from "./library/toolkit-paths.ts";

const nvrtc: ToolkitLibrary = {
  names: ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"],
  windowsName: /^nvrtc64_\d+_\d+\.dll$/i, // not nvrtc64_120_0.alt.dll
  pip: "cuda_nvrtc",
};

/** Returns NVRTC's paths to try, in order: only the given one, or all found on the machine. */
export const nvrtcPaths = (host: Host, given = host.environment["FEYNKAC_NVRTC"]): string[] =>
  toolkitPaths(host, nvrtc, given);

/** The functions of NVRTC that this back end calls, bound by koffi. */
export type NvrtcCalls = Calls<typeof nvrtcFunctions>;

/** NVRTC, CUDA's run-time compiler. */
export class Nvrtc {
  readonly koffi: Koffi;
  readonly path: string;
  readonly calls: NvrtcCalls;
  readonly version: Version;
  /** The compute capabilities that NVRTC supports, ascending, written 90 for 9.0. */
  readonly architectures: readonly number[];
  /** The libraries, kept so that they stay loaded. */
  readonly libraries: readonly (ForeignLibrary | undefined)[];

  constructor(koffi: Koffi, { library, path }: OpenedLibrary) {
    this.koffi = koffi;
    this.path = path;
    this.calls = bindFunctions(library, `NVRTC (${path})`, nvrtcFunctions);
    this.version = this.#readVersion();
    this.architectures = this.#readArchitectures();
    this.libraries = [library, loadBuiltins(koffi, path, this.version)];
  }

  /** Throws unless a call succeeded. @throws DeviceUnavailableError */
  check(what: string, status: number): void {
    if (status !== NVRTC_SUCCESS)
      throw new DeviceUnavailableError(`CUDA: NVRTC (${this.path}): ${what}: ${nvrtcResultName(status)}`);
  }

  #readVersion(): Version {
    const pair = new Int32Array(2);
    const at = addressOf(this.koffi, pair.buffer);
    this.check("nvrtcVersion", this.calls.nvrtcVersion(at, at + 4));
    return { major: pair[0], minor: pair[1] };
  }

  #readArchitectures(): readonly number[] {
    const count = new Int32Array(1);
    this.check("nvrtcGetNumSupportedArchs", this.calls.nvrtcGetNumSupportedArchs(addressOf(this.koffi, count.buffer)));
    const found = new Int32Array(count[0]);
    this.check("nvrtcGetSupportedArchs", this.calls.nvrtcGetSupportedArchs(found));
    return [...found].sort((a, b) => a - b);
  }
}

const opened = new Map<string, Nvrtc>();

/**
 * Opens the first NVRTC on the machine whose major version is not newer than the driver's, so that the driver can load
 * its code. If there is none, it opens a newer NVRTC, whose machine code for this GPU the driver may still load.
 * @throws DeviceUnavailableError
 */
export function openNvrtc(koffi: Koffi, driver: Version, given?: string, host: Host = thisHost()): Nvrtc {
  const paths = nvrtcPaths(host, given ?? host.environment["FEYNKAC_NVRTC"]);
  const key = [driver.major, ...paths].join("\n");
  const known = opened.get(key);
  if (known !== undefined) return known;
  const found = search(koffi, paths, driver);
  opened.set(key, found);
  return found;
}

function search(koffi: Koffi, paths: readonly string[], driver: Version): Nvrtc {
  let accepted: Nvrtc | undefined;
  let newer: Nvrtc | undefined;
  const { refusals } = openFirst(koffi, paths, (library) => {
    const candidate = new Nvrtc(koffi, library);
    if (candidate.version.major <= driver.major) accepted = candidate;
    else newer ??= candidate;
    return accepted === undefined ? `of CUDA ${versionText(candidate.version)}, newer than the driver` : undefined;
  });
  const found = accepted ?? newer;
  if (found === undefined) throw new DeviceUnavailableError(noNvrtc(driver) + loadFailuresText(refusals));
  return found;
}

/** Returns a text that lists the ways to install an NVRTC for a version of CUDA. */
export const nvrtcRemedy = ({ major }: Version): string =>
  `pip install ${major > 12 ? "nvidia-cuda-nvrtc" : `nvidia-cuda-nvrtc-cu${major}`}, conda install cuda-nvrtc, ` +
  "or the CUDA toolkit; or name the file in FEYNKAC_NVRTC";

const noNvrtc = (driver: Version): string => `CUDA: NVRTC, the run-time compiler, is not here; ${nvrtcRemedy(driver)}`;

const directoryOf = (path: string): string | undefined => /^(.*[\\/])[^\\/]*$/.exec(path)?.[1];

/**
 * Loads the builtins of NVRTC at `path`, to be kept as long as NVRTC is used. NVRTC loads them when it first compiles,
 * by their bare name. Where they lie beside NVRTC in a place that the loader does not search (pip's packages, mostly),
 * the loader finds them only if they are loaded already.
 */
function loadBuiltins(
  koffi: Koffi,
  path: string,
  { major, minor }: { readonly major: number; readonly minor: number },
): ForeignLibrary | undefined {
  const directory = directoryOf(path);
  if (directory === undefined) return undefined; // found by the loader, as its companion will be
  const file = /\.dll$/i.test(path)
    ? `nvrtc-builtins64_${major}${minor}.dll`
    : `libnvrtc-builtins.so.${major}.${minor}`;
  try {
    return koffi.load(directory + file);
  } catch {
    return undefined; // elsewhere: NVRTC says so itself if it does not find it
  }
}
