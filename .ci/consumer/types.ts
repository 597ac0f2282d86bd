// Type-checked against the packed declarations, strictly and with no other types installed.
import type { openDevice, parseBook, priceBook } from "feynkac";
import type { Device } from "feynkac/device";
import type { Kernel } from "feynkac/kernel";

export type Uses = [Device, Kernel, typeof openDevice, typeof parseBook, typeof priceBook];
