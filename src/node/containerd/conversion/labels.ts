/** Labels that the runtime puts on its sandboxes and containers, and hides from the agent. */

/** The node that a sandbox or container belongs to; others on the same containerd are not seen. */
export const OWNER_LABEL = 'quarterdeck.kubernetes.io/node';
/** The image's name in the pod's spec: containerd reports any of the names that an image has. */
export const IMAGE_ANNOTATION = 'quarterdeck.kubernetes.io/image';
/** The sandbox of a container, which the status of a container does not name. */
export const SANDBOX_ANNOTATION = 'quarterdeck.kubernetes.io/sandbox';

/** The cgroup around all containers of a pod. */
export const CGROUP_ANNOTATION = 'quarterdeck.kubernetes.io/cgroup';

const MARKS: readonly string[] = [OWNER_LABEL, IMAGE_ANNOTATION, SANDBOX_ANNOTATION, CGROUP_ANNOTATION];

type Texts = Readonly<Record<string, string>>;

export function withoutMarks(texts: Texts): Texts {
  return Object.fromEntries(Object.entries(texts).filter(([name]) => !MARKS.includes(name)));
}
