/** Whether the server is well, in the format of Kubernetes: one word for machines, a line a check for people. */

import { type Clock, sleep } from '../../../base/clock.ts';

/** Something that can be wrong with the server. Throws, or rejects, when it is. */
export interface HealthCheck {
  readonly name: string;
  readonly check: () => unknown;
}

/** Behind which path a set of checks stands. */
export type HealthName = 'healthz' | 'livez' | 'readyz';

export interface HealthAnswer {
  readonly code: 200 | 404 | 500;
  readonly text: string;
}

export interface HealthPath {
  readonly name: HealthName;
  /** A single one; undefined: all. */
  readonly check: string | undefined;
}

/** Milliseconds after which something that does not answer counts as ill. */
const PATIENCE = 2_000;

/** A check that something answers, and soon. */
export function answering(name: string, ask: () => unknown, clock: Clock): HealthCheck {
  return {
    name,
    async check() {
      const enough = new AbortController();
      const late = sleep(clock, PATIENCE, enough.signal).then(() => {
        throw new Error(`no answer in ${PATIENCE} ms`);
      });
      try {
        await Promise.race([ask(), late]);
      } finally {
        late.catch(() => undefined);
        enough.abort();
      }
    },
  };
}

/** The path of a health endpoint, taken apart; undefined for other paths. */
export function healthPath(path: string): HealthPath | undefined {
  const match = /^\/(healthz|livez|readyz)(?:\/(.*))?$/.exec(path);
  return match ? { name: match[1] as HealthName, check: match[2] || undefined } : undefined;
}

/** A check that fails with the reason it is given. */
function failingWhen(name: string, reason: () => string | undefined): HealthCheck {
  return {
    name,
    check() {
      const why = reason();
      if (why !== undefined) throw new Error(why);
    },
  };
}

/** All checks but those that the query excludes. Why one failed is not told: everyone may ask. */
export async function runChecks(
  name: HealthName,
  checks: readonly HealthCheck[],
  search: string,
): Promise<HealthAnswer> {
  const query = new URLSearchParams(search);
  const excluded = new Set(query.getAll('exclude'));
  const lines = await Promise.all(
    checks.map(async ({ name: each, check }) => {
      if (excluded.delete(each)) return `[+]${each} excluded: ok`;
      return (await reasonOf(check)) === undefined ? `[+]${each} ok` : `[-]${each} failed: reason withheld`;
    }),
  );
  const failed = lines.some((line) => line.startsWith('[-]'));
  if (excluded.size > 0) {
    const names = [...excluded].sort().map((each) => JSON.stringify(each));
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names.join(', ')}`);
  }
  if (failed) return { code: 500, text: `${lines.join('\n')}\n${name} check failed\n` };
  if (!query.has('verbose')) return { code: 200, text: 'ok' };
  return { code: 200, text: `${lines.join('\n')}\n${name} check passed\n` };
}

/** One check alone, with its reason. */
export async function runCheck(name: string, checks: readonly HealthCheck[]): Promise<HealthAnswer> {
  const found = checks.find((each) => each.name === name);
  if (!found) return { code: 404, text: '404 page not found\n' };
  const reason = await reasonOf(found.check);
  if (reason === undefined) return { code: 200, text: 'ok' };
  return { code: 500, text: `internal server error: ${reason}\n` };
}

export interface HealthOptions {
  readonly checks: readonly HealthCheck[];
  readonly isReady: () => boolean;
  readonly isDraining: () => boolean;
}

/** What is asked about the server's health, and what is looked at for it. */
export class Health {
  readonly #checks: Readonly<Record<HealthName, readonly HealthCheck[]>>;

  constructor({ checks, isReady, isDraining }: HealthOptions) {
    const live = [{ name: 'ping', check: () => undefined }, ...checks];
    const started = failingWhen('poststarthook/start-controllers', () => (isReady() ? undefined : 'not finished'));
    const shutdown = failingWhen('shutdown', () => (isDraining() ? 'process is shutting down' : undefined));
    this.#checks = { livez: live, healthz: [...live, started], readyz: [...live, started, shutdown] };
  }

  answer({ name, check }: HealthPath, search: string): Promise<HealthAnswer> {
    const checks = this.#checks[name];
    return check === undefined ? runChecks(name, checks, search) : runCheck(check, checks);
  }
}

async function reasonOf(check: HealthCheck['check']): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
