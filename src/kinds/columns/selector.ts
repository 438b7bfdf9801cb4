import { fromLabelSelector, SelectorError } from '../../schema/selector.ts';
import { NONE } from './column.ts';

/** A map of labels as a query would say it. */
export function labelsText(labels: Readonly<Record<string, string>> | undefined): string {
  if (!labels) return NONE;
  const terms = Object.keys(labels).map((key) => `${key}=${labels[key]}`);
  return terms.length === 0 ? NONE : terms.sort().join(',');
}

type Selector = Parameters<typeof fromLabelSelector>[0];

/** A selector as a query would say it; one that says nothing is a mark. */
export function labelSelectorText(selector: Selector): string {
  return selectorQuery(selector, '<error>') || NONE;
}

/** The same, empty where the selector says nothing. What cannot be said is `broken`. */
export function selectorQuery(selector: Selector, broken: string): string {
  try {
    return fromLabelSelector(selector).text;
  } catch (error) {
    // A table tells what is there, also of an object that no rule would let in today.
    if (error instanceof SelectorError) return broken;
    throw error;
  }
}
