/** The entry point of `quarterdeck/testing` in the package: `dist/testing.js`, which runs the bundle beside it. */
import { join } from 'node:path';
import { readBundle, runBundle } from '../base/compiled-bundle.ts';
import type { ClusterFactory } from './contract.ts';

/** Defined by the build. */
declare const TESTING_BUNDLE_NAME: string;

const bundle = join(__dirname, TESTING_BUNDLE_NAME);
const exported = runBundle(bundle, readBundle(bundle)) as { readonly Cluster: ClusterFactory };

export const { Cluster } = exported;
