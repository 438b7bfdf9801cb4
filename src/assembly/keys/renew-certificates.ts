/** Renews the keys and certificates of a running cluster: before they expire, and at once when they were rotated. */
import type { Environment } from '../context.ts';
import { watchKey } from '../store/watch-key.ts';
import { type CertificateOptions, openCertificates } from './certificates.ts';
import type { Pki } from './pki.ts';
import { keepRenewed } from './renewal.ts';
import { SHARED_KEYS } from './shared-keys.ts';

export interface CertificateRenewalOptions extends CertificateOptions, Environment {
  readonly pki: Pki;
  /** Takes changed keys and certificates into use. */
  readonly apply: (pki: Pki) => Promise<void>;
}

/** A rotation is announced in this process; servers on a shared store see it in the store. */
export function renewCertificates(options: CertificateRenewalOptions): void {
  const { pki, apply, store, isShared, cleanup, machineClock: clock, log, onRotated } = options;
  const renewal = keepRenewed({ pki, open: () => openCertificates(options), apply, clock, log });
  const check = () => void renewal.check();
  const stopListening = onRotated(check);
  const stop = new AbortController();
  if (isShared) watchKey(store, SHARED_KEYS, { clock, log, signal: stop.signal, onChange: check });
  cleanup.add(async () => {
    stopListening();
    stop.abort();
    await renewal.stop();
  });
}
