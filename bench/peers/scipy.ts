import { spawnSync } from "node:child_process";
import { join } from "node:path";

const script = join(import.meta.dirname, "scipy_csr.py");

/** SciPy's compressed rows with the seven-point Laplacian of a cube; seconds. */
export interface Scipy {
  product(grid: number, precision: "f64" | "f32", repetitions: number): number;
  iteration(grid: number, method: "bicgstab" | "cgs", iterations: number): number;
}

/** SciPy as a peer; undefined, with the reason noted, where it is not installed. */
export function openScipy(note: (text: string) => void): Scipy | undefined {
  const { status, stdout } = spawnSync("python3", ["-c", "import scipy; print(scipy.__version__)"], {
    encoding: "utf8",
  });
  if (status !== 0) {
    note("no SciPy here (pip install scipy): no peer is measured");
    return undefined;
  }
  note(`SciPy ${stdout.trim()}: csr, one thread`);
  return {
    product: (grid, precision, repetitions) => run("product", grid, precision, repetitions),
    iteration: (grid, method, iterations) => run(method, grid, "f64", iterations),
  };
}

function run(...args: readonly (string | number)[]): number {
  // One thread, as the figures beside it.
  const env = { ...process.env, OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1" };
  const done = spawnSync("python3", [script, ...args.map(String)], { encoding: "utf8", env });
  if (done.status !== 0) throw new Error(`SciPy: status ${done.status}: ${done.stderr}`);
  return Number(done.stdout);
}
