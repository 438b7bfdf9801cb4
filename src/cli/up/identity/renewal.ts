/** Renews the certificates of a running cluster before they expire, and at once when `qd certs rotate` signals it. */
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import type { HttpServer } from '../../../server/http/server.ts';
import type { Pki } from '../../pki/pki.ts';
import { keepRenewed } from '../../pki/renewal.ts';
import type { Cleanup } from '../../process/cleanup.ts';
import { ROTATED_SIGNAL } from '../../process/signals.ts';

export interface RenewalOptions {
  readonly pki: Pki;
  readonly open: () => Promise<Pki>;
  readonly http: HttpServer;
  /** Writes the administrator's kubeconfig. */
  readonly publish: (pki: Pki) => Promise<unknown>;
  readonly cleanup: Cleanup;
  readonly clock: Clock;
  readonly log: Logger;
}

export function renewCertificates({ http, publish, cleanup, ...options }: RenewalOptions): void {
  const renewal = keepRenewed({
    ...options,
    async apply(pki) {
      http.renew({ key: pki.serving.key, cert: pki.serving.certificate });
      await publish(pki);
    },
  });
  const onSignal = () => void renewal.check();
  process.on(ROTATED_SIGNAL, onSignal);
  cleanup.add(async () => {
    process.off(ROTATED_SIGNAL, onSignal);
    renewal.stop();
  });
}
