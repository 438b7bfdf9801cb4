/**
 * The Pod Security Standards. A control checks one aspect of a pod. The standards change with the releases of
 * Kubernetes, so a control has versions, and a namespace can pin the release whose versions apply.
 */
import type { Container } from '../../../../../kinds/shapes/container/container.ts';
import { visitContainers } from '../../../../../kinds/shapes/container/container-rules.ts';
import type { PodSpec } from '../../../../../kinds/shapes/pod/pod-spec.ts';

/** A pod or a pod template. */
export interface PodLike {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> } | undefined;
  readonly spec: PodSpec;
}

export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

export interface ControlForm {
  /** The minor release of Kubernetes 1 from which it applies, until the next version does. */
  readonly since: number;
  readonly judge: (pod: PodLike) => Violation | undefined;
}

export interface Control {
  readonly id: string;
  readonly level: 'baseline' | 'restricted';
  /** Versions, oldest first. */
  readonly forms: readonly ControlForm[];
  /** The control of the lower level that this one replaces. */
  readonly replaces?: string;
}

/** A control in one form. `detailOf` says what is wrong with a pod; undefined or empty: nothing. */
export function baseline(
  id: string,
  reason: string,
  detailOf: (pod: PodLike) => string | undefined,
  since = 0,
): Control {
  const judge = (pod: PodLike) => {
    const detail = detailOf(pod);
    return detail ? { reason, detail } : undefined;
  };
  return { id, level: 'baseline', forms: [{ since, judge }] };
}

export function containersWhere({ spec }: PodLike, holds: (container: Container) => boolean): string[] {
  const names: string[] = [];
  visitContainers(spec, (container) => {
    if (holds(container)) names.push(container.name);
  });
  return names;
}

/** Formats names: `container "a"`, `containers "a", "b"`. */
export function containers(names: readonly string[]): string {
  return `${plural(names.length, 'container')} ${quoted(names)}`;
}

/** Names the setters of a field: the pod, some of its containers, or both. Empty when there are none. */
export function setters(isPod: boolean, names: readonly string[]): string {
  return [...(isPod ? ['pod'] : []), ...(names.length > 0 ? [containers(names)] : [])].join(' and ');
}

export function plural(count: number, word: string): string {
  return count === 1 ? word : `${word}s`;
}

/** Chooses the singular or plural form of a verb. */
export const use = (count: number): string => (count === 1 ? 'uses' : 'use');

export function quoted(items: readonly string[]): string {
  return items.map((item) => `"${item}"`).join(', ');
}

/** Returns the items sorted, without duplicates. */
export function distinct(items: Iterable<string>): string[] {
  return [...new Set(items)].sort();
}

/** Exempts pods for Windows, from 1.25 on, from aspects that do not exist there. */
export function unlessWindows(judge: ControlForm['judge']): ControlForm['judge'] {
  return (pod) => (pod.spec.os?.name === 'windows' ? undefined : judge(pod));
}

/** Allows a pod with its own user namespace, from 1.35 on, to run as root. */
export function unlessOwnUsers(judge: ControlForm['judge']): ControlForm['judge'] {
  return (pod) => (pod.spec.hostUsers === false ? undefined : judge(pod));
}
