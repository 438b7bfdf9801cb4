/** A running cluster's certificates: renewed before their end, and at once when `qd certs rotate` says so by a signal. */
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import type { HttpServer } from '../../../server/http/server.ts';
import type { Pki } from '../../pki/pki.ts';
import { keepRenewed } from '../../pki/renewal.ts';
import type { Cleanup } from '../../process/cleanup.ts';

/** Tells a running cluster to look at its certificates again. */
export const ROTATED = 'SIGUSR2';

export interface RenewingOptions {
  readonly pki: Pki;
  readonly open: () => Promise<Pki>;
  readonly http: HttpServer;
  /** Writes the admin's access where it belongs. */
  readonly publish: (pki: Pki) => Promise<unknown>;
  readonly cleanup: Cleanup;
  readonly clock: Clock;
  readonly log: Logger;
}

export function renewing({ http, publish, cleanup, ...options }: RenewingOptions): void {
  const renewal = keepRenewed({
    ...options,
    async apply(pki) {
      http.renew({ key: pki.serving.key, cert: pki.serving.certificate });
      await publish(pki);
    },
  });
  const onSignal = () => void renewal.check();
  process.on(ROTATED, onSignal);
  cleanup.add(async () => {
    process.off(ROTATED, onSignal);
    renewal.stop();
  });
}
