/** Rejects the start of a release on a store that it would damage, or cannot bring forward. */
import { areCompatible, compareReleases, type Release } from '../../../api/release.ts';
import { AssemblyError } from '../../assembly-error.ts';
import type { RecordedRelease } from './cluster-row.ts';

/** Throws when this release may not use the store. Nothing has been changed by then. */
export function checkRelease(recorded: RecordedRelease, own: Release): void {
  const problem = levelProblem(recorded, own) ?? versionProblem(recorded, own);
  if (problem !== undefined) throw new AssemblyError(`${problem}. Nothing was changed`);
}

function levelProblem({ level, release }: RecordedRelease, own: Release): string | undefined {
  if (level <= own.level) return undefined;
  const [ran, install] =
    release === undefined
      ? ['', 'the release of its other servers']
      : [` and was last run by Quarterdeck ${release}`, `Quarterdeck ${release}`];
  return (
    `the cluster in this store needs servers of level ${level}${ran}, and this is Quarterdeck ${own.version} of level ${own.level}; ` +
    `install ${install} here or, to go back, restore a snapshot that an earlier release saved`
  );
}

function versionProblem({ release }: RecordedRelease, own: Release): string | undefined {
  if (release === undefined || areCompatible(release, own.version)) return undefined;
  const isNewer = compareReleases({ version: release, level: own.level }, own) > 0;
  return (
    `the cluster in this store was last run by Quarterdeck ${release}, and this is ${own.version}: ` +
    `releases that follow each other on a store differ by one minor version at most; ${
      isNewer
        ? `install Quarterdeck ${release} here`
        : `first run the minor releases between them on all servers, one after the other`
    }`
  );
}
