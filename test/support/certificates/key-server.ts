/** A server as far as keys and certificates go: it opens them, and renews them while it runs. */
import { agentClientIdentity } from '../../../src/assembly/keys/agent-client.ts';
import { openCertificates } from '../../../src/assembly/keys/certificates.ts';
import { keepRenewed } from '../../../src/assembly/keys/renewal.ts';
import { SHARED_KEYS } from '../../../src/assembly/keys/shared-keys.ts';
import { watchKey } from '../../../src/assembly/store/watch-key.ts';
import { silent } from '../../../src/base/log.ts';
import { systemRandom } from '../../../src/base/random.ts';
import type { ControlledClock } from '../../../src/base/time/clock.ts';
import type { MemoryStore } from '../../../src/store/memory/memory-store.ts';

export interface KeyServerOptions {
  /** The data directory. */
  readonly directory: string;
  readonly store: MemoryStore;
  readonly clock: ControlledClock;
  /** True for one of several servers on the store. */
  readonly isShared: boolean;
}

/** A server that runs: its keys are those that it uses now. */
export async function startKeyServer({ directory, store, clock, isShared }: KeyServerOptions) {
  const api = { bindAddress: '127.0.0.1', port: 6443, serviceClusterIpRange: '10.96.0.0/16' };
  const options = {
    ...{ clock, machineClock: clock, random: systemRandom, log: silent, store, isShared },
    ...{
      directory,
      api: { ...api, clusterDomain: 'cluster.local', tlsSan: [], forPods: false },
    },
  };
  const failures: unknown[] = [];
  let pki = await openCertificates(options);
  let working: Promise<unknown> = Promise.resolve();
  const renewal = keepRenewed({
    ...{ pki, clock, log: { ...silent, error: (_message, fields) => failures.push(fields?.error) } },
    open: () => {
      const opening = openCertificates(options);
      working = opening;
      return opening;
    },
    apply: async (next) => {
      pki = next;
    },
  });
  const stop = new AbortController();
  // As renewCertificates does.
  const onChange = () => void renewal.check();
  if (isShared) watchKey(store, SHARED_KEYS, { clock, log: silent, signal: stop.signal, onChange });
  return {
    pki: () => pki,
    agentClient: agentClientIdentity(() => pki, options),
    failures,
    settled: async () => {
      await working;
      await new Promise(setImmediate);
    },
    stop() {
      stop.abort();
      return renewal.stop();
    },
  };
}
