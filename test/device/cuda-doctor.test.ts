/** The CUDA part of `feynkac doctor`. */
import { describe, expect, test } from "vitest";
import { doctor } from "../../src/cli/commands/doctor.ts";
import type { CudaPart } from "../../src/device/index.ts";
import { kept } from "../cli/in-process.ts";

const H200 = "NVIDIA H200, 139.8 GiB, compute capability 9.0";
const whole: readonly CudaPart[] = [
  { part: "koffi", found: true, detail: "2.16.3" },
  { part: "driver", found: true, detail: "CUDA 13.0, libcuda.so.1" },
  { part: "nvrtc", found: true, detail: "CUDA 13.0, /usr/local/cuda/lib64/libnvrtc.so.13" },
  { part: "gpu", found: true, detail: `0: ${H200}` },
  { part: "gpu", found: true, detail: `1: ${H200}` },
];

async function report(parts: readonly CudaPart[], open: () => Promise<string> = async () => "GPU"): Promise<string> {
  const { terminal, stdout } = kept();
  const probe = (backend: string): Promise<string> => (backend === "cuda" ? open() : Promise.resolve(backend));
  expect(await doctor(terminal, probe, async () => parts)).toBe(0);
  return stdout();
}

describe("doctor, on CUDA", () => {
  test("names the parts, each GPU, and the device that opens", async () => {
    const text = await report(whole, async () => "NVIDIA H200 (CUDA)");
    expect(text).toMatch(/^ok {4}CUDA: driver +CUDA 13\.0, libcuda\.so\.1$/m);
    expect(text).toMatch(/^ok {4}CUDA: NVRTC +CUDA 13\.0, \/usr\/local\/cuda\/lib64\/libnvrtc\.so\.13$/m);
    expect(text).toMatch(/^ok {4}CUDA: GPU +0: NVIDIA H200, .*\nok {4}CUDA: GPU +1: NVIDIA H200/m);
    expect(text).toMatch(/^ok {4}CUDA back end +NVIDIA H200 \(CUDA\); f64, f32$/m);
  });

  test("says how to get what is missing, and opens nothing then", async () => {
    const parts = whole.map((part) =>
      part.part === "nvrtc"
        ? { ...part, found: false, detail: "missing", remedy: "pip install nvidia-cuda-nvrtc" }
        : part,
    );
    const text = await report(parts, () => Promise.reject(new Error("must not be asked")));
    expect(text).toMatch(/^– {5}CUDA: NVRTC +missing\n +pip install nvidia-cuda-nvrtc$/m);
    expect(text).toMatch(/^– {5}CUDA back end +to price on NVIDIA GPUs/m);
  });

  test("says why no device opens where everything is there", async () => {
    const text = await report(whole, () => Promise.reject(new Error("CUDA: cannot make a context: in use")));
    expect(text).toMatch(/^– {5}CUDA back end +everything is here, but no device opens\n +CUDA: cannot make/m);
  });
});
