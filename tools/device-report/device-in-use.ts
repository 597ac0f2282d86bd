/**
 * A device under test. One that is lost is opened again, so that what one family did to it does not fail the others.
 */
import type { Device } from "../../src/device/device.ts";
import { messageOf, open, type Opened } from "./devices.ts";
import type { Row } from "./run.ts";

export class DeviceInUse implements Disposable {
  opened: Opened;
  #lost = false;
  #hangs = false;

  constructor(opened: Opened) {
    this.opened = opened;
    this.#watchLoss();
  }

  /** The device, opened again where it was lost; as it is where that fails, so that its cases fail and say why. */
  async usable(): Promise<Device> {
    if (this.#lost && !this.#hangs) await this.#reopen();
    return this.opened.device;
  }

  /**
   * Remembers that a row came from a device that no longer answers: to wait for it again, or to dispose it, may take
   * forever.
   */
  watch(row: Row): Row {
    this.#hangs ||= row.hangs;
    return row;
  }

  [Symbol.dispose](): void {
    if (!this.#hangs && this.opened.backend !== "cpu") this.opened.device[Symbol.dispose]();
  }

  async #reopen(): Promise<void> {
    try {
      const again = await open(this.opened.backend);
      this.opened.device[Symbol.dispose]();
      this.opened = again;
      this.#lost = false;
      this.#watchLoss();
    } catch (error) {
      console.error(`${this.opened.name}: lost, and does not open again: ${messageOf(error)}`);
    }
  }

  #watchLoss(): void {
    const { device } = this.opened;
    void device.lost.then(() => (this.#lost ||= device === this.opened.device));
  }
}
