import { spawnSync } from "node:child_process";
import { join } from "node:path";

const script = join(import.meta.dirname, "scipy_csr.py");

/** Median seconds of SciPy's CSR product with the seven-point Laplacian of a cube. */
export type ScipyProduct = (grid: number, precision: "f64" | "f32", repetitions: number) => number;

/** SciPy as a peer; undefined, with the reason noted, where it is not installed. */
export function openScipy(note: (text: string) => void): ScipyProduct | undefined {
  const { status, stdout } = spawnSync("python3", ["-c", "import scipy; print(scipy.__version__)"], {
    encoding: "utf8",
  });
  if (status !== 0) {
    note("no SciPy here (pip install scipy): no peer is measured");
    return undefined;
  }
  note(`SciPy ${stdout.trim()}: its CSR product, one thread`);
  return (grid, precision, repetitions) => {
    const args = [script, ...[grid, precision, repetitions].map(String)];
    const done = spawnSync("python3", args, { encoding: "utf8" });
    if (done.status !== 0) throw new Error(`SciPy: status ${done.status}: ${done.stderr}`);
    return Number(done.stdout.split(" ")[0]);
  };
}
