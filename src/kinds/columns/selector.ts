import { fromLabelSelector, SelectorError } from '../../schema/selector/selector.ts';
import { NONE, type Sparse } from './column.ts';

/** A map of labels in the syntax of label selectors. */
export function labelsText(labels: Readonly<Record<string, string>> | undefined): string {
  if (!labels) return NONE;
  const terms = Object.keys(labels).map((key) => `${key}=${labels[key]}`);
  return terms.length === 0 ? NONE : terms.sort().join(',');
}

type Selector = Parameters<typeof fromLabelSelector>[0];

/** A selector in the syntax of label selectors; `<none>` for an empty one. */
export function labelSelectorText(selector: Sparse<Selector>): string {
  return selectorQuery(selector, '<error>') || NONE;
}

/** Returns a selector in the syntax of label selectors; '' for an empty selector, and `broken` for an invalid one. */
export function selectorQuery(selector: Sparse<Selector>, broken: string): string {
  try {
    return fromLabelSelector(selector as Selector).text;
  } catch (error) {
    // A stored object may predate the rule that its selector breaks, and still has a row.
    if (error instanceof SelectorError) return broken;
    throw error;
  }
}
