/** The release of this program, and the release of Kubernetes whose API it serves. */
import { basename } from 'node:path';
import { level, version } from '../../../package.json';
import type { Release } from '../../api/release.ts';

export { version };

/** The level rises with a release that stores what earlier ones would damage or lose: CONTRIBUTING.md. */
export const ownRelease: Release = { version, level };

const KUBERNETES = '1.36.4';

/** Defined by the build; absent when the sources run directly. */
declare const BUILD: { readonly commit: string; readonly date: string; readonly isClean: boolean } | undefined;

const build = typeof BUILD === 'undefined' ? undefined : BUILD;

/** Unique to this build: the name of the bundle, which contains a hash. Undefined when the sources run directly. */
export const release = build && basename(__filename);

/** The answer to `/version`, from which clients derive their version skew. */
export const apiVersion = {
  major: '1',
  minor: '36',
  emulationMajor: '1',
  emulationMinor: '36',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '35',
  gitVersion: `v${KUBERNETES}+quarterdeck`,
  gitCommit: build?.commit ?? '',
  gitTreeState: build?.isClean === false ? 'dirty' : 'clean',
  buildDate: build?.date ?? '1970-01-01T00:00:00Z',
  // Not Go, but clients print these two, and some expect them not to be empty.
  goVersion: `node${process.versions.node}`,
  compiler: 'v8',
  platform: `${process.platform}/${process.arch}`,
};
