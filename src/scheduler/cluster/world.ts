/** Everything that a decision may read. */
import type { LabelSelector } from '../../schema/selector/selector.ts';
import type { Labels, Namespace } from '../objects.ts';
import type { Cluster } from './cluster.ts';
import type { PodInfo } from './pod-info.ts';
import type { Storage } from './storage.ts';

export interface World {
  readonly cluster: Cluster;
  readonly storage: Storage;
  namespaces(): readonly Namespace[];
  namespaceLabels(name: string): Labels;
  /** Selects the pods of the same services and controller; undefined when there are none. */
  siblings(pod: PodInfo): LabelSelector | undefined;
}
