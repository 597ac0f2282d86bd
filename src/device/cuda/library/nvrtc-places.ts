/** The places of NVRTC. */
import type { Host } from "../../host.ts";
import { type ToolkitLibrary, toolkitPlaces } from "./toolkit-places.ts";

const nvrtc: ToolkitLibrary = {
  names: ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"],
  windowsName: /^nvrtc64_\d+_\d+\.dll$/i, // not nvrtc64_120_0.alt.dll
  pip: "cuda_nvrtc",
};

/** Returns NVRTC's paths to try, in order: only the given one, or all found on the machine. */
export const nvrtcPlaces = (host: Host, given = host.environment["FEYNKAC_NVRTC"]): string[] =>
  toolkitPlaces(host, nvrtc, given);
