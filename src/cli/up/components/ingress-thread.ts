/** The proxy of Ingresses, in a thread of its own where the machine has two processors. */
import { availableParallelism } from 'node:os';
import type { Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { EMPTY_CONFIG } from '../../../network/ingress/config.ts';
import { IngressProxy } from '../../../network/ingress/proxy.ts';
import { proxyInThread, type RemoteIngressProxy } from '../../../network/ingress/thread.ts';
import { machineGuard } from '../../process/machine-guard.ts';
import { startThread } from './lasting-thread.ts';

/** Defined by the build; absent when the sources run directly. */
declare const INGRESS_NAME: string | undefined;

interface Tools {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** What decides where backends may lead to. */
type Dialing = NonNullable<Parameters<typeof machineGuard>[0]>;

/** Of the thread: bodies are streamed, and the rules of 5,000 Ingresses take less than a tenth. */
const MAX_HEAP_MB = 256;

type Listener = Parameters<RemoteIngressProxy['listen']>;

/** A thread that replaces another one has the same ports and rules. */
export async function openIngressProxy(tools: Tools, { allowedDialRanges }: Dialing): Promise<RemoteIngressProxy> {
  if (typeof INGRESS_NAME === 'undefined' || availableParallelism() < 2) {
    return new IngressProxy({ ...tools, guard: machineGuard({ allowedDialRanges }) });
  }
  const listeners: Listener[] = [];
  let config = EMPTY_CONFIG;
  let current: RemoteIngressProxy;
  /** A thread that ends meanwhile is replaced by one that gets the rules. */
  const use = async (proxy: RemoteIngressProxy) => {
    try {
      await proxy.use(config);
    } catch (error) {
      tools.log.debug('the ingress thread ended before it had the rules', { error });
    }
  };
  const thread = await startThread({
    ...{ ...tools, file: INGRESS_NAME, maxHeapMb: MAX_HEAP_MB, data: { allowedDialRanges } },
    async open(worker) {
      const proxy = proxyInThread(worker, tools);
      for (const listener of listeners) await proxy.listen(...listener);
      await proxy.use(config);
      return proxy;
    },
    onRestart(proxy) {
      current = proxy;
      // It may have changed while the thread started.
      void use(proxy);
    },
  });
  current = thread.opened;
  return {
    use(next) {
      config = next;
      return use(current);
    },
    async listen(protocol, address, port) {
      const bound = await current.listen(protocol, address, port);
      listeners.push([protocol, address, bound]);
      return bound;
    },
    close: () => thread.close(),
  };
}
