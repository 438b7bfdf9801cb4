/**
 * Decides whether a store has kept its guarantees over a crash. It knows neither stores nor processes: its input is the
 * requested, the acknowledged, the watched and the remaining changes. Every written value carries a unique token, by
 * which it is recognised.
 */

export interface Operation {
  readonly id: string;
  /** Writes at one revision, all of them or none. A null token deletes. */
  readonly writes: readonly { readonly key: string; readonly token: string | null }[];
}

export interface SeenChange {
  readonly key: string;
  readonly revision: number;
  readonly token: string | null;
  /** The token and the revision that the change replaced; undefined: the key was created. */
  readonly previous: { readonly token: string; readonly revision: number } | undefined;
}

export interface SeenRow {
  readonly key: string;
  readonly revision: number;
  readonly token: string;
}

/** Record of requests and events before the crash, in the order in which they were received. */
export class Ledger {
  readonly issued = new Map<string, Operation>();
  readonly acknowledged = new Map<string, number>();
  /** Operations that the store rejected: they must have had no effect. */
  readonly rejected = new Set<string>();
  readonly told: SeenChange[] = [];
}

/** State found after the crash. */
export interface Evidence {
  /** The state before the round, and its revision. */
  readonly before: readonly SeenRow[];
  readonly start: number;
  readonly rows: readonly SeenRow[];
  readonly revision: number;
  /** Changes from a watch that resumes where a watcher was before the crash, at the revision `resumedAfter`. */
  readonly resumed: readonly SeenChange[];
  readonly resumedAfter: number;
  /** Changes from a watch from the oldest remaining revision, `replayedAfter`. */
  readonly replayed: readonly SeenChange[];
  readonly replayedAfter: number;
}

/** Returns every broken guarantee as a sentence; none when all is well. */
export function verify(ledger: Ledger, evidence: Evidence): string[] {
  const { resumed, resumedAfter } = evidence;
  const log = [...ledger.told.filter((change) => change.revision <= resumedAfter), ...resumed];
  return [
    ...checkTold(ledger.told, log),
    ...checkOrder(log, evidence),
    ...checkReplay(log, evidence),
    ...checkPrevious(log, evidence),
    ...checkState(log, evidence),
    ...checkOperations(ledger, log),
    ...checkRevision(ledger, log, evidence),
  ];
}

/** Checks that every change reported to a watcher is still true. */
function checkTold(told: readonly SeenChange[], log: readonly SeenChange[]): string[] {
  const all = new Set(log.map(text));
  return told.filter((change) => !all.has(text(change))).map((change) => `told, and then gone: ${text(change)}`);
}

/** Changes come with growing revisions, and a key once in each: nothing is repeated. */
function checkOrder(log: readonly SeenChange[], { start }: Evidence): string[] {
  const problems: string[] = [];
  let last = start;
  let keys = new Set<string>();
  for (const { key, revision } of log) {
    if (revision < last || revision <= start) problems.push(`${key} was told at ${revision} after ${last}`);
    if (revision !== last) keys = new Set();
    if (keys.has(key)) problems.push(`${key} was told twice at ${revision}`);
    keys.add(key);
    last = revision;
  }
  return problems;
}

/** A watch that was resumed, and one that starts over, agree: nothing is skipped. */
function checkReplay(log: readonly SeenChange[], { replayed, replayedAfter }: Evidence): string[] {
  const told = new Set(log.filter((change) => change.revision > replayedAfter).map(text));
  const history = new Set(replayed.map(text));
  return [
    ...[...history].filter((change) => !told.has(change)).map((change) => `no watch told of ${change}`),
    ...[...told].filter((change) => !history.has(change)).map((change) => `history has no ${change}`),
  ];
}

/** Checks that each change replaces the value of the one before it. */
function checkPrevious(log: readonly SeenChange[], { before }: Evidence): string[] {
  const problems: string[] = [];
  const state = new Map(before.map((row) => [row.key, row]));
  for (const change of log) {
    const { key, revision, token, previous } = change;
    const current = state.get(key);
    if (previous?.token !== current?.token || previous?.revision !== current?.revision) {
      problems.push(`${text(change)} replaces ${previous?.token}, but ${current?.token} was there`);
    }
    if (token === null) state.delete(key);
    else state.set(key, { key, revision, token });
  }
  return problems;
}

/** Checks that the rows are the sum of the changes. */
function checkState(log: readonly SeenChange[], { before, rows }: Evidence): string[] {
  const expected = new Map(before.map((row) => [row.key, row]));
  for (const { key, revision, token } of log) {
    if (token === null) expected.delete(key);
    else expected.set(key, { key, revision, token });
  }
  const problems: string[] = [];
  for (const { key, revision, token } of rows) {
    const row = expected.get(key);
    if (row?.revision !== revision || row.token !== token) {
      problems.push(`${key} holds ${token}@${revision}; watches told of ${row?.token}@${row?.revision}`);
    }
    expected.delete(key);
  }
  for (const { key, token } of expected.values()) problems.push(`${key} is gone; watches told of ${token}`);
  return problems;
}

/** Checks that acknowledged operations happened, rejected ones did not, and the rest happened wholly or not at all. */
function checkOperations(ledger: Ledger, log: readonly SeenChange[]): string[] {
  const problems: string[] = [];
  const found = new Map<string, number>();
  const deletions = new Map<string, number>();
  for (const { key, token, revision } of log) {
    if (token !== null) found.set(`${key} ${token}`, revision);
    else deletions.set(`${key} ${revision}`, revision);
  }
  const revisionOf = (key: string, token: string | null, revision: number | undefined) =>
    token === null ? deletions.get(`${key} ${revision}`) : found.get(`${key} ${token}`);
  for (const { id, writes } of ledger.issued.values()) {
    const acknowledged = ledger.acknowledged.get(id);
    const puts = writes.filter((write) => write.token !== null);
    const happened = acknowledged ?? puts.map(({ key, token }) => revisionOf(key, token, undefined)).find(Boolean);
    if (happened === undefined) continue;
    if (ledger.rejected.has(id)) problems.push(`operation ${id} was rejected, and happened at ${happened}`);
    for (const { key, token } of writes) {
      const revision = revisionOf(key, token, happened);
      if (revision !== happened) problems.push(`operation ${id} at ${happened}: ${key} was written at ${revision}`);
    }
  }
  const known = new Set([...ledger.issued.values()].flatMap(({ writes }) => writes.map((w) => `${w.key} ${w.token}`)));
  for (const change of log) {
    if (!known.has(`${change.key} ${change.token}`)) problems.push(`nobody asked for ${text(change)}`);
  }
  return problems;
}

/** Checks that the store's revision is not behind any revision that was seen. */
function checkRevision(ledger: Ledger, log: readonly SeenChange[], { revision, start, rows }: Evidence): string[] {
  const seen = [
    start,
    ...ledger.acknowledged.values(),
    ...log.map((change) => change.revision),
    ...rows.map((row) => row.revision),
  ];
  const newest = seen.reduce((a, b) => Math.max(a, b));
  return revision < newest ? [`the store is at ${revision}, but ${newest} was seen`] : [];
}

function text({ key, revision, token, previous }: SeenChange): string {
  return `${key}=${token}@${revision} (was ${previous ? `${previous.token}@${previous.revision}` : 'nothing'})`;
}
