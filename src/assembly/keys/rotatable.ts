import { FlagError } from '../../base/flag.ts';

/** Keys and certificates that `qd certs rotate` can replace. */
export const rotatable = ['serving', 'admin', 'service-account-key', 'authority', 'front-proxy'] as const;
export type Rotatable = (typeof rotatable)[number];

/** Reports whether all servers of a cluster share this key or certificate. */
export function isSharedBetweenServers(what: Rotatable): boolean {
  return what === 'authority' || what === 'service-account-key' || what === 'front-proxy';
}

export function parseRotatable(text: string): Rotatable {
  const found = rotatable.find((each) => each === text);
  if (!found) throw new FlagError(`It must be one of ${rotatable.join(', ')}.`);
  return found;
}
