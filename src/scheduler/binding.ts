/** Writes the binding of a pod to its node. */
import type { Client } from '../client/client.ts';
import { Pod as PodKind } from '../kinds/groups/core/pod/pod.ts';
import type { PodInfo } from './cluster/pod-info.ts';

export interface BindingOptions {
  readonly client: Client;
  readonly signal: AbortSignal;
}

export async function bind(pod: PodInfo, nodeName: string, { client, signal }: BindingOptions): Promise<void> {
  const { name, namespace, uid } = pod;
  const binding = client.of(PodKind).in(namespace).subresource(name, 'binding');
  const target = { apiVersion: 'v1', kind: 'Node', name: nodeName };
  await binding.create({ apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace, uid }, target }, { signal });
}
