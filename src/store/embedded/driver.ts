import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from '../../base/files/own/files.ts';
import { moveAside } from '../../base/files/own/move-aside.ts';
import { defineStore } from '../driver.ts';

const pathIn = (directory: string) => join(directory, 'store');

export const embeddedDriver = defineStore({
  name: 'embedded',
  location: 'the data directory',
  durable: true,
  shared: false,
  exclusive: true,
  flags: [],
  check() {},
  async open(_, { directory, ...options }) {
    const { openEmbeddedStore } = await import('./open.ts');
    return openEmbeddedStore({ ...options, directory: pathIn(directory) });
  },
  async load(_, { directory, clock }, history) {
    const { loadStore } = await import('./load.ts');
    const path = pathIn(directory);
    const next = `${path}.next`;
    await rm(next, { recursive: true, force: true });
    await loadStore(next, history, clock);
    await moveAside(path, clock);
    await rename(next, path);
    await syncDirectory(directory);
  },
  retire: ({ directory, clock }) => moveAside(pathIn(directory), clock),
  async inspect(_, { directory }) {
    const { visitValues } = await import('./values.ts');
    return {
      visit: (visit) => visitValues(pathIn(directory), visit),
      async forgetUnreadableHistory() {},
      async close() {},
    };
  },
  snapshots: {
    pathIn,
    async copy(path, target) {
      const { copyStore } = await import('./snapshot.ts');
      return copyStore(path, target);
    },
    async check(path) {
      const { checkStore } = await import('./snapshot.ts');
      return checkStore(path);
    },
    async checkFile(file, start) {
      const { checkStoreFile } = await import('./snapshot.ts');
      return checkStoreFile(file, start);
    },
    async deleteDamaged(path) {
      const { deleteDamaged } = await import('./snapshot.ts');
      return deleteDamaged(path);
    },
    async create(path) {
      const { newStore } = await import('./snapshot.ts');
      return newStore(path);
    },
    async resume(path) {
      const { continueFrom } = await import('./snapshot.ts');
      return continueFrom(path);
    },
  },
});
