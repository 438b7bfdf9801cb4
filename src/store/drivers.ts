/** All store drivers. To add one, write its driver and list it here. */
import type { Flag, ValuesOf } from '../base/flag.ts';
import type { StoreDriver } from './driver.ts';
import { embeddedDriver } from './embedded/driver.ts';
import { etcdDriver } from './etcd/driver.ts';
import { memoryDriver } from './memory/driver.ts';

/** The first driver is the default. */
const drivers = [embeddedDriver, etcdDriver, memoryDriver] as const;

export type StoreName = (typeof drivers)[number]['name'];

/** Settings of all drivers; a driver reads its own. */
export type StoreSettings = ValuesOf<(typeof drivers)[number]['flags']>;

/** A driver that can be used with the settings of all drivers. */
export type AnyStoreDriver = StoreDriver<StoreName, readonly Flag[], StoreSettings>;

export const storeDrivers: readonly AnyStoreDriver[] = drivers;
export const storeNames: readonly StoreName[] = drivers.map(({ name }) => name);
export const storeDriverFlags = drivers.flatMap(({ flags }) => [...flags]);
export const defaultStore: StoreName = drivers[0].name;

export function storeDriver(name: StoreName): AnyStoreDriver {
  const found = storeDrivers.find((driver) => driver.name === name);
  if (!found) throw new Error(`there is no store "${name}"; it must be one of ${storeNames.join(', ')}`);
  return found;
}
