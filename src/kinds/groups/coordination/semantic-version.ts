/** A semantic version (semver.org 2.0.0). */
export interface SemanticVersion {
  readonly numbers: readonly number[];
  /** Identifiers of a pre-release: `['alpha', '1']` of `1.2.3-alpha.1`. */
  readonly preRelease: readonly string[];
}

/** A longer text is no version; the pattern is not tried on it. */
const MAX_VERSION_LENGTH = 256;
const NUMBER = '(0|[1-9]\\d*)';
const WORDS = '[\\dA-Za-z-]+(?:\\.[\\dA-Za-z-]+)*';
const VERSION = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-(${WORDS}))?(?:\\+${WORDS})?$`);
const LEADING_ZERO = /^0\d+$/;

/** Parses a version; undefined for other text. */
export function parseSemanticVersion(text: string): SemanticVersion | undefined {
  const [, major, minor, patch, words] = (text.length <= MAX_VERSION_LENGTH && VERSION.exec(text)) || [];
  if (major === undefined) return undefined;
  const preRelease = words?.split('.') ?? [];
  if (preRelease.some((word) => LEADING_ZERO.test(word))) return undefined;
  return { numbers: [major, minor, patch].map(Number), preRelease };
}

/** Compares versions: below 0 if the first is older, above 0 if it is newer. */
export function compareSemanticVersions(a: SemanticVersion, b: SemanticVersion): number {
  for (const [index, number] of a.numbers.entries()) {
    const difference = number - (b.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  if (a.preRelease.length === 0 || b.preRelease.length === 0) return b.preRelease.length - a.preRelease.length;
  for (let index = 0; index < Math.max(a.preRelease.length, b.preRelease.length); index++) {
    const difference = compareWords(a.preRelease[index], b.preRelease[index]);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Numbers are older than words, and nothing is older than both. */
function compareWords(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined || b === undefined) return a === undefined ? -1 : 1;
  const [isNumberA, isNumberB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumberA && isNumberB) return Number(a) - Number(b);
  if (isNumberA !== isNumberB) return isNumberA ? -1 : 1;
  return a < b ? -1 : 1;
}
