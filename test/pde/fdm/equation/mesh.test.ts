import { describe, expect, test } from "vitest";
import {
  alignment,
  axisMesh,
  density,
  type MeshDescription,
  type MeshPoint,
} from "../../../../src/pde/fdm/mesh/axis-mesh.ts";

const point = (at: number, align: MeshPoint["align"] = "node"): MeshPoint => ({
  at,
  align,
  concentrate: true,
  path: `at ${at}`,
});
const describeMesh = (more: Partial<MeshDescription>): MeshDescription => ({
  coordinate: "linear",
  from: 0,
  to: 400,
  nodes: 101,
  density: "sinh",
  width: 20,
  points: [],
  ...more,
});
const steps = (nodes: Float64Array): number[] => [...nodes].slice(1).map((node, i) => node - nodes[i]);

describe("densities are increasing maps with the slope they say", () => {
  test.each(["uniform", "sinh", "tanh"] as const)("%s", (kind) => {
    const { xi, slope } = density(kind, [80, 120], 15, 0, 300);
    for (const x of [0, 40, 80, 97, 121, 300]) {
      const difference = (xi(x + 1e-4) - xi(x - 1e-4)) / 2e-4;
      expect(difference).toBeGreaterThan(0);
      expect(slope(x)).toBeCloseTo(difference, 6);
    }
  });
});

describe("meshes", () => {
  test("without points are uniform, in the coordinate", () => {
    const { values } = axisMesh(describeMesh({ nodes: 5 }), 0);
    expect([...values]).toEqual([0, 100, 200, 300, 400]);
    const log = axisMesh(describeMesh({ coordinate: "log", from: 1, to: 16, nodes: 5, width: 1 }), 0).values;
    [1, 2, 4, 8, 16].forEach((value, i) => expect(log[i]).toBeCloseTo(value, 12));
  });

  test.each(["sinh", "tanh"] as const)("%s: dense about their points", (kind) => {
    const { values } = axisMesh(describeMesh({ density: kind, points: [point(100), point(150)] }), 0);
    const spacing = steps(values);
    const at = (S: number): number => spacing[values.findIndex((node) => node >= S) - 1];
    expect(Math.max(at(100), at(150))).toBeLessThan(0.6 * at(300));
    expect(spacing.every((step) => step > 0)).toBe(true);
    expect([values[0], values[100]]).toEqual([0, 400]);
  });

  test.each(["uniform", "sinh", "tanh"] as const)("%s: points are nodes, of even number, or midway", (kind) => {
    for (const coordinate of ["linear", "log"] as const) {
      const points = [point(90), point(103.7, "midway"), point(130)];
      const width = coordinate === "log" ? 0.2 : 20;
      const { values, coordinates } = axisMesh(describeMesh({ from: 20, density: kind, coordinate, points, width }), 0);
      for (const at of [90, 130]) expect(values.indexOf(at) % 2).toBe(0);
      const above = values.findIndex((node) => node > 103.7);
      const x = coordinate === "log" ? Math.log(103.7) : 103.7;
      expect(coordinates[above] - x).toBeCloseTo(x - coordinates[above - 1], 12);
    }
  });

  test("every second node is the coarser mesh, where points are nodes", () => {
    const description = describeMesh({ points: [point(100), point(137.5)] });
    const [fine, coarse] = [axisMesh(description, 0), axisMesh(description, 1)];
    expect(coarse.values.length).toBe(51);
    coarse.values.forEach((node, i) => expect(node).toBeCloseTo(fine.values[2 * i], 9));
  });

  test("neighbouring steps differ by O(h²), alignment or not", () => {
    const jump = (nodes: number): number => {
      const spacing = steps(axisMesh(describeMesh({ nodes, points: [point(100), point(123.4, "midway")] }), 0).values);
      return Math.max(...spacing.slice(1).map((step, i) => Math.abs(step - spacing[i])));
    };
    const [coarse, fine] = [jump(201), jump(801)];
    expect(Math.log2(coarse / fine) / 2).toBeGreaterThan(1.6);
  });

  test("a point at an end is the end; one outside alignment stays where it is", () => {
    const { values } = axisMesh(describeMesh({ points: [point(0), point(400), point(99.9, "none")] }), 0);
    expect([values[0], values[100]]).toEqual([0, 400]);
    expect(values.includes(99.9)).toBe(false);
  });

  test("points closer than nodes cannot both be aligned, and the error says which", () => {
    const points = [point(100), point(100.01)];
    expect(() => axisMesh(describeMesh({ points, nodes: 41 }), 0)).toThrow(
      /at 100.01: closer .* more nodes, or align: "none"/,
    );
  });

  test("alignment goes through its targets and keeps the ends", () => {
    const place = alignment(
      [
        { index: 3.3, align: "node", path: "p" },
        { index: 7.1, align: "midway", path: "q" },
      ],
      12,
      2,
    );
    expect([0, 4, 7.5, 12].map(place)).toEqual([0, 3.3, 7.1, 12]);
  });
});
