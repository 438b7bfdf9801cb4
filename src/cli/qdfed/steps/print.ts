import { stringify } from 'yaml';
import type { ObjectToCreate } from '../../../federation/tool/control-plane.ts';

/** Prints objects as YAML documents. */
export function printObjects(objects: readonly ObjectToCreate[]): void {
  process.stdout.write(objects.map(({ object }) => stringify(object, { lineWidth: 0 })).join('---\n'));
}
