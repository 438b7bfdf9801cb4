/** Which images are removed. */
import type { Image } from '../../runtime/runtime.ts';
import type { FileSystemUsage } from '../host.ts';

export interface ImageGarbageSettings {
  /** Above this part of the disk, images are removed until the lower one is reached. In percent. */
  readonly highPercent: number;
  readonly lowPercent: number;
  /** Younger images may be about to be used. */
  readonly minAgeMs: number;
  /** Images that were not used for so long are removed; 0: never. */
  readonly maxUnusedMs: number;
}

/** Defaults of kubelet. */
export const DEFAULT_IMAGE_GARBAGE: ImageGarbageSettings = {
  highPercent: 85,
  lowPercent: 80,
  minAgeMs: 2 * 60_000,
  maxUnusedMs: 0,
};

/** Times are milliseconds since the epoch. */
interface ImageHistory {
  readonly detectedAt: number;
  /** Zero: it was never seen in use. */
  readonly usedAt: number;
}

export type ImageHistories = ReadonlyMap<string, ImageHistory>;

/** Adds what is seen now, and forgets images that are gone. `inUse` are ids. */
export function noteImages(
  before: ImageHistories,
  images: readonly Image[],
  inUse: ReadonlySet<string>,
  now: number,
): ImageHistories {
  return new Map(
    images.map(({ id }) => {
      const old = before.get(id) ?? { detectedAt: now, usedAt: 0 };
      return [id, inUse.has(id) ? { ...old, usedAt: now } : old];
    }),
  );
}

export interface ImageGarbage {
  /** Ids, in the order of their removal. */
  readonly remove: readonly string[];
  /** The message of the event `FreeDiskSpaceFailed`, when even that will not be enough. */
  readonly failure: string | undefined;
}

export interface ImageGarbageState {
  readonly images: readonly Image[];
  readonly histories: ImageHistories;
  readonly inUse: ReadonlySet<string>;
  readonly disk: FileSystemUsage;
  /** When the agent started: it does not know what was used before. */
  readonly startedAt: number;
}

const NOTHING: ImageGarbage = { remove: [], failure: undefined };

export function planImageGarbage(state: ImageGarbageState, settings: ImageGarbageSettings, now: number): ImageGarbage {
  const { capacityBytes, availableBytes } = state.disk;
  if (capacityBytes === 0) return NOTHING;
  const unused = state.images
    .filter(({ id, isPinned }) => !isPinned && !state.inUse.has(id))
    .map((image) => ({ image, history: state.histories.get(image.id) ?? { detectedAt: now, usedAt: 0 } }))
    .sort((a, b) => a.history.usedAt - b.history.usedAt || a.history.detectedAt - b.history.detectedAt);
  const isOld = (history: ImageHistory) =>
    settings.maxUnusedMs > 0 &&
    now - state.startedAt > settings.maxUnusedMs &&
    now - Math.max(history.usedAt, history.detectedAt) > settings.maxUnusedMs;
  const old = unused.filter(({ history }) => isOld(history)).map(({ image }) => image);
  const freed = old.reduce((sum, { bytes }) => sum + bytes, 0);
  const available = Math.min(capacityBytes, availableBytes + freed);
  const usedPercent = 100 - Math.floor((available * 100) / capacityBytes);
  if (usedPercent < settings.highPercent) return { remove: old.map(({ id }) => id), failure: undefined };
  const wanted = Math.floor((capacityBytes * (100 - settings.lowPercent)) / 100) - available;
  const more = enough(
    unused
      .filter(({ image, history }) => !old.includes(image) && now - history.detectedAt >= settings.minAgeMs)
      .map(({ image }) => image),
    wanted,
  );
  const gained = more.reduce((sum, { bytes }) => sum + bytes, 0);
  const remove = [...old, ...more].map(({ id }) => id);
  if (gained >= wanted) return { remove, failure: undefined };
  const failure =
    `Insufficient free disk space on the node's image filesystem (${usedPercent}% of ${sizeText(capacityBytes)} used). ` +
    `Failed to free sufficient space by deleting unused images (freed ${gained} bytes). ` +
    'Investigate disk usage, as it could be used by active images, logs, volumes, or other data.';
  return { remove, failure };
}

/** The first images that are together as large as wanted. */
function enough(images: readonly Image[], wanted: number): Image[] {
  const taken: Image[] = [];
  let sum = 0;
  for (const image of images) {
    if (sum >= wanted) break;
    taken.push(image);
    sum += image.bytes;
  }
  return taken;
}

function sizeText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${(bytes / 2 ** (10 * power)).toFixed(1)} ${units[power]}`;
}
