/** Decides whether an archive has what was written. Every value begins with a token, by which it is recognised. */

export interface Written {
  readonly id: string;
  readonly key: string;
  /** Null for a deletion. */
  readonly token: string | null;
  readonly isStatus: boolean;
  /** 0 while it was not acknowledged. */
  readonly revision: number;
}

/** A change in the archive. */
export interface Archived {
  readonly key: string;
  readonly token: string | null;
  readonly revision: number;
  readonly request: string | undefined;
  readonly isStatus: boolean;
}

export interface ArchiveEvidence {
  /** What was asked for, by its id. */
  readonly issued: ReadonlyMap<string, Written>;
  /** What was acknowledged, by its id. */
  readonly acknowledged: ReadonlyMap<string, Written>;
  readonly archived: readonly Archived[];
  /** Tokens by key, at some revisions, as the archive lists them. */
  readonly states: ReadonlyMap<number, ReadonlyMap<string, string>>;
  /** Tokens by key in the store. */
  readonly present: ReadonlyMap<string, string>;
}

/** Returns every broken promise as a sentence; none when all is well. */
export function verdict(evidence: ArchiveEvidence): string[] {
  return [...checkAcknowledged(evidence), ...checkAsked(evidence), ...checkStates(evidence)];
}

function checkAcknowledged({ acknowledged, archived }: ArchiveEvidence): string[] {
  const found = new Map<string, Archived[]>();
  for (const change of archived) {
    const id = `${change.key} ${change.revision}`;
    found.set(id, [...(found.get(id) ?? []), change]);
  }
  const followers = successors([...acknowledged.values()], archived);
  const problems: string[] = [];
  for (const { id, key, token, revision, isStatus } of acknowledged.values()) {
    const [first, ...more] = found.get(`${key} ${revision}`) ?? [];
    if (more.length > 0) problems.push(`${id} is in the archive ${more.length + 1} times`);
    if (first && (first.token !== token || first.request !== id || first.isStatus !== isStatus)) {
      problems.push(`${id} was archived as ${JSON.stringify(first)}`);
    }
    const isThinned = isStatus && followers.get(`${key} ${revision}`)?.isStatus === true;
    if (!first && !isThinned) problems.push(`${id}, acknowledged at ${revision}, is not in the archive`);
  }
  return problems;
}

/** The next change of the same key, by key and revision. */
function successors(
  acknowledged: readonly Written[],
  archived: readonly Archived[],
): ReadonlyMap<string, Pick<Archived, 'isStatus'>> {
  const all = new Map<string, Pick<Archived, 'key' | 'revision' | 'isStatus'>>();
  for (const each of [...archived, ...acknowledged]) all.set(`${each.key} ${each.revision}`, each);
  const ordered = [...all.values()].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.revision - b.revision));
  const next = new Map<string, Pick<Archived, 'isStatus'>>();
  for (const [i, each] of ordered.entries()) {
    const follower = ordered[i + 1];
    if (follower?.key === each.key) next.set(`${each.key} ${each.revision}`, follower);
  }
  return next;
}

function checkAsked({ issued, archived }: ArchiveEvidence): string[] {
  return archived
    .filter(({ request = '', key, token }) => issued.get(request)?.key !== key || issued.get(request)?.token !== token)
    .map((change) => `nobody asked for ${JSON.stringify(change)}`);
}

/** Checks that each state is the sum of the changes until then, and the last one that of the store. */
function checkStates({ archived, states, present }: ArchiveEvidence): string[] {
  const problems: string[] = [];
  for (const [revision, found] of states) {
    const expected = new Map<string, string>();
    for (const { key, token, revision: at } of archived) {
      if (at > revision) break;
      if (token === null) expected.delete(key);
      else expected.set(key, token);
    }
    problems.push(...differences(found, expected).map((each) => `at revision ${revision}: ${each}`));
  }
  const newest = states.get(Math.max(...states.keys())) ?? new Map();
  return [...problems, ...differences(newest, present).map((each) => `at present: ${each}`)];
}

function differences(found: ReadonlyMap<string, string>, expected: ReadonlyMap<string, string>): string[] {
  const keys = new Set([...found.keys(), ...expected.keys()]);
  return [...keys]
    .filter((key) => found.get(key) !== expected.get(key))
    .map((key) => `${key} is ${found.get(key)} instead of ${expected.get(key)}`);
}
