/** The export `quarterdeck/testing`. What users see is described in contract.ts. */
import { saveInitialImage } from './cluster/initial-image.ts';
import { createInitialImage } from './cluster/start.ts';
import { TestCluster } from './cluster/test-cluster.ts';
import type { ClusterFactory } from './contract.ts';

/** Starts clusters, with the initial image that the build has saved. */
export function clusterFactory(imageFile?: string): ClusterFactory {
  return { start: (options) => TestCluster.start(options, imageFile) };
}

export const Cluster: ClusterFactory = clusterFactory();

/** Saves what every new cluster contains, for the build. */
export function saveImage(file: string): Promise<void> {
  return saveInitialImage(file, createInitialImage);
}
