/**
 * Initial contents of a cluster's store: namespaces, roles, service accounts and whatever else a control plane creates
 * before anybody asks for something. It is the same for every cluster but for the time, so it is made once: during the
 * build, or in a process that has no file of the build when its first cluster starts.
 */
import { readImage, writeImage } from '../../store/memory/image-file.ts';
import type { StoreImage } from '../../store/memory/memory-store.ts';

/** The time at which clusters start, unless a test gives another one. */
export const DEFAULT_START = Date.parse('2030-01-01T00:00:00Z');

/** State that all clusters begin with. */
export interface InitialState {
  readonly image: StoreImage;
  /** Certificate of the certificate authority, as PEM: the image has it, too. */
  readonly certificate: string;
}

interface ImageSource {
  /** Makes it for a time. */
  readonly create: (now: number) => Promise<InitialState>;
  /** Where the build has saved it. */
  readonly file: string | undefined;
}

let made: Promise<InitialState> | undefined;

export async function initialImage(now: number, source: ImageSource): Promise<InitialState> {
  made ??= load(source);
  const { image, certificate } = await made;
  return { image: movedTo(now, image), certificate };
}

export async function saveInitialImage(file: string, create: ImageSource['create']): Promise<void> {
  const { image, certificate } = await create(DEFAULT_START);
  await writeImage(file, { image, about: { certificate } });
}

async function load({ file, create }: ImageSource): Promise<InitialState> {
  if (file === undefined) return create(DEFAULT_START);
  const { image, about } = readImage(file);
  return { image, certificate: about.certificate as string };
}

/** Everything in the image happened at its time, so the same image at another time differs by that one text. */
function movedTo(now: number, image: StoreImage): StoreImage {
  const [from, to] = [DEFAULT_START, now].map((time) => `${new Date(time).toISOString().slice(0, 19)}`) as [
    string,
    string,
  ];
  if (from === to) return image;
  const rows = image.rows.map((row) => ({ ...row, value: Buffer.from(row.value.toString().replaceAll(from, to)) }));
  return { ...image, rows };
}
