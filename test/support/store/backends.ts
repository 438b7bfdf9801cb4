/** Starts the stores for tests. To test another store, add its program here; suites over all stores derive from it. */
import { longName, propertyOf } from '../../../src/base/flag.ts';
import { type StoreName, type StoreSettings, storeDriver, storeDrivers } from '../../../src/store/drivers.ts';
import { etcdMissing, TestEtcd } from '../etcd.ts';

interface BackendType {
  /** Why the store cannot be tested on this machine; undefined: it can. */
  missing(): string | undefined;
  start(): Promise<Backend>;
}

/** Storage of a store on this machine. */
export interface Backend {
  readonly settings: StoreSettings;
  /** Kills the program that keeps the data, if there is one, and starts it again. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  remove(): Promise<void>;
}

/** Backend of stores that live in the data directory or in the process. */
const nothing: BackendType = {
  missing: () => undefined,
  start: async () => ({ settings: {}, async kill() {}, async restart() {}, async remove() {} }),
};

const backends: Readonly<Record<StoreName, BackendType>> = {
  embedded: nothing,
  memory: nothing,
  etcd: {
    missing: etcdMissing,
    async start() {
      const etcd = await TestEtcd.start();
      return {
        settings: { etcdServers: [etcd.endpoint] },
        kill: () => etcd.kill(),
        restart: () => etcd.start(),
        remove: () => etcd.remove(),
      };
    },
  },
};

export const durableStores: readonly StoreName[] = storeDrivers
  .filter(({ durable }) => durable)
  .map(({ name }) => name);

export function backendMissing(store: StoreName): string | undefined {
  return backends[store].missing();
}

export function startBackend(store: StoreName): Promise<Backend> {
  return backends[store].start();
}

/** The arguments of `qd up` for a store. */
export function storeArguments(store: StoreName, settings: StoreSettings): string[] {
  const given = storeDriver(store).flags.flatMap((flag) => {
    const value = settings[propertyOf(flag) as keyof StoreSettings];
    return value === undefined ? [] : [longName(flag), String(value)];
  });
  return ['--store', store, ...given];
}
