/** A device that compiles with a target's `fma`, for callers that leave it to the device. */
import type { Device } from "../../src/device/device.ts";
import type { Target } from "./check.ts";

const made = new WeakMap<Device, Device>();

export function compiledAs({ device, fma }: Target): Device {
  if (fma === "contract") return device;
  const known = made.get(device);
  if (known !== undefined) return known;
  // Methods are called on the device itself, whose private parts a proxy has not.
  const wrapped = new Proxy(device, {
    get(target, name) {
      if (name === "compile")
        return (...[kernel, options]: Parameters<Device["compile"]>) => target.compile(kernel, { ...options, fma });
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value as () => unknown).bind(target) : value;
    },
  });
  made.set(device, wrapped);
  return wrapped;
}
