/** Puts instructions one after the other, and fills in the distances between them. */

export type Part =
  | { readonly label: string }
  | { readonly bytes: number; encode(distanceTo: (label: string) => number): Uint8Array };

/** A distance is counted from the beginning of the instruction that asks for it. */
export function assemble(parts: readonly Part[]): Buffer {
  const labels = new Map<string, number>();
  let size = 0;
  for (const part of parts) {
    if ('label' in part) labels.set(part.label, size);
    else size += part.bytes;
  }
  let at = 0;
  const code = parts.flatMap((part) => {
    if ('label' in part) return [];
    const encoded = part.encode((label) => labels.get(label)! - at);
    at += part.bytes;
    return [encoded];
  });
  return Buffer.concat(code, size);
}

export function literal(...bytes: number[]): Part {
  return { bytes: bytes.length, encode: () => Uint8Array.from(bytes) };
}
