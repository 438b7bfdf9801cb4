/** Parts of the rules in `rejection.ts` and `plain-rules.ts`. */
import type { SeenContainer, SeenPod } from '../pod/container-run.ts';
import type { KeeperFacts } from './wire/calls.ts';

/** Returns what is wrong with a pod; undefined: nothing. */
export type PodRule = (pod: SeenPod, facts: KeeperFacts) => string | undefined;

type SecurityContext = NonNullable<SeenContainer['securityContext']> & NonNullable<SeenPod['spec']['securityContext']>;

/** For every container. */
export function each(check: (container: SeenContainer, facts: KeeperFacts) => string | undefined): PodRule {
  return (pod, facts) => {
    for (const container of containersOf(pod)) {
      const message = check(container, facts);
      if (message !== undefined) return message;
    }
    return undefined;
  };
}

/** For the security context of the pod and those of its containers. */
export function security(
  check: (context: Partial<SecurityContext>, facts: KeeperFacts) => string | undefined,
): PodRule {
  return (pod, facts) => {
    const contexts = [pod.spec.securityContext, ...containersOf(pod).map(({ securityContext }) => securityContext)];
    for (const context of contexts) {
      const message = context && check(context as Partial<SecurityContext>, facts);
      if (message !== undefined) return message;
    }
    return undefined;
  };
}

export function containersOf({ spec }: SeenPod): SeenContainer[] {
  return [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])];
}

/** Tells what to do to have containers. */
export function missing({ whyNotIsolated }: KeeperFacts): string {
  return `pods are containers only where the node agent runs as root and runc or crun is installed (${whyNotIsolated})`;
}
