import { Pod } from '../../../../../kinds/groups/core/pod/pod.ts';
import type { Reader } from '../../../../objects/ports.ts';
import { objectsIn } from '../../../../objects/reads/lookup.ts';
import { violations } from './evaluate.ts';
import { type LevelVersion, levelText } from './policy.ts';

type Ports = Pick<Reader, 'cache'>;

/** Limit for the checked pods: it is only a warning, and the client waits for it. */
const MAX_CHECKED_PODS = 3000;

/** Returns warnings about running pods that violate a stricter level newly enforced by their namespace. */
export function existingPods(core: Ports, namespace: string, enforce: LevelVersion): string[] {
  const pods = differentFirst(objectsIn(core, Pod, namespace));
  const names = new Map<string, string[]>();
  for (const pod of pods.slice(0, MAX_CHECKED_PODS)) {
    const found = violations(enforce, pod);
    if (found.length === 0) continue;
    const reasons = found.map(({ reason }) => reason).join(', ');
    names.set(reasons, [...(names.get(reasons) ?? []), pod.metadata.name ?? '']);
  }
  const warnings: string[] = [];
  if (pods.length > MAX_CHECKED_PODS) {
    warnings.push(
      `new PodSecurity enforce level only checked against the first ${MAX_CHECKED_PODS} of ${pods.length} existing pods`,
    );
  }
  if (names.size > 0) {
    warnings.push(
      `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${levelText(enforce)}"`,
    );
  }
  return [...warnings, ...[...names].map(([reasons, pods]) => `${listed(pods)}: ${reasons}`).sort()];
}

function listed(names: readonly string[]): string {
  const [first] = [...names].sort();
  if (names.length === 1) return first!;
  return `${first} (and ${names.length - 1} other pod${names.length === 2 ? '' : 's'})`;
}

/** Moves one pod of each controller to the front, since pods of one controller are alike. */
function differentFirst(pods: readonly Pod[]): readonly Pod[] {
  const seen = new Set<string>();
  const alike: Pod[] = [];
  const different = pods.filter((pod) => {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller)?.uid;
    if (owner === undefined) return true;
    if (seen.has(owner)) {
      alike.push(pod);
      return false;
    }
    seen.add(owner);
    return true;
  });
  return [...different, ...alike];
}
