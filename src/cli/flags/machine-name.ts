import { hostname } from 'node:os';

const FALLBACK = 'machine';

/** The name of this machine, as a node can have it. */
export function machineName(name: string = hostname()): string {
  const labels = name.toLowerCase().split('.');
  const allowed = labels.map((label) => label.replace(/[^a-z0-9-]+/g, '-').replace(/^-+|-+$/g, ''));
  return allowed.filter((label) => label !== '').join('.') || FALLBACK;
}
