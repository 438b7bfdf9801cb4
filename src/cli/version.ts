/** Which release this is, and which release of Kubernetes it speaks like. */
import { basename } from 'node:path';
import { version } from '../../package.json';

export { version };

const KUBERNETES = '1.36.4';

/** Put in by the build; absent where the sources themselves run. */
declare const BUILD: { readonly commit: string; readonly date: string; readonly isClean: boolean } | undefined;

const build = typeof BUILD === 'undefined' ? undefined : BUILD;

/** What no other build is called: its bundle has a hash of its content in its name. Undefined where the sources run. */
export const release = build && basename(__filename);

/** What `/version` answers: clients read their skew from it. */
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
  // There is no Go in it. Clients print the two, and some want them not to be empty.
  goVersion: `node${process.versions.node}`,
  compiler: 'v8',
  platform: `${process.platform}/${process.arch}`,
};
