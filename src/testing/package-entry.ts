/** The entry point of `quarterdeck/testing` in the package: `dist/testing.js`, which runs the bundle beside it. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { keepCompiled, readBundle, requireLater, runBundle } from '../base/programs/compiled-bundle.ts';
import type { ClusterFactory } from './contract.ts';
import type * as Testing from './index.ts';

/** Defined by the build. */
declare const TESTING_BUNDLE_NAME: string;

const bundle = join(__dirname, TESTING_BUNDLE_NAME);
/** Needed only once a cluster is served or signs something, and several milliseconds of a start. */
const NETWORK = ['http', 'http2', 'https', 'net', 'tls', 'zlib', 'worker_threads', 'crypto'];
const SELDOM = [...NETWORK, 'stream', 'stream/promises', 'fs/promises'];
const require = requireLater(
  createRequire(bundle),
  SELDOM.map((name) => `node:${name}`),
);
const script = readBundle(bundle, process.env);
const { clusterFactory } = runBundle(bundle, script, require) as typeof Testing;
let isKept = false;

/** Keeps what V8 has compiled, once. */
function keepOnce(): void {
  if (isKept) return;
  isKept = true;
  keepCompiled(bundle, script, process.env);
}

// Not only when the process ends: some test runners kill their processes.
process.once('exit', keepOnce);

export const Cluster: ClusterFactory = clusterFactory({ imageFile: `${bundle}.image`, afterStop: keepOnce });
