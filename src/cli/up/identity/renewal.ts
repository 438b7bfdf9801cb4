/** Renews the keys and certificates of a running cluster: before they expire, and at once when they were rotated. */
import { storeDriver } from '../../../store/drivers.ts';
import type { Store } from '../../../store/index.ts';
import type { Pki } from '../../pki/pki.ts';
import { keepRenewed } from '../../pki/renewal.ts';
import { watchSharedKeys } from '../../pki/shared-keys.ts';
import { ROTATED_SIGNAL } from '../../process/signals.ts';
import type { StartContext } from '../context.ts';
import { openCertificates } from './certificates.ts';

export interface CertificateRenewalOptions {
  readonly pki: Pki;
  readonly store: Store;
  /** Takes changed keys and certificates into use. */
  readonly apply: (pki: Pki) => Promise<void>;
}

/** `qd certs` announces a rotation by a signal; servers on a shared store see it in the store. */
export function renewCertificates(context: StartContext, { pki, store, apply }: CertificateRenewalOptions): void {
  const { settings, cleanup, machineClock: clock, log } = context;
  const renewal = keepRenewed({ pki, open: () => openCertificates(context, store), apply, clock, log });
  const check = () => void renewal.check();
  process.on(ROTATED_SIGNAL, check);
  const stop = new AbortController();
  if (storeDriver(settings.store).shared) watchSharedKeys(store, { clock, log, signal: stop.signal }, check);
  cleanup.add(async () => {
    process.off(ROTATED_SIGNAL, check);
    stop.abort();
    await renewal.stop();
  });
}
