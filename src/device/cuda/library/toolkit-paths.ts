/**
 * The places of the libraries of CUDA's toolkit: distributions, NVIDIA's installers, conda and pip each have places of
 * their own.
 */
import { distinctPaths, type Host, directoriesNewestFirst, pathOn } from "../../host.ts";

/** A library of the CUDA toolkit and its file names. */
export interface ToolkitLibrary {
  /** The file names on Linux, newest first. */
  readonly names: readonly string[];
  readonly windowsName: RegExp;
  /** The folder of the library in pip's packages for CUDA 12; those for CUDA 13 share one. */
  readonly pip: string;
}

/** Returns a library's paths to try, in order: only the given one, or all found on the machine. */
export function toolkitPaths(host: Host, library: ToolkitLibrary, given: string | undefined): string[] {
  if (given !== undefined && given !== "") return [given];
  const { pip } = library;
  if (host.platform === "win32") {
    const directories = distinctPaths(windowsDirectories(host, pip));
    return directories.flatMap((directory) => directoriesNewestFirst(host, directory, library.windowsName));
  }
  if (host.platform !== "linux") return [];
  const inDirectory = (directory: string): string[] =>
    library.names.map((name) => `${directory}/${name}`).filter((path) => host.exists(path));
  const chosen = distinctPaths(chosenDirectories(host, pip)).flatMap(inDirectory);
  const found = distinctPaths(unixDirectories(host, pip)).flatMap(inDirectory);
  // By bare name: LD_LIBRARY_PATH and the loader's cache.
  return distinctPaths([...chosen, ...library.names, ...found]);
}

/** Linux, by the user's own choice. */
function* chosenDirectories(host: Host, pip: string): Iterable<string | undefined> {
  const { CUDA_PATH, CUDA_HOME } = host.environment;
  for (const root of [CUDA_PATH, CUDA_HOME]) yield* toolkitDirectories(host, root);
  for (const root of pythonRoots(host)) yield* condaAndPip(host, root, pip);
}

function* unixDirectories(host: Host, pip: string): Iterable<string | undefined> {
  const toolkits = [
    "/usr/local/cuda",
    ...directoriesNewestFirst(host, "/usr/local", /^cuda-[\d.]+$/),
    "/opt/cuda", // Arch
  ];
  for (const root of toolkits) yield* toolkitDirectories(host, root);
  for (const version of directoriesNewestFirst(
    host,
    `/opt/nvidia/hpc_sdk/Linux_${unixArchitecture(host)}`,
    /^\d+\.\d+$/,
  )) {
    yield* toolkitDirectories(host, `${version}/cuda`);
  }
  yield* [`/usr/lib/${unixArchitecture(host)}-linux-gnu`, "/usr/lib64", "/usr/lib", "/usr/local/lib"];
  // Without an environment active: what `pip install --user` and the system's Python hold.
  for (const root of [`${host.home}/.local`, "/usr/local", "/usr"]) yield* pipDirectories(host, root, pip);
}

const unixArchitecture = (host: Host): string => (host.architecture === "arm64" ? "aarch64" : "x86_64");

function* toolkitDirectories(host: Host, root: string | undefined): Iterable<string | undefined> {
  const target = host.architecture === "arm64" ? "sbsa-linux" : "x86_64-linux";
  yield pathOn(host, root, "lib64");
  yield pathOn(host, root, "targets", target, "lib");
  yield pathOn(host, root, "lib");
}

/** The active environment's, which is what someone who ran `pip install` or `conda install` means. */
function pythonRoots({ environment }: Host): (string | undefined)[] {
  return [environment["VIRTUAL_ENV"], environment["CONDA_PREFIX"]];
}

function* condaAndPip(host: Host, root: string | undefined, pip: string): Iterable<string | undefined> {
  if (root === undefined) return;
  yield pathOn(host, root, "lib");
  yield* toolkitDirectories(host, root);
  yield* pipDirectories(host, root, pip);
}

/** The wheels nvidia-cuda-nvrtc (CUDA 13) and nvidia-cuda-nvrtc-cu12, and their like. */
function* pipDirectories(host: Host, root: string, pip: string): Iterable<string | undefined> {
  const pythons = directoriesNewestFirst(host, `${root}/lib`, /^python3(\.\d+)?$/);
  for (const python of pythons) {
    for (const packages of ["site-packages", "dist-packages"]) {
      yield `${python}/${packages}/nvidia/cu13/lib`;
      yield `${python}/${packages}/nvidia/${pip}/lib`;
    }
  }
}

function* windowsDirectories(host: Host, pip: string): Iterable<string | undefined> {
  const { CUDA_PATH, CUDA_HOME, ProgramFiles, APPDATA, VIRTUAL_ENV, CONDA_PREFIX } = host.environment;
  const installed = pathOn(host, ProgramFiles, "NVIDIA GPU Computing Toolkit", "CUDA");
  for (const root of [CUDA_PATH, CUDA_HOME, ...directoriesNewestFirst(host, installed, /^v[\d.]+$/)]) {
    yield pathOn(host, root, "bin", "x64"); // since CUDA 13
    yield pathOn(host, root, "bin");
  }
  yield pathOn(host, CONDA_PREFIX, "Library", "bin");
  const users = directoriesNewestFirst(host, pathOn(host, APPDATA, "Python"), /^Python3\d+$/);
  const packages = [
    pathOn(host, VIRTUAL_ENV, "Lib", "site-packages"),
    pathOn(host, CONDA_PREFIX, "Lib", "site-packages"),
    ...users.map((root) => pathOn(host, root, "site-packages")),
  ];
  for (const root of packages) {
    yield pathOn(host, root, "nvidia", "cu13", "bin", "x86_64");
    yield pathOn(host, root, "nvidia", pip, "bin");
  }
}
