/** Whether a JSON text has more fields, list items, objects and lists than a limit: counts colons, commas and opening brackets. */
export function hasMoreParts(json: Buffer, limit: number): boolean {
  const end = json.length;
  let parts = 0;
  for (let i = 0; i < end && parts <= limit; i++) {
    switch (json[i]) {
      case 0x22:
        for (i++; i < end; i++) {
          const inside = json[i];
          if (inside === 0x22) break;
          if (inside === 0x5c) i++;
        }
        break;
      case 0x2c:
      case 0x3a:
      case 0x5b:
      case 0x7b:
        parts++;
    }
  }
  return parts > limit;
}
