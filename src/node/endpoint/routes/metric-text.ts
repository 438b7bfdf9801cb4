/** Metrics of a node in the text format of Prometheus. */
import { head, inBraces } from '../../../base/metrics/text.ts';

export interface MetricSample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface MetricFamily {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  readonly samples: readonly MetricSample[];
}

/** Families without samples are left out. */
export function metricText(families: readonly MetricFamily[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, type, help, samples }) => {
      const lines = samples.map(({ labels, value }) => `${name}${inBraces(labels)} ${value}\n`);
      return `${head(name, type, help)}\n${lines.join('')}`;
    })
    .join('');
}
