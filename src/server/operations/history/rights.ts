import type { User } from '../../../api/user.ts';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import type { Access } from '../../access/ports.ts';
import { parseKey } from '../../objects/cache/keys.ts';
import type { Registry } from '../../objects/registry/registry.ts';
import { type KnownKinds, knownKinds } from './known-kinds.ts';

type Ports = Pick<Access, 'authorizer'> & { readonly registry: Registry };

/** Tells which objects a user may read, with few questions: those who may list a namespace may get everything in it. */
export class ReadRights {
  readonly #kinds: KnownKinds;
  readonly #lists = new Map<string, boolean | Promise<boolean>>();
  readonly #gets = new Map<string, boolean | Promise<boolean>>();

  constructor(
    private readonly core: Ports,
    private readonly user: User,
  ) {
    this.#kinds = knownKinds(core.registry);
  }

  async mayRead(key: string): Promise<boolean> {
    const parts = parseKey(key);
    if (!parts) return false;
    const { table, namespace, name } = parts;
    const may = (verb: string, named: string) => this.#may(verb, { table, namespace, name: named });
    if (await getOrInsert(this.#lists, `${table}/${namespace}`, () => may('list', ''))) return true;
    return getOrInsert(this.#gets, key, () => may('get', name));
  }

  async #may(verb: string, { table, namespace, name }: NonNullable<ReturnType<typeof parseKey>>): Promise<boolean> {
    const { group, version, resource } = this.#kinds.of(table);
    const target = { group, version, resource, subresource: '', namespace, name };
    const { verdict } = await this.core.authorizer.authorize({ user: this.user, verb, ...target });
    return verdict === 'allow';
  }
}
