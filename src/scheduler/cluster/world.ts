/** All that a decision may look at. */
import type { LabelSelector } from '../../schema/selector.ts';
import type { Labels, Namespace } from '../objects.ts';
import type { Cluster } from './cluster.ts';
import type { PodInfo } from './pod-info.ts';
import type { Storage } from './storage.ts';

export interface World {
  readonly cluster: Cluster;
  readonly storage: Storage;
  namespaces(): readonly Namespace[];
  namespaceLabels(name: string): Labels;
  /** Which pods belong together with this one, by the services and the controller it has; undefined where nobody says. */
  siblings(pod: PodInfo): LabelSelector | undefined;
}
