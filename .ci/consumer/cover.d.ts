import type { BackendName } from "feynkac";

export declare function cover(backend?: BackendName): Promise<Record<string, unknown>>;
