import type { Telemetry } from "bullmq";
import { RunError } from "../runs/index.ts";

/**
 * Returns OpenTelemetry tracing for BullMQ if the environment variables of OpenTelemetry ask for it, otherwise an empty
 * object. The exporter must be registered by the caller: `NODE_OPTIONS="--import
 * @opentelemetry/auto-instrumentations-node/register"`.
 * @throws RunError a package that is not installed
 */
export async function telemetryOf(): Promise<{ readonly telemetry?: Telemetry }> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER } = process.env;
  if (OTEL_EXPORTER_OTLP_ENDPOINT === undefined && OTEL_TRACES_EXPORTER === undefined) return {};
  try {
    const { BullMQOtel } = await import("bullmq-otel");
    return { telemetry: new BullMQOtel({ tracerName: "feynkac" }) };
  } catch (cause) {
    throw new RunError("traces need the package bullmq-otel: npm install bullmq-otel", { cause });
  }
}
