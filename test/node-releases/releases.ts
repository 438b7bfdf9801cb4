import { existsSync } from 'node:fs';
import { join } from 'node:path';
import majors from '../../scripts/node-releases.json' with { type: 'json' };

/** A Node release that tests can run on. */
export interface NodeRelease {
  readonly major: number;
  readonly program: string;
}

/** The oldest major version that is supported. */
export const oldestMajor = Math.min(...majors);

/** The newest major version that is supported. */
export const newestMajor = Math.max(...majors);

const running = Number.parseInt(process.versions.node, 10);

/** Returns the path to which scripts/node-releases.mjs fetches a release. */
const programOf = (major: number) =>
  join(import.meta.dirname, '..', '..', '.cache', 'node', String(major), 'package', 'bin', 'node');

/** The supported releases, as far as they could be fetched. */
export const nodeReleases: readonly NodeRelease[] = [...new Set([running, ...majors])]
  .map((major) => ({ major, program: major === running ? process.execPath : programOf(major) }))
  .filter(({ major, program }) => {
    if (existsSync(program)) return true;
    console.log(`skipped: Node ${major} is not in .cache/node (npm test fetches it)`);
    return false;
  });
