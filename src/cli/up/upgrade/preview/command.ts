/** The two sides of `qd upgrade --preview`. */
import type { UpgradeFlags } from '../flags.ts';
import { FROM_INPUT } from './messages.ts';

/** Plays the part of the new release when the copy comes on standard input. */
export async function runPreview(file: string, flags: UpgradeFlags): Promise<void> {
  if (file === FROM_INPUT) return (await import('./start-copy.ts')).startCopy();
  return (await import('./preview.ts')).preview(file, flags);
}
