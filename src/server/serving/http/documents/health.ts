/** Health endpoints in Kubernetes' format: a single word for probes, and one line per check with `?verbose`. */

import { getOrInsert } from '../../../../base/collections/get-or-insert.ts';
import type { Logger } from '../../../../base/log.ts';
import { head, labelsOf } from '../../../../base/metrics/text.ts';
import { type Clock, sleep } from '../../../../base/time/clock.ts';

/** Checks one part of the server. Throws, or rejects, if it is unhealthy. */
export interface HealthCheck {
  readonly name: string;
  readonly check: () => unknown;
  /** True for a check of startup: once passed, `livez` does not run it, since restarting would not help. */
  readonly isOfStart?: boolean;
  /** The endpoints that run the check; undefined for all. */
  readonly endpoints?: readonly HealthName[];
}

type HealthName = 'healthz' | 'livez' | 'readyz';

interface HealthAnswer {
  readonly code: 200 | 404 | 500;
  readonly text: string;
}

export interface HealthPath {
  readonly name: HealthName;
  /** The name of a single check; undefined for all. */
  readonly check: string | undefined;
}

const PROBED: readonly HealthName[] = ['livez', 'readyz'];
const CHECK_TIMEOUT_MS = 2_000;

/** Creates a check that passes when a function completes in time. */
export function answering(name: string, probe: () => unknown, clock: Clock): HealthCheck {
  return {
    name,
    async check() {
      const done = new AbortController();
      const timeout = sleep(clock, CHECK_TIMEOUT_MS, done.signal).then(() => {
        throw new Error(`no answer in ${CHECK_TIMEOUT_MS} ms`);
      });
      try {
        await Promise.race([probe(), timeout]);
      } finally {
        timeout.catch(() => undefined);
        done.abort();
      }
    },
  };
}

/** Parses the path of a health endpoint; undefined for other paths. */
export function healthPath(path: string): HealthPath | undefined {
  if (path.startsWith('/api')) return undefined;
  const match = /^\/(healthz|livez|readyz)(?:\/(.*))?$/.exec(path);
  return match ? { name: match[1] as HealthName, check: match[2] || undefined } : undefined;
}

/** A check that fails while log lines are being lost. */
export const logCheck = ({ problem }: Logger): HealthCheck => failingWhen('log', () => problem?.());

/** Creates a check that fails when `reasonOf` returns a reason. */
function failingWhen(name: string, reasonOf: () => string | undefined): HealthCheck {
  return {
    name,
    check() {
      const reason = reasonOf();
      if (reason !== undefined) throw new Error(reason);
    },
  };
}

/** Wraps a check so that it is not run again once it has passed. */
function passingOnce({ name, check }: HealthCheck): HealthCheck {
  let hasPassed = false;
  return {
    name,
    async check() {
      if (hasPassed) return;
      await check();
      hasPassed = true;
    },
  };
}

/** Runs all checks except those that the query excludes. The response omits reasons, because the endpoint is public. */
export async function runChecks(
  name: HealthName,
  checks: readonly HealthCheck[],
  { search, results }: { readonly search: string; readonly results?: HealthResults },
): Promise<HealthAnswer> {
  const query = new URLSearchParams(search);
  const excluded = new Set(query.getAll('exclude'));
  const lines = await Promise.all(
    checks.map(async ({ name: each, check }) => {
      if (excluded.delete(each)) return `[+]${each} excluded: ok`;
      const isPassed = (await reasonOf(check)) === undefined;
      results?.note(name, each, isPassed);
      return isPassed ? `[+]${each} ok` : `[-]${each} failed: reason withheld`;
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

export async function runCheck(name: string, checks: readonly HealthCheck[]): Promise<HealthAnswer> {
  const found = checks.find((each) => each.name === name);
  if (!found) return { code: 404, text: '404 page not found\n' };
  const reason = await reasonOf(found.check);
  if (reason === undefined) return { code: 200, text: 'ok' };
  return { code: 500, text: `internal server error: ${reason}\n` };
}

interface HealthOptions {
  readonly checks: readonly HealthCheck[];
  readonly isReady: () => boolean;
  readonly isDraining: () => boolean;
  readonly results: HealthResults;
}

export class Health {
  readonly #checks: Readonly<Record<HealthName, readonly HealthCheck[]>>;
  readonly #results: HealthResults;

  constructor({ checks, isReady, isDraining, results }: HealthOptions) {
    this.#results = results;
    const all = [{ name: 'ping', check: () => undefined }, ...checks];
    const of = (endpoint: HealthName) =>
      all.filter(({ endpoints }: HealthCheck) => endpoints === undefined || endpoints.includes(endpoint));
    const started = failingWhen('poststarthook/start-controllers', () => (isReady() ? undefined : 'not finished'));
    const shutdown = failingWhen('shutdown', () => (isDraining() ? 'process is shutting down' : undefined));
    this.#checks = {
      livez: of('livez').map((check) => (check.isOfStart ? passingOnce(check) : check)),
      healthz: [...of('healthz'), started],
      readyz: [...of('readyz'), started, shutdown],
    };
  }

  answer({ name, check }: HealthPath, search: string): Promise<HealthAnswer> {
    const checks = this.#checks[name];
    const results = this.#results;
    return check === undefined ? runChecks(name, checks, { search, results }) : runCheck(check, checks);
  }

  /** Returns metrics of the checks, after those that clients probe: most servers here have no kubelet that does. */
  async metrics(): Promise<string> {
    await Promise.all(PROBED.map((name) => this.answer({ name, check: undefined }, '')));
    return this.#results.text();
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

interface Result {
  readonly name: string;
  readonly type: string;
  isPassed: boolean;
  readonly counts: { success: number; error: number };
}

/** Counts passed and failed checks of health endpoints, for `/metrics/slis`. */
export class HealthResults {
  /** Results by endpoint and check. */
  readonly #results = new Map<string, Result>();

  note(type: string, name: string, isPassed: boolean): void {
    const key = `${type} ${name}`;
    const result = getOrInsert(this.#results, key, () => ({ name, type, isPassed, counts: { success: 0, error: 0 } }));
    result.isPassed = isPassed;
    result.counts[isPassed ? 'success' : 'error']++;
  }

  text(): string {
    const results = [...this.#results.values()];
    if (results.length === 0) return '';
    const lines = [
      head('kubernetes_healthcheck', 'gauge', '[STABLE] This metric records the result of a single healthcheck.'),
      ...results.map(
        ({ name, type, isPassed }) => `kubernetes_healthcheck{${labelsOf({ name, type })}} ${isPassed ? 1 : 0}`,
      ),
      head('kubernetes_healthchecks_total', 'counter', '[STABLE] This metric records the results of all healthcheck.'),
      ...results.flatMap(({ name, type, counts }) =>
        (['error', 'success'] as const)
          .filter((status) => counts[status] > 0)
          .map((status) => `kubernetes_healthchecks_total{${labelsOf({ name, status, type })}} ${counts[status]}`),
      ),
    ];
    return `${lines.join('\n')}\n`;
  }
}
