import { getOrInsert } from '../../../../base/collections/get-or-insert.ts';
import { head, labelsOf } from '../../../../base/metrics/text.ts';

interface Result {
  readonly name: string;
  readonly type: string;
  /** True when the last check passed. */
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
