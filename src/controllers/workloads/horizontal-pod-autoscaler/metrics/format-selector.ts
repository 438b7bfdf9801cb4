import type { SeenMetric } from './readings.ts';

type Selector = NonNullable<SeenMetric['pods']>['metric']['selector'];

/** Formats a selector as Go's debug output, which autoscaler messages have always used. */
export function formatSelector(selector: Selector): string {
  if (!selector) return 'nil';
  const labels = Object.entries(selector.matchLabels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  const map = labels.map(([key, value]) => `${key}: ${value},`).join('');
  return `&LabelSelector{MatchLabels:map[string]string{${map}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}
