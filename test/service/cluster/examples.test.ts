/** examples/cluster: its files are YAML that the tools accept, and their commands are the command line's own. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Deployment } from "kubernetes-models/apps/v1";
import { Service } from "kubernetes-models/v1";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { feynkac } from "../../cli/in-process.ts";

const folder = join(import.meta.dirname, "../../../examples/cluster");
const read = (name: string): string => readFileSync(join(folder, name), "utf8");

interface Composed {
  readonly services: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

/** The fields of a service that the example uses, of those in the Compose specification. */
const SERVICE_FIELDS = [
  "build",
  "command",
  "depends_on",
  "deploy",
  "environment",
  "healthcheck",
  "image",
  "ports",
  "stop_grace_period",
  "volumes",
];

test("compose.yaml: known fields, services and volumes that exist, ports on loopback only", () => {
  const { services, volumes } = parse(read("compose.yaml"), { merge: true, strict: true }) as Composed;
  expect(Object.keys(services)).toEqual(["valkey", "minio", "worker"]);
  for (const service of Object.values(services)) {
    expect(Object.keys(service).filter((name) => !SERVICE_FIELDS.includes(name))).toEqual([]);
    for (const name of Object.keys(service["depends_on"] ?? {})) expect(services).toHaveProperty(name);
    for (const volume of (service["volumes"] ?? []) as string[]) expect(volumes).toHaveProperty(volume.split(":")[0]);
    for (const port of (service["ports"] ?? []) as string[]) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  }
  expect(services["worker"]).toMatchObject({
    build: { dockerfile: "examples/cluster/Dockerfile" },
    deploy: { replicas: 2 },
    environment: { FEYNKAC_QUEUE: "redis://valkey:6379", AWS_REGION: "us-east-1" },
  });
});

const documents = parseAllDocuments(read("kubernetes.yaml")).map((document) => {
  expect(document.errors).toEqual([]);
  return document.toJS() as Record<string, unknown>;
});
const kinds = Object.fromEntries(documents.map((document) => [document["kind"] as string, document]));

test("kubernetes.yaml: what Kubernetes' own schemas accept", () => {
  expect(Object.keys(kinds)).toEqual(["Deployment", "Service", "ScaledObject"]);
  new Deployment(kinds["Deployment"]).validate();
  new Service(kinds["Service"]).validate();
  expect(() => new Deployment({ spec: { replicas: "two" } } as unknown as never).validate()).toThrow();
});

test("kubernetes.yaml: the autoscaler and the service name what is there", () => {
  const { metadata, spec } = kinds["ScaledObject"] as { metadata: object; spec: Record<string, unknown> };
  expect(metadata).toEqual({ name: "feynkac-worker" });
  expect(spec).toMatchObject({
    scaleTargetRef: { name: "feynkac-worker" },
    triggers: [
      { type: "metrics-api", metadata: { url: "http://feynkac-worker:9090/queue", valueLocation: "waiting" } },
    ],
  });
  expect(kinds["Service"]).toMatchObject({ metadata: { name: "feynkac-worker" }, spec: { ports: [{ port: 9090 }] } });
  expect(kinds["Deployment"]).toMatchObject({ metadata: { name: "feynkac-worker" } });
});

test("the workers' options are options of feynkac worker", async () => {
  const { stdout } = await feynkac(["worker", "--help"]);
  const texts = [read("kubernetes.yaml"), read("Dockerfile"), read("README.md")].join("\n");
  const used = [...texts.matchAll(/"(--[a-z-]+)"|feynkac worker (--[a-z-]+)/g)].map(([, a, b]) => a ?? b);
  expect(used.length).toBeGreaterThan(4);
  for (const option of used) expect(stdout).toContain(option);
});
