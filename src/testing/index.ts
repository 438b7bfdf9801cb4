/** The export `quarterdeck/testing`. What users see is described in contract.ts. */
import { saveInitialImage } from './cluster/initial-image.ts';
import { createInitialImage } from './cluster/start.ts';
import { type FactoryOptions, TestCluster } from './cluster/test-cluster.ts';
import type { ClusterFactory } from './contract.ts';

export function clusterFactory(own: FactoryOptions = {}): ClusterFactory {
  return { start: (options) => TestCluster.start(options, own) };
}

export const Cluster: ClusterFactory = clusterFactory();

/** Saves what every new cluster contains, for the build. */
export function saveImage(file: string): Promise<void> {
  return saveInitialImage(file, createInitialImage);
}
