/** A growing sequence of bytes with WebAssembly's encodings: LEB128 integers and little-endian floats. */
const scratch = new DataView(new ArrayBuffer(8));
const utf8 = new TextEncoder();

/** A growing buffer of bytes, from which a WebAssembly module is assembled. */
export class Bytes {
  /** Plain numbers: typed arrays cost more while the code that fills them is still interpreted. */
  private readonly data: number[] = [];

  get length(): number {
    return this.data.length;
  }

  push(byte: number): void {
    this.data.push(byte);
  }

  unsigned(value: number): void {
    let rest = value >>> 0;
    while (rest >= 0x80) {
      this.data.push((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    this.data.push(rest);
  }

  signed(value: number): void {
    let rest = value | 0;
    for (;;) {
      const low = rest & 0x7f;
      rest >>= 7;
      if ((rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0)) return void this.data.push(low);
      this.data.push(low | 0x80);
    }
  }

  float32(value: number): void {
    scratch.setFloat32(0, value, true);
    for (let i = 0; i < 4; i++) this.data.push(scratch.getUint8(i));
  }

  float64(value: number): void {
    scratch.setFloat64(0, value, true);
    for (let i = 0; i < 8; i++) this.data.push(scratch.getUint8(i));
  }

  /** Appends a 32-bit integer, lowest byte first. */
  word(value: number): void {
    this.data.push(value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, value >>> 24);
  }

  text(value: string): void {
    const encoded = utf8.encode(value);
    this.unsigned(encoded.length);
    for (const byte of encoded) this.data.push(byte);
  }

  append({ data }: Bytes): void {
    for (const byte of data) this.data.push(byte);
  }

  toArray(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.data);
  }
}

/** Returns the concatenation of arrays of bytes. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
