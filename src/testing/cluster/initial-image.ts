/** What the store of a new cluster contains once the server has created its namespaces, roles and priority classes. */
import { ControlledClock } from '../../base/clock.ts';
import { SeededRandom } from '../../base/random.ts';
import { allKinds } from '../../kinds/all.ts';
import { admissionPlugins } from '../../server/admission/all.ts';
import { createServer, type ServerOptions } from '../../server/index.ts';
import { MemoryStore, type StoreImage } from '../../store/memory/memory-store.ts';

export const SERVER_OPTIONS = {
  kinds: allKinds,
  authorization: ['Node', 'RBAC'],
  defaultRoles: true,
  garbageCollection: true,
} as const satisfies Partial<ServerOptions>;

const SEED = 1;
/** Of clusters that start at different times. */
const MAX_IMAGES = 16;
const images = new Map<number, Promise<StoreImage>>();

/** The same for every cluster that starts at this time. Made once: every further cluster starts in half the time. */
export function initialImage(now: number): Promise<StoreImage> {
  const known = images.get(now);
  if (known) return known;
  const image = create(now);
  for (const oldest of images.keys()) if (images.size >= MAX_IMAGES) images.delete(oldest);
  images.set(now, image);
  return image;
}

async function create(now: number): Promise<StoreImage> {
  const clock = new ControlledClock(now);
  const store = new MemoryStore({ clock });
  const server = await createServer({
    ...{ ...SERVER_OPTIONS, store, clock, random: new SeededRandom(SEED), admission: admissionPlugins() },
  });
  server.close();
  const image = store.image();
  await store.close();
  return image;
}
