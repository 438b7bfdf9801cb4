/**
 * Maintains the ConfigMap that tells other servers how to authenticate users: which client certificates are valid, and
 * which proxies' headers are trusted.
 */

import type { Handle } from '../../../api/call.ts';
import { soon } from '../../../base/event-loop/soon.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { ConfigMap } from '../../../kinds/groups/core/config-map.ts';
import type { Reader, Tools } from '../../objects/ports.ts';
import { objectNamed } from '../../objects/reads/lookup.ts';
import { put } from '../../upkeep/own-objects.ts';
import { FRONT_PROXY_NAME, type FrontProxy } from './front-proxy.ts';
import { STANDARD_HEADERS, UID_HEADER } from './user-headers.ts';

type Ports = Pick<Reader, 'cache'> & Pick<Tools, 'log'>;

const NAMESPACE = 'kube-system';
const NAME = 'extension-apiserver-authentication';

export class AuthenticationConfig {
  readonly #core: Ports;
  readonly #handle: Handle;
  #wanted: Record<string, string> | undefined;
  readonly #plan = soon(() => void this.#keep());
  readonly #unfollow: () => void;

  constructor(core: Ports, handle: Handle) {
    this.#core = core;
    this.#handle = handle;
    const { listeners } = core.cache.table(ConfigMap);
    const listener = ({ at }: { readonly at: { readonly namespace: string; readonly name: string } }) => {
      if (at.name === NAME && at.namespace === NAMESPACE) this.#plan();
    };
    listeners.add(listener);
    this.#unfollow = () => listeners.delete(listener);
  }

  /** Resolves when it is written. */
  async publish(identity: FrontProxy): Promise<void> {
    this.#wanted = dataOf(identity);
    await this.#keep();
  }

  close(): void {
    this.#wanted = undefined;
    this.#unfollow();
  }

  /** Keeps the entries that others wrote under other keys. */
  async #keep(): Promise<void> {
    const wanted = this.#wanted;
    if (!wanted) return;
    const { data = {} } = objectNamed(this.#core, ConfigMap, NAMESPACE, NAME) ?? {};
    if (deepEqual({ ...data, ...wanted }, data)) return;
    try {
      const body = { metadata: { name: NAME }, data: wanted };
      await put(this.#handle, { plural: 'configmaps', namespace: NAMESPACE, body });
    } catch (error) {
      this.#core.log.warn('the ConfigMap for other API servers could not be written', { error });
    }
  }
}

/**
 * Returns the entries. Other servers also trust other proxies, in the headers that those use. This server removes such
 * headers from requests before forwarding, and sends them itself (`transport.ts`).
 */
function dataOf({ authority, clientAuthority, others }: FrontProxy): Record<string, string> {
  const headers = others?.headers ?? STANDARD_HEADERS;
  const names = others?.names.length === 0 ? [] : [FRONT_PROXY_NAME, ...(others?.names ?? [])];
  return {
    'client-ca-file': clientAuthority,
    'requestheader-allowed-names': JSON.stringify(names),
    'requestheader-client-ca-file': `${authority}${others?.authority ?? ''}`,
    'requestheader-extra-headers-prefix': JSON.stringify(headers.extraPrefixes),
    'requestheader-group-headers': JSON.stringify(headers.group),
    'requestheader-uid-headers': JSON.stringify([UID_HEADER]),
    'requestheader-username-headers': JSON.stringify(headers.username),
  };
}
