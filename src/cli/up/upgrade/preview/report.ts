/** The report of a preview, as it is printed. */
import { minorOf } from '../../../../api/release.ts';
import type { ObjectChange } from './changes.ts';
import type { CopyResult } from './messages.ts';

export interface PreviewReport extends Omit<CopyResult, 'version' | 'level' | 'apis'> {
  /** True when the upgrade would work, as far as the preview has seen. */
  readonly works: boolean;
  readonly cluster: string;
  readonly directory: string;
  readonly revision: number;
  readonly objects: number;
  readonly from: {
    readonly version: string | undefined;
    /** The minimum level in the store. */
    readonly level: number;
  };
  readonly to: { readonly version: string; readonly level: number };
  readonly wayBack: {
    /** True when the minimum level rises, so that the present release is rejected afterwards. */
    readonly closes: boolean;
  };
  /** False when the flags of the last start are not known, and only those in the data directory were tried. */
  readonly knowsFlags: boolean;
  /** Absent when there was no release to compare with. */
  readonly apis?: { readonly added: readonly string[]; readonly removed: readonly string[] } | undefined;
  /** How long controllers ran. */
  readonly seconds: number;
  /** Number of changes that the present release makes on such a copy as well; absent: not compared. */
  readonly alike?: number | undefined;
  /** Why there was no release to compare with. */
  readonly notCompared?: string | undefined;
}

const MAX_SHOWN = 20;
const MAX_SHOWN_IN_DETAIL = 5;
const MAX_LINES_OF_OBJECT = 8;

export function reportLines(report: PreviewReport): string[] {
  const { cluster, from, to, objects, revision, works } = report;
  return [
    `Preview of cluster "${cluster}" with ${to.version}${from.version === undefined ? '' : ` (now ${from.version})`}, on a copy of its ${objects} objects at revision ${revision}`,
    ...startLines(report),
    ...flagLines(report),
    ...wayBackLines(report),
    ...(report.problem === undefined ? contentLines(report) : []),
    works ? 'The upgrade would work. Nothing was changed.' : 'The upgrade would not work. Nothing was changed.',
  ];
}

function startLines({ problem, secondsToReady = 0, to }: PreviewReport): string[] {
  if (problem !== undefined) return [`start: ${to.version} does not become ready: ${problem}`];
  return [`start: ready after ${secondsToReady.toFixed(1)} s`];
}

function flagLines({ rejectedFlags, knowsFlags }: PreviewReport): string[] {
  if (rejectedFlags.length > 0) return ['flags: rejected', ...rejectedFlags.map((line) => `  ${line}`)];
  return [
    `flags: accepted${knowsFlags ? '' : ' (those in the data directory; others of the last start are not known)'}`,
  ];
}

function wayBackLines({ wayBack, from, to }: PreviewReport): string[] {
  if (!wayBack.closes) return [`way back: stays open (level ${to.level})`];
  const back = from.version === undefined ? 'the release before' : (minorOf(from.version) ?? from.version);
  return [
    `way back: closes, because the level rises from ${from.level} to ${to.level}; afterwards, ${back} needs a snapshot that it saved`,
  ];
}

function contentLines(report: PreviewReport): string[] {
  const { unreadable, unreadableCount, otherVersions, apis, notCompared, notCalled } = report;
  return [
    ...section(
      'objects that it cannot show',
      unreadableCount,
      unreadable.map(({ key, reason }) => `${key}: ${reason}`),
    ),
    ...section(
      'objects that it stores in another version',
      otherVersions.length,
      otherVersions.map(({ count, kind, from, to }) => `${count} ${kind}: ${from}, then ${to}`),
    ),
    ...(apis ? section('kinds that are not served any more', apis.removed.length, apis.removed) : []),
    ...(apis ? section('kinds that are new', apis.added.length, apis.added) : []),
    ...changeLines(report),
    ...(notCompared === undefined ? [] : [`not compared with the present release: ${notCompared}`]),
    ...section('not asked, because they are outside', notCalled.length, notCalled),
  ];
}

/** `count`: of all, of which the lines may be the first. */
function section(title: string, count: number, lines: readonly string[]): string[] {
  if (count === 0) return [`${title}: none`];
  const shown = lines.slice(0, MAX_SHOWN);
  const more = count > shown.length ? [`  and ${count - shown.length} more`] : [];
  return [`${title}: ${count}`, ...shown.map((line) => `  ${line}`), ...more];
}

function changeLines({ changes, moreChanges, alike, seconds }: PreviewReport): string[] {
  const others = alike ? `; ${alike} more that the present release makes on a copy as well` : '';
  const count = changes.length + moreChanges;
  const title = `changes within ${seconds} s, with controllers and no nodes: ${count === 0 ? 'none' : count}${others}`;
  const shown = changes.slice(0, MAX_SHOWN);
  const lines = shown.flatMap((change, index) => [
    `  ${change.action} ${describe(change)}`,
    ...(index < MAX_SHOWN_IN_DETAIL && change.action === 'changed' ? fieldLines(change) : []),
  ]);
  const rest = changes.slice(MAX_SHOWN);
  return [title, ...lines, ...countsOf(rest), ...(moreChanges > 0 ? [`  and ${moreChanges} more`] : [])];
}

function describe({ kind, namespace, name }: ObjectChange): string {
  return `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`.trimEnd();
}

function fieldLines({ fields, moreFields }: ObjectChange): string[] {
  const shown = fields.slice(0, MAX_LINES_OF_OBJECT);
  const more = fields.length - shown.length + moreFields;
  return [...shown.map((line) => `    ${line}`), ...(more > 0 ? [`    and ${more} more`] : [])];
}

/** The changes that are not shown one by one. */
function countsOf(changes: readonly ObjectChange[]): string[] {
  const counts = new Map<string, number>();
  for (const { action, kind } of changes) {
    const what = `${action} ${kind}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].map(([what, count]) => `  and ${count} more: ${what}`);
}
