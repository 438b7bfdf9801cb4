import type { SeenContainer } from '../pod/container-run.ts';

/** Returns the number of a port that is named, or given as a number. Throws for a name that the container does not have. */
export function portOf(port: number | string | undefined, container: SeenContainer): number {
  const number = typeof port === 'number' ? port : named(port ?? '', container);
  if (number > 0 && number < 65_536) return number;
  throw new Error(`invalid port number: ${number}`);
}

function named(port: string, { ports }: SeenContainer): number {
  if (/^\d+$/.test(port)) return Number(port);
  const found = ports?.find(({ name }) => name === port);
  if (!found) throw new Error(`couldn't find port: ${port} in container ports`);
  return found.containerPort;
}
