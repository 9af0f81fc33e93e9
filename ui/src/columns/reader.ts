// Numbers of variable length (LEB128) in a part of some bytes.

export class Reader {
  /** Reads bytes from `at` to before `end`. `name` is for people. */
  constructor(
    private readonly bytes: Uint8Array,
    private readonly name: string,
    private at = 0,
    private readonly end = bytes.length,
  ) {}

  /** Reads the next number. It is exact up to 2^53. */
  number(): number {
    const { bytes, end } = this;
    if (this.at < end && bytes[this.at] < 128) return bytes[this.at++];
    let value = 0;
    for (let factor = 1; this.at < end && factor < 2 ** 64; factor *= 128) {
      const byte = bytes[this.at++];
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    throw this.damaged();
  }

  /** Returns the next bytes without a copy. */
  take(length: number): Uint8Array {
    if (length > this.end - this.at) throw this.damaged();
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  /** Returns a reader of the next bytes. */
  part(length: number, name: string): Reader {
    this.take(length);
    return new Reader(this.bytes, name, this.at - length, this.at);
  }

  /** Returns another reader of the same rest. */
  again(): Reader {
    return new Reader(this.bytes, this.name, this.at, this.end);
  }

  /** Refuses more elements of at least `least` bytes than the rest can hold. */
  holds(count: number, least: number): void {
    if (count * least > this.end - this.at) throw this.damaged();
  }

  isAtEnd(): boolean {
    return this.at === this.end;
  }

  finish(): void {
    if (!this.isAtEnd()) throw this.damaged();
  }

  damaged(): Error {
    return new Error(`the column “${this.name}” is damaged`);
  }
}
