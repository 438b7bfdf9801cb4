import { join, resolve } from 'node:path';
import { moveAside } from '../../base/files/own/move-aside.ts';
import { flag, type ValuesOf } from '../../base/flag.ts';
import { defineStore, type StoreContext } from '../driver.ts';

const flags = [
  flag('--store-dir <dir>', {
    help: 'directory of the embedded store, for example on another disk',
    defaultText: 'DIR/store',
    parse: (text: string) => resolve(text),
    remembered: true,
  }),
] as const;

type EmbeddedSettings = ValuesOf<typeof flags>;

const pathIn = (directory: string, { storeDir }: EmbeddedSettings) => storeDir ?? join(directory, 'store');

export const embeddedDriver = defineStore({
  name: 'embedded',
  location: 'the data directory',
  durable: true,
  shared: false,
  exclusive: true,
  flags,
  check() {},
  async open(settings, { directory, ...options }) {
    const { openEmbeddedStore } = await import('./open.ts');
    return openEmbeddedStore({ ...options, directory: pathIn(directory, settings) });
  },
  async beginCopy(settings, { directory, ...options }, base) {
    const [{ beginCopy }, { isIncompleteCopy }] = await Promise.all([import('./filling/copy.ts'), import('./open.ts')]);
    const path = pathIn(directory, settings);
    // A store of the data directory that is not in use was left by an earlier move.
    if (settings.storeDir === undefined && !(await isIncompleteCopy(path))) await moveAside(path, options.clock);
    return beginCopy(path, base, options);
  },
  // A directory that the user has chosen may be a whole disk.
  retire: async (settings, { directory, clock }: StoreContext) =>
    settings.storeDir ?? (await moveAside(pathIn(directory, settings), clock)),
  async inspect(settings, { directory }) {
    const { visitValues } = await import('./values.ts');
    return {
      visit: (visit) => visitValues(pathIn(directory, settings), visit),
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
