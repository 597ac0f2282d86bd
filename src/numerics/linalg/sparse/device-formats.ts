/** Conversions from compressed rows to other formats on a device. */
import type { DeviceBuffer } from "../../../device/index.ts";
import { hostRealType, i32, kernel, read, real, write } from "../../../kernel/index.ts";
import { checkStoredEntries } from "./convert.ts";
import type { DeviceRows } from "./device-rows.ts";
import { pitchOf } from "./formats.ts";
import { compileFor, rowParams, type ComputeTarget } from "./product.ts";
import { exclusiveScan } from "./scan.ts";

/** Entries beyond the first `skipped` of each row as coordinates. */
const fillCoordinates = kernel({
  name: "fillCoordinates",
  params: {
    ...rowParams,
    skipped: i32,
    places: read(i32),
    toRow: write(i32),
    toColumn: write(i32),
    toValues: write(real),
  },
  body({ starts, column, values, skipped, places, toRow, toColumn, toValues }, gpu) {
    const i = gpu.globalId();
    let at = places[i];
    for (let k = starts[i] + skipped; k < starts[i + 1]; k++) {
      toRow[at] = i;
      toColumn[at] = column[k];
      toValues[at] = values[k];
      at++;
    }
  },
});

const countBeyond = kernel({
  name: "countBeyond",
  params: { starts: read(i32), skipped: i32, counts: write(i32) },
  body({ starts, skipped, counts }, gpu) {
    const i = gpu.globalId();
    counts[i] = Math.max(0, starts[i + 1] - starts[i] - skipped);
  },
});

/**
 * Converts compressed rows on a device to coordinates. @param skipped the number of first entries of each row that are
 * left out
 */
export async function cooFromRows(setting: ComputeTarget, rows: number, from: DeviceRows, skipped: number) {
  const { device, precision } = setting;
  const { starts } = from;
  using counts = device.createBuffer("i32", rows);
  device.launch(await compileFor(setting, countBeyond), { starts, skipped, counts }, { items: rows });
  using places = await exclusiveScan(setting, counts);
  const [entries] = await device.read(places, rows, 1);
  const toRow = device.createBuffer("i32", entries);
  const toColumn = device.createBuffer("i32", entries);
  const toValues = device.createBuffer(hostRealType(precision), entries);
  const args = { ...from, skipped, places, toRow, toColumn, toValues };
  device.launch(await compileFor(setting, fillCoordinates), args, { items: rows });
  return { row: toRow, column: toColumn, values: toValues };
}

const fillEll = kernel({
  name: "fillEll",
  params: { ...rowParams, rows: i32, width: i32, pitch: i32, index: write(i32), places: write(real) },
  body({ starts, column, values, rows, width, pitch, index, places }, gpu) {
    const i = gpu.globalId();
    let start = 0;
    let count = 0;
    if (i < rows) {
      start = starts[i];
      count = starts[i + 1] - start;
    }
    for (let k = 0; k < width; k++) {
      index[k * pitch + i] = -1;
      if (k < count) {
        index[k * pitch + i] = column[start + k];
        places[k * pitch + i] = values[start + k];
      }
    }
  },
});

/** Converts the first `width` entries of each compressed row on a device to ELL. */
export async function ellFromRows(setting: ComputeTarget, rows: number, from: DeviceRows, width: number) {
  const { device, precision } = setting;
  const pitch = pitchOf(rows);
  const index = device.createBuffer("i32", width * pitch);
  const places = device.createBuffer(hostRealType(precision), width * pitch);
  device.launch(await compileFor(setting, fillEll), { ...from, rows, width, pitch, index, places }, { items: pitch });
  return { pitch, slots: width, index, values: places };
}

/** Marks the diagonals that have an entry; diagonal j − i is at place j − i + rows − 1. */
const markDiagonals = kernel({
  name: "markDiagonals",
  params: { rows: i32, starts: read(i32), column: read(i32), marks: write(i32) },
  body({ rows, starts, column, marks }, gpu) {
    const i = gpu.globalId();
    for (let k = starts[i]; k < starts[i + 1]; k++) gpu.atomicOr(marks, column[k] - i + rows - 1, 1);
  },
});

const listDiagonals = kernel({
  name: "listDiagonals",
  params: { rows: i32, slots: read(i32), offsets: write(i32) },
  body({ rows, slots, offsets }, gpu) {
    const d = gpu.globalId();
    if (slots[d + 1] > slots[d]) offsets[slots[d]] = d - rows + 1;
  },
});

const fillDiagonals = kernel({
  name: "fillDiagonals",
  params: { ...rowParams, rows: i32, pitch: i32, slots: read(i32), places: write(real) },
  body({ starts, column, values, rows, pitch, slots, places }, gpu) {
    const i = gpu.globalId();
    for (let k = starts[i]; k < starts[i + 1]; k++) places[slots[column[k] - i + rows - 1] * pitch + i] = values[k];
  },
});

/** Converts compressed rows on a device to diagonals. @throws SpecError (more than `maxPlaces` stored entries) */
export async function diaFromRows(
  setting: ComputeTarget,
  rows: number,
  columns: number,
  from: DeviceRows,
  maxPlaces: number,
): Promise<{ pitch: number; slots: number; index: DeviceBuffer<"i32">; values: DeviceBuffer<"f64" | "f32"> }> {
  const { device, precision } = setting;
  const { starts, column } = from;
  const diagonals = Math.max(0, rows + columns - 1);
  using marks = device.createBuffer("i32", diagonals);
  device.launch(await compileFor(setting, markDiagonals), { rows, starts, column, marks }, { items: rows });
  using slots = await exclusiveScan(setting, marks);
  const [count] = await device.read(slots, diagonals, 1);
  const pitch = pitchOf(rows);
  checkStoredEntries("dia", count * pitch, maxPlaces);
  const offsets = device.createBuffer("i32", count);
  const places = device.createBuffer(hostRealType(precision), count * pitch);
  device.launch(await compileFor(setting, listDiagonals), { rows, slots, offsets }, { items: diagonals });
  device.launch(await compileFor(setting, fillDiagonals), { ...from, rows, pitch, slots, places }, { items: rows });
  return { pitch, slots: count, index: offsets, values: places };
}
