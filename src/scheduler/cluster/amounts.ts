/** Converts quantities to numbers, with a cache: processors in millicores, all else in whole units, rounded up. */
import { parseQuantity, scaled } from '../../base/quantity.ts';

const MAX_CACHED = 4096;

export const thousandths = remembered(3);
export const units = remembered(0);

function remembered(shift: number): (text: string) => number {
  const known = new Map<string, number>();
  return (text) => {
    let found = known.get(text);
    if (found === undefined) {
      found = Number(scaled(parseQuantity(text), shift));
      if (known.size >= MAX_CACHED) known.clear();
      known.set(text, found);
    }
    return found;
  };
}
