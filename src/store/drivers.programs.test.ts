import { mkdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Backend, backendMissing, startBackend } from '../../test/support/store/backends.ts';
import { scratchDirectories } from '../../test/support/store-directories.ts';
import { longName } from '../base/flag.ts';
import { systemClock } from '../base/time/clock.ts';
import { storeDrivers, storeNames } from './drivers.ts';
import type { Store } from './store.ts';

const scratch = await scratchDirectories();
const KEY = '/registry/core/configmaps/default/a';

it('names and flags of stores are unique', () => {
  expect(new Set(storeNames).size).toBe(storeNames.length);
  const flags = storeDrivers.flatMap((driver) => driver.flags.map(longName));
  expect(new Set(flags).size).toBe(flags.length);
});

describe.each(storeDrivers)('$name: the driver describes the store correctly', (driver) => {
  const missing = backendMissing(driver.name);
  if (missing) console.warn(missing);
  let backend: Backend;
  let directory: string;
  const context = () => ({ directory, clock: systemClock });
  const open = () => driver.open(backend.settings, context());
  const write = (store: Store, value: string) => store.commit([{ key: KEY, value: Buffer.from(value) }]);
  const read = async (store: Store) => (await store.get(KEY))?.value.toString();

  beforeAll(async () => {
    if (missing) return;
    backend = await startBackend(driver.name);
    directory = scratch();
    await mkdir(directory);
  });
  afterAll(() => backend?.remove());

  it.skipIf(missing)('durable', async () => {
    driver.check(backend.settings);
    const first = await open();
    await write(first, 'one');
    await first.close();
    const second = await open();
    expect(await read(second)).toBe(driver.durable ? 'one' : undefined);
    await second.close();
  });

  it.skipIf(missing)('shared and exclusive', async () => {
    const first = await open();
    await write(first, 'two');
    const second = await open().catch((error: Error) => error);
    if (second instanceof Error) {
      expect(second.message).toContain(`in use by process ${process.pid}`);
      expect(driver).toMatchObject({ shared: false, exclusive: true });
    } else {
      expect(await read(second)).toBe(driver.shared ? 'two' : undefined);
      expect(driver.exclusive).toBe(!driver.shared);
      await second.close();
    }
    await first.close();
  });

  it.skipIf(missing || !driver.inspect)('its values can be read while a server uses it', async () => {
    const store = await open();
    await write(store, 'three');
    await write(store, 'four');
    const values = await driver.inspect!(backend.settings, context());
    const newest: string[] = [];
    await values.visit(({ key, value, isNewest }) => {
      if (key === KEY && isNewest) newest.push(value.toString());
    });
    await values.forgetUnreadableHistory();
    await values.close();
    expect(newest).toEqual(['four']);
    expect(await read(store)).toBe('four');
    await store.close();
  });
});
