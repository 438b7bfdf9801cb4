/** Releases of the program, as servers on one store compare themselves with others. */

export interface Release {
  /** A semantic version, such as 0.2.1. */
  readonly version: string;
  /** Raised by a release that stores what earlier ones would damage or lose. */
  readonly level: number;
}

/** The minor release of a version: 0.2 of 0.2.1. Undefined when it is not a version. */
export function minorOf(version: string): string | undefined {
  const [, minor] = /^(\d+\.\d+)(?:\.|$)/.exec(version) ?? [];
  return minor;
}

/** Orders releases by their levels, then by their minor versions. Patches of one minor release are equal. */
export function compareReleases(a: Release, b: Release): number {
  const [[majorA, minorA], [majorB, minorB]] = [numbersOf(a.version), numbersOf(b.version)];
  return a.level - b.level || majorA - majorB || minorA - minorB;
}

/**
 * Reports whether servers of two versions may use one store: they differ by one minor version at most. The first minor release
 * of a major one follows every minor release of the major one before it.
 */
export function areCompatible(a: string, b: string): boolean {
  const [[majorA, minorA], [majorB, minorB]] = [numbersOf(a), numbersOf(b)];
  if (majorA === majorB) return Math.abs(minorA - minorB) <= 1;
  return Math.abs(majorA - majorB) === 1 && (majorA > majorB ? minorA : minorB) === 0;
}

/** The minor release after another one; a major release that follows it is not known here. */
export function nextMinor(version: string): string {
  const [major, minor] = numbersOf(version);
  return `${major}.${minor + 1}`;
}

function numbersOf(version: string): readonly [number, number] {
  const [major = 0, minor = 0] = version.split('.', 2).map((part) => Number.parseInt(part, 10) || 0);
  return [major, minor];
}
