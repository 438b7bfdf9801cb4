/** Lists the images of a store. */
import type { Image } from '../../runtime/runtime.ts';
import type { NamedImage } from './names.ts';

/** Names of the same image become one. */
export function imagesOf(named: readonly NamedImage[]): readonly Image[] {
  const byId = new Map<string, NamedImage[]>();
  for (const image of named) byId.set(image.id, [...(byId.get(image.id) ?? []), image]);
  return [...byId.values()].map((images) => {
    const { id, bytes, user } = images[0]!;
    const names = images.map(({ name }) => name);
    return {
      id,
      tags: names.filter((name) => !name.includes('@')),
      digests: names.filter((name) => name.includes('@')),
      bytes,
      user: userOf(user),
      isPinned: false,
    };
  });
}

/** `user:group` is the user; a number is one. */
function userOf(user: string | undefined): number | string | undefined {
  const name = user?.split(':')[0];
  if (name === undefined || name === '') return undefined;
  return /^\d+$/.test(name) ? Number(name) : name;
}
