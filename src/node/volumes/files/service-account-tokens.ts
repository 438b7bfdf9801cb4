/** Tokens of service accounts, bound to pods: kept while they are fresh, and renewed after 80 % of their life. */

import type { Logger } from '../../../base/log.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import type { IssuedToken, VolumesApi } from '../api.ts';

const RENEWED_AFTER = 0.8;
/** A token is not used longer than this, however long it is valid. */
const MAX_AGE_MS = 24 * 60 * 60 * 1000;

export interface PodToken {
  readonly token: string;
  readonly expiresAt: number;
  /** Time at which to request a new one. */
  readonly renewAt: number;
}

export class ServiceAccountTokens {
  /** Tokens by pod, then by audience and lifetime. */
  readonly #byPod = new Map<string, Map<string, PodToken>>();

  constructor(
    private readonly api: Pick<VolumesApi, 'createToken'>,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Returns a token. When renewal fails, the old token is returned while it is valid. */
  async get(pod: SeenPod, audience: string, expirationSeconds: number): Promise<PodToken> {
    const { name = '', namespace = '', uid = '' } = pod.metadata;
    const key = `${expirationSeconds}/${audience}`;
    const known = this.#byPod.get(uid)?.get(key);
    const now = this.clock.now();
    if (known && now < known.renewAt) return known;
    try {
      const issued = await this.api.createToken(namespace, pod.spec.serviceAccountName ?? 'default', {
        audiences: audience ? [audience] : [],
        expirationSeconds,
        boundPod: { name, uid },
      });
      const token = cached(issued, expirationSeconds, now);
      const ofPod = this.#byPod.get(uid) ?? new Map<string, PodToken>();
      ofPod.set(key, token);
      this.#byPod.set(uid, ofPod);
      return token;
    } catch (error) {
      if (!known) throw new Error(`failed to fetch token: ${messageOf(error)}`, { cause: error });
      if (now >= known.expiresAt) {
        throw new Error(`token expired and refresh failed: ${messageOf(error)}`, { cause: error });
      }
      this.log.warn('cannot renew a token', { namespace, pod: name, error: messageOf(error) });
      return known;
    }
  }

  forget(podUid: string): void {
    this.#byPod.delete(podUid);
  }
}

/** A server may give a token another life than was asked for. */
function cached({ token, expirationTimestamp }: IssuedToken, expirationSeconds: number, now: number): PodToken {
  const expiresAt = Date.parse(expirationTimestamp);
  const lifeMs = Number.isFinite(expiresAt) ? expiresAt - now : expirationSeconds * 1000;
  return { token, expiresAt: now + lifeMs, renewAt: now + Math.min(lifeMs * RENEWED_AFTER, MAX_AGE_MS) };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
