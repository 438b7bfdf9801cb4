import type { Labels } from '../objects.ts';

export function sameLabels(a: Labels = {}, b: Labels = {}): boolean {
  if (a === b) return true;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
