/** The certificates of an agent's node, and the authorities that it trusts, as they go on while it runs. */
import { X509Certificate } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { keepCertificate, type NodeCertificate } from '../../../src/assembly/node/endpoint/certificate.ts';
import { silent } from '../../../src/base/log.ts';
import { systemRandom } from '../../../src/base/random.ts';
import type { ControlledClock } from '../../../src/base/time/clock.ts';
import { followAuthority, isOfNewest } from '../../../src/cli/agent/followed/authority.ts';
import type { Client } from '../../../src/client/client.ts';
import { outcomeOf, signingAuthority } from '../../../src/controllers/identity/certificates/signing.ts';
import type { Identity } from '../../../src/protocols/x509/certificate.ts';

export interface FollowedNodeOptions {
  readonly name: string;
  readonly directory: string;
  readonly clock: ControlledClock;
  /** Certificates that it trusts at first, as PEM. */
  readonly trusted: string;
  /** The authority with which a server signs now. */
  readonly signing: () => Identity;
}

const YEAR_MS = 365 * 24 * 3_600_000;
const PURPOSES = ['client', 'serving'] as const;

/** The latest time at which a certificate is renewed: after 90 per cent of its life. */
function renewedUntil(pem: string): number {
  const { validFrom, validTo } = new X509Certificate(pem);
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  return from + 0.9 * (to - from);
}

export class FollowedNode {
  readonly #options: FollowedNodeOptions;
  readonly #certificates = new Map<(typeof PURPOSES)[number], NodeCertificate>();
  readonly #listeners = new Set<() => void>();
  #trusted: string;
  #published = '';
  #end = new AbortController();
  /** Certificates that it has been given. */
  issued = 0;

  constructor(options: FollowedNodeOptions) {
    this.#options = options;
    this.#trusted = options.trusted;
    this.#run();
  }

  get trusted(): string {
    return this.#trusted;
  }

  /** As PEM. */
  certificate(purpose: (typeof PURPOSES)[number]): string {
    return this.#certificates.get(purpose)?.cert ?? '';
  }

  /** The cluster publishes these authorities. */
  publish(authorities: string): void {
    if (this.#published === authorities) return;
    this.#published = authorities;
    for (const listener of this.#listeners) listener();
  }

  /** Resolves when it has the certificates that it must have asked for by now: the time of the machine does not move meanwhile. */
  async settled(): Promise<void> {
    const isDue = (purpose: (typeof PURPOSES)[number]) => {
      const pem = this.certificate(purpose);
      return pem === '' || this.#options.clock.now() > renewedUntil(pem);
    };
    while (PURPOSES.some(isDue)) await turn();
  }

  stop(): void {
    this.#end.abort();
  }

  /** As `qd agent` runs a node, until it trusts others. */
  #run(): void {
    const { clock, name: node, directory } = this.#options;
    const { signal } = this.#end;
    const common = { clock, random: systemRandom, log: silent, signal };
    const lister = { list: () => [{ data: { 'ca.crt': this.#published } }] };
    const onChange = (listener: () => void) => this.#listeners.add(listener);
    followAuthority({
      ...common,
      informers: { of: () => ({ lister, onChange }) } as never,
      trusted: this.#trusted,
      adopt: async (authority) => {
        this.#trusted = authority;
        for (const [purpose, { cert }] of this.#certificates) {
          if (!isOfNewest(cert, authority)) this.#certificates.delete(purpose);
        }
        this.#end.abort();
        this.#listeners.clear();
        this.#end = new AbortController();
        this.#run();
      },
    });
    for (const purpose of PURPOSES) {
      const first = this.#certificates.get(purpose);
      const use = (certificate: NodeCertificate) => void this.#certificates.set(purpose, certificate);
      void keepCertificate({ ...common, client: this.#client(), purpose, node, directory, first, use });
    }
  }

  /** A server that approves and signs each request at once. */
  #client(): Client {
    const { clock, signing } = this.#options;
    let certificate = '';
    const requests = {
      create: async ({ spec }: { readonly spec: object }) => {
        const { certificate: by, key } = signing();
        const sign = signingAuthority({ certificate: by, key, maxLifetime: YEAR_MS, clock, random: systemRandom });
        const outcome = await outcomeOf({ spec } as never, sign);
        if ('failure' in outcome) throw new Error(outcome.failure);
        this.issued += 1;
        certificate = Buffer.from(outcome.certificate).toString('base64');
      },
      get: async () => ({ status: { certificate } }),
    };
    return { of: () => requests } as never;
  }
}
