import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { withAllReleases } from '../support/all-releases.ts';

/** A kubectl that tests can drive. */
export interface Kubectl {
  readonly name: string;
  readonly program: string;
  /** True for the newest one; some commands and flags are younger than the oldest. */
  readonly isNewest: boolean;
}

/** Returns the path to which scripts/kubectl.mjs fetches a release. */
const programOf = (release: 'oldest' | 'newest') =>
  join(import.meta.dirname, '..', '..', '.cache', 'kubectl', release, 'usr', 'bin', 'kubectl');

/** The kubectl of tests that need only one. */
export const kubectlProgram = programOf('oldest');

export const hasKubectl = existsSync(kubectlProgram);

/**
 * The oldest and the newest release that Debian has, as far as they could be fetched: for suites of what releases do
 * differently, and of the commands that every kind has.
 */
export const kubectls: readonly Kubectl[] = (['oldest', 'newest'] as const)
  .map((name) => ({ name, program: programOf(name), isNewest: name === 'newest' }))
  .filter(({ name, program }) => {
    if (existsSync(program)) return true;
    console.log(`skipped: the ${name} kubectl is not in .cache/kubectl (npm test fetches it)`);
    return false;
  });

/** The releases for all other suites: the newest, or both when all are asked for. */
export const usualKubectls: readonly Kubectl[] = withAllReleases ? kubectls : kubectls.slice(-1);
