import { splitApiVersion } from '../../../kinds/kind.ts';

/** Orders the versions of a group: stable before beta before alpha, and newest first. */
export function compareVersions(a: string, b: string): number {
  const left = rankOf(splitApiVersion(a)[1]);
  const right = rankOf(splitApiVersion(b)[1]);
  for (let i = 0; i < 3; i++) if (left[i] !== right[i]) return right[i]! - left[i]!;
  return a < b ? -1 : a > b ? 1 : 0;
}

const VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/;

function rankOf(version: string): [stability: number, major: number, minor: number] {
  const match = VERSION.exec(version);
  if (!match) return [-1, 0, 0];
  const [, major, stage, minor] = match;
  return [stage === 'alpha' ? 0 : stage === 'beta' ? 1 : 2, Number(major), Number(minor ?? 0)];
}
