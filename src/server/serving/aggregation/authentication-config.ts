/** Maintains the ConfigMap that tells other servers which client certificates and proxies' headers to trust. */

import type { Handle } from '../../../api/call.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { objectNamed } from '../../objects/reads/lookup.ts';
import { put } from '../../upkeep/own-objects.ts';
import { Upkeep, type UpkeepPorts } from '../../upkeep/upkeep.ts';
import { FRONT_PROXY_NAME, type FrontProxy } from './front-proxy.ts';
import { STANDARD_HEADERS, UID_HEADER } from './user-headers.ts';

const NAMESPACE = 'kube-system';
const NAME = 'extension-apiserver-authentication';

export class AuthenticationConfig {
  #wanted: Record<string, string> | undefined;
  readonly #upkeep: Upkeep;

  constructor(
    private readonly core: UpkeepPorts,
    private readonly handle: Handle,
  ) {
    const failure = 'the ConfigMap for other API servers could not be written';
    this.#upkeep = new Upkeep(core, { failure, reconcile: () => this.#keep() });
    this.#upkeep.follow([ConfigMap], ({ at }) => {
      if (at.name === NAME && at.namespace === NAMESPACE) this.#upkeep.loop.add(NAME);
    });
  }

  /** Resolves when it is written. */
  async publish(identity: FrontProxy): Promise<void> {
    this.#wanted = dataOf(identity);
    this.#upkeep.loop.add(NAME);
    await this.#upkeep.loop.idle();
  }

  close(): void {
    this.#upkeep.close();
  }

  /** Keeps the entries that others wrote under other keys. */
  async #keep(): Promise<void> {
    const wanted = this.#wanted;
    if (!wanted) return;
    const { data = {} } = objectNamed(this.core, ConfigMap, NAMESPACE, NAME) ?? {};
    if (deepEqual({ ...data, ...wanted }, data)) return;
    const body = { metadata: { name: NAME }, data: wanted };
    await put(this.handle, { plural: 'configmaps', namespace: NAMESPACE, body });
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
