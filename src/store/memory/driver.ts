import { defineStore } from '../driver.ts';

export const memoryDriver = defineStore({
  name: 'memory',
  location: 'memory',
  durable: false,
  shared: false,
  exclusive: true,
  flags: [],
  check() {},
  async open(_, options) {
    const { MemoryStore } = await import('./memory-store.ts');
    return new MemoryStore(options);
  },
  snapshots: { instead: 'objects in memory are gone when the cluster stops' },
});
