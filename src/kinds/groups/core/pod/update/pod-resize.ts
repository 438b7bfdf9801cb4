/** The subresource `resize`: changes CPU and memory of running containers. */
import { addAll } from '../../../../../base/collections/add-all.ts';
import { clone, deepEqual } from '../../../../../base/json/tree.ts';
import { type FieldError, forbidden, invalid } from '../../../../../schema/field-error.ts';
import type { Container } from '../../../../shapes/container/container.ts';
import type { ResourceList, ResourceRequirements } from '../../../../shapes/container/resources.ts';
import { MIRROR } from '../../../../shapes/pod/pod-annotations.ts';
import type { PodSpec } from '../../../../shapes/pod/pod-spec.ts';
import { qosClass } from '../../../../shapes/pod/qos-class.ts';
import type { Pod } from '../pod-fields.ts';
import { keepOwnMetadata } from './pod-metadata.ts';

const lists = ['containers', 'initContainers'] as const;

/** Reverts every other change. Added, removed or reordered containers are left for the rules to reject. */
export function keepAllButResources(pod: Pod, old: Pod): void {
  const resized: Partial<PodSpec> = {};
  for (const list of lists) {
    const now = pod.spec[list] ?? [];
    const before = old.spec[list] ?? [];
    if (now.length !== before.length || now.some(({ name }, index) => name !== before[index]?.name)) return;
    if (now.length) resized[list] = before.map((container, index) => withResources(container, now[index]!));
  }
  const { resources } = pod.spec;
  keepOwnMetadata(pod, old);
  pod.spec = clone({ ...old.spec, ...resized, ...(resources ? { resources } : {}) });
  if (!resources) delete pod.spec.resources;
}

function withResources(container: Container, { resources, resizePolicy }: Container): Container {
  const { resizePolicy: _, ...kept } = container;
  return { ...kept, resources, ...(resizePolicy ? { resizePolicy } : {}) };
}

export function resizeRules(pod: Pod, old: Pod): FieldError[] {
  const { spec } = pod;
  if (old.metadata.annotations?.[MIRROR] !== undefined) return [forbidden('', 'static pods cannot be resized')];
  if (old.spec.os?.name === 'windows') return [forbidden('', 'windows pods cannot be resized')];
  const found: FieldError[] = [];
  if ((old.status.qosClass ?? qosClass(old.spec)) !== qosClass(spec)) {
    found.push(invalid('spec', old.status.qosClass, 'Pod QOS Class may not change as a result of resizing'));
  }
  const running = old.status.containerStatuses?.find(({ state }) => state.running);
  if (running && !running.resources) found.push(forbidden('spec', 'Pod running on node without support for resize'));
  if (old.status.nodeAllocatableResourceClaimStatuses) {
    found.push(forbidden('spec', 'pods with node allocatable resource claims cannot be resized'));
  }
  const order = sameContainers(spec, old.spec);
  if (order.length) return [...found, ...order];
  addAll(found, podLevel(spec.resources, old.spec.resources));
  for (const list of lists) {
    spec[list]?.forEach((container, index) => {
      addAll(found, resized(container, old.spec[list]![index]!, `spec.${list}[${index}]`));
    });
  }
  return found;
}

function sameContainers(spec: PodSpec, old: PodSpec): FieldError[] {
  return lists.flatMap((list) => {
    const before = old[list] ?? [];
    const now = spec[list] ?? [];
    if (now.length !== before.length) {
      return [forbidden(`spec.${list}`, `${list} may not be added or removed on resize`)];
    }
    return now.flatMap(({ name }, index) =>
      name === before[index]!.name
        ? []
        : [forbidden(`spec.${list}[${index}].name`, `${list} may not be renamed or reordered on resize`)],
    );
  });
}

function podLevel(now: ResourceRequirements | undefined, old: ResourceRequirements | undefined): FieldError[] {
  if (old && !now) return [forbidden('spec.resources', 'pod-level resources cannot be removed')];
  const found: FieldError[] = [];
  for (const part of ['requests', 'limits'] as const) {
    if (someGone(now?.[part], old?.[part])) {
      found.push(forbidden(`spec.resources.${part}`, `pod-level resource ${part} cannot be removed`));
    }
  }
  if (!sameButCpuAndMemory(now, old)) {
    found.push(forbidden('spec', 'only cpu and memory resources are mutable at pod-level'));
  }
  return found;
}

function resized(container: Container, old: Container, path: string): FieldError[] {
  const found: FieldError[] = [];
  for (const part of ['requests', 'limits'] as const) {
    if (someGone(container.resources[part], old.resources[part])) {
      found.push(forbidden(`${path}.resources.${part}`, `resource ${part} cannot be removed`));
    }
  }
  const init = path.startsWith('spec.init');
  const { resources, ...rest } = container;
  const { resources: before, ...oldRest } = old;
  if (!sameButCpuAndMemory(resources, before) || !deepEqual(rest, oldRest)) {
    const words = init
      ? 'only cpu and memory resources for init or sidecar containers are mutable'
      : 'only cpu and memory resources are mutable';
    found.push(forbidden(init ? path : 'spec', words));
  }
  return found;
}

function someGone(now: ResourceList = {}, old: ResourceList = {}): boolean {
  return Object.keys(old).some((name) => !Object.hasOwn(now, name));
}

function sameButCpuAndMemory(now: ResourceRequirements = {}, old: ResourceRequirements = {}): boolean {
  const others = ({ cpu: _, memory: __, ...rest }: ResourceList = {}) => rest;
  return (
    deepEqual(others(now.requests), others(old.requests)) &&
    deepEqual(others(now.limits), others(old.limits)) &&
    deepEqual(now.claims ?? [], old.claims ?? [])
  );
}
