import type { Logger } from '../../base/log.ts';
import type { Front } from './fronts.ts';

/** An address that is not of this machine cannot be served; node ports can. */
export function reportNotListening(log: Logger, { host, port, protocol }: Front, error: unknown): void {
  const { code } = error as NodeJS.ErrnoException;
  const fields = { address: host, port, protocol, code };
  if (code === 'EADDRNOTAVAIL') log.debug('an address of a service is not of this machine', fields);
  else log.warn('an address of a service cannot be listened on', fields);
}
