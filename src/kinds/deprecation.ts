/** Superseded API versions: since when, until when Kubernetes served them, and by which version they were replaced. */
const SUPERSEDED: Readonly<Record<string, readonly [since: string, until: string, by: string]>> = {
  'apiregistration.k8s.io/v1beta1': ['1.19', '1.22', 'apiregistration.k8s.io/v1'],
  'apps/v1beta1': ['1.8', '1.16', 'apps/v1'],
  'apps/v1beta2': ['1.9', '1.16', 'apps/v1'],
  'batch/v1beta1': ['1.21', '1.25', 'batch/v1'],
  'batch/v2alpha1': ['1.8', '1.21', 'batch/v1'],
  'extensions/v1beta1': ['1.8', '1.16', 'apps/v1'],
  'policy/v1beta1': ['1.21', '1.25', 'policy/v1'],
  'rbac.authorization.k8s.io/v1beta1': ['1.17', '1.22', 'rbac.authorization.k8s.io/v1'],
};

/** The warning for clients of a superseded version, with the message of Kubernetes. The version is still served. */
export function deprecation(apiVersion: string, kind: string): string | undefined {
  if (!Object.hasOwn(SUPERSEDED, apiVersion)) return undefined;
  const [since, until, by] = SUPERSEDED[apiVersion]!;
  return `${apiVersion} ${kind} is deprecated in v${since}+, unavailable in v${until}+; use ${by} ${kind}`;
}
