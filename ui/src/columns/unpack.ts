// Text of the page's element `columns` (base64 of gzip) into columns, alone or in the body of `profile.json`. It runs in
// a worker, or on the page if the browser has no workers here.

import type { ProfileData } from "../wire.ts";
import { type Columns, decodeColumns } from "./decode.ts";

/** The browser cannot decompress. Chrome 80, Firefox 113 and Safari 16.4 can. */
export class TooOld extends Error {}

/** The text of columns, or the body of `profile.json`. */
export type Question = string | ArrayBuffer;

/** The columns; with a body, also the other fields of `profile.json`. */
export interface Unpacked {
  columns: Columns;
  window?: Window;
}

/** A part of a recording that goes on: its number, which grows, and its profile. */
export interface Window {
  number: number;
  profile: ProfileData;
}

/** The answer of the worker. */
export type Answer = Unpacked | { problem: string };

export async function read(question: Question): Promise<Unpacked> {
  if (typeof question === "string") return { columns: await unpack(question) };
  const { columns, ...window } = JSON.parse(new TextDecoder().decode(question)) as Window & { columns: string };
  return { columns: await unpack(columns), window };
}

export async function unpack(text: string): Promise<Columns> {
  if (typeof DecompressionStream === "undefined") throw new TooOld("this browser is too old to decompress gzip");
  const packed = new Blob([bytesOf(text)]).stream();
  const bytes = await new Response(packed.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  return decodeColumns(new Uint8Array(bytes));
}

/** Returns the memory that can move to another thread without a copy. */
export function buffersOf({ classes, stacks, records }: Columns): ArrayBuffer[] {
  const arrays = [classes, ...Object.values(stacks), ...stacks.sides, ...Object.values(records)].filter(ArrayBuffer.isView);
  return [...new Set(arrays.map(({ buffer }) => buffer as ArrayBuffer))];
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const direct = Uint8Array as unknown as { fromBase64?(text: string): Uint8Array<ArrayBuffer> };
  if (direct.fromBase64) return direct.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}
