import { afterEach, describe, expect, it, vi } from "vitest";
import { openEmulatedCuda } from "./cuda.ts";
import { buildCudaEmulator } from "../../tools/cuda-emulator/index.ts";
import { isRequired } from "./required.ts";

afterEach(() => vi.unstubAllEnvs());

describe("FEYNKAC_REQUIRE", () => {
  it.each(["webgpu,browser,cuda", "cuda", "webgpu cuda"])("%j names cuda", (list) => {
    vi.stubEnv("FEYNKAC_REQUIRE", list);
    expect(isRequired("cuda")).toBe(true);
    expect(isRequired("cud")).toBe(false);
  });

  it("makes an emulator that cannot be built a failure", async () => {
    // g++ is asked for its version even where the emulator is built, and there is none on an empty path.
    vi.stubEnv("PATH", "");
    vi.stubEnv("FEYNKAC_REQUIRE", "");
    await expect(buildCudaEmulator()).resolves.toBeUndefined();
    vi.stubEnv("FEYNKAC_REQUIRE", "cuda");
    await expect(buildCudaEmulator()).rejects.toThrow("needs Linux and g++");
    await expect(openEmulatedCuda()).rejects.toThrow("needs Linux and g++");
  });
});
