/**
 * Pod Security Standards: what pods of a namespace may ask of a node. A control looks at one thing; the standards change
 * with the releases of Kubernetes, so each control has forms, and a namespace can name the release whose forms it wants.
 */
import type { Container } from '../../../../kinds/shapes/container/container.ts';
import { visitContainers } from '../../../../kinds/shapes/container/container-rules.ts';
import type { PodSpec } from '../../../../kinds/shapes/pod/pod-spec.ts';

/** A pod, or the template of one. */
export interface PodLike {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> } | undefined;
  readonly spec: PodSpec;
}

export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

export interface ControlForm {
  /** The minor release of Kubernetes 1 from which it holds, until the next form does. */
  readonly since: number;
  readonly judge: (pod: PodLike) => Violation | undefined;
}

export interface Control {
  readonly id: string;
  readonly level: 'baseline' | 'restricted';
  /** Oldest first. */
  readonly forms: readonly ControlForm[];
  /** A control of the lower level that this one makes superfluous. */
  readonly replaces?: string;
}

/** The names of containers for which something holds. */
export function containersWhere({ spec }: PodLike, holds: (container: Container) => boolean): string[] {
  const names: string[] = [];
  visitContainers(spec, (container) => {
    if (holds(container)) names.push(container.name);
  });
  return names;
}

/** `container "a"`, `containers "a", "b"`. */
export function containers(names: readonly string[]): string {
  return `${plural(names.length, 'container')} ${quoted(names)}`;
}

/** Who has set something: the pod itself, some of its containers, or both. Empty when nobody has. */
export function setters(isPod: boolean, names: readonly string[]): string {
  return [...(isPod ? ['pod'] : []), ...(names.length > 0 ? [containers(names)] : [])].join(' and ');
}

export function plural(count: number, word: string): string {
  return count === 1 ? word : `${word}s`;
}

/** A container uses, several use. */
export const use = (count: number): string => (count === 1 ? 'uses' : 'use');

export function quoted(items: readonly string[]): string {
  return items.map((item) => `"${item}"`).join(', ');
}

/** Each once, in the order of the alphabet. */
export function distinct(items: Iterable<string>): string[] {
  return [...new Set(items)].sort();
}

/** From 1.25 on, what means nothing on Windows is not asked of its pods. */
export function unlessWindows(judge: ControlForm['judge']): ControlForm['judge'] {
  return (pod) => (pod.spec.os?.name === 'windows' ? undefined : judge(pod));
}

/** From 1.35 on, a pod with users of its own may be root among them. */
export function unlessOwnUsers(judge: ControlForm['judge']): ControlForm['judge'] {
  return (pod) => (pod.spec.hostUsers === false ? undefined : judge(pod));
}
