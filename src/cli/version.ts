/** Which release this is, and which release of Kubernetes it speaks like. */
import { version } from '../../package.json';

export { version };

const KUBERNETES = '1.36.4';

/** What `/version` answers: clients read their skew from it. */
export const apiVersion = {
  major: '1',
  minor: '36',
  gitVersion: `v${KUBERNETES}+quarterdeck`,
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: `node ${process.version}`,
  platform: `${process.platform}/${process.arch}`,
};
