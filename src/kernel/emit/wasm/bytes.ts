/** A growing run of bytes, with WebAssembly's encodings: LEB128 integers, little-endian floats. */
const scratch = new DataView(new ArrayBuffer(8));
const utf8 = new TextEncoder();

export class Bytes {
  length = 0;
  private data = new Uint8Array(256);

  push(byte: number): void {
    if (this.length === this.data.length) this.reserve(1);
    this.data[this.length++] = byte;
  }

  unsigned(value: number): void {
    let rest = value >>> 0;
    while (rest >= 0x80) {
      this.push((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    this.push(rest);
  }

  signed(value: number): void {
    let rest = value | 0;
    for (;;) {
      const low = rest & 0x7f;
      rest >>= 7;
      if ((rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0)) return this.push(low);
      this.push(low | 0x80);
    }
  }

  float32(value: number): void {
    scratch.setFloat32(0, value, true);
    for (let i = 0; i < 4; i++) this.push(scratch.getUint8(i));
  }

  float64(value: number): void {
    scratch.setFloat64(0, value, true);
    for (let i = 0; i < 8; i++) this.push(scratch.getUint8(i));
  }

  text(value: string): void {
    const encoded = utf8.encode(value);
    this.unsigned(encoded.length);
    this.append(encoded);
  }

  append(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.data.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** What was written, not copied. */
  view(): Uint8Array<ArrayBuffer> {
    return this.data.subarray(0, this.length);
  }

  private reserve(more: number): void {
    if (this.length + more <= this.data.length) return;
    const data = new Uint8Array(Math.max(2 * this.data.length, this.length + more));
    data.set(this.view());
    this.data = data;
  }
}
