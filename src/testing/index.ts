/** The export `quarterdeck/testing`. What users see is described in contract.ts. */
import { TestCluster } from './cluster/test-cluster.ts';
import type { ClusterFactory } from './contract.ts';

export const Cluster: ClusterFactory = { start: (options) => TestCluster.start(options) };
