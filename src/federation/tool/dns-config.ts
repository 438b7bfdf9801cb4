/**
 * The federations that the DNS of a cluster knows: the key `federations` of the ConfigMap kube-system/kube-dns, as
 * `name=domain`, separated by commas.
 */
export const DNS_CONFIG = { namespace: 'kube-system', name: 'kube-dns', key: 'federations' } as const;

/** The value with the federation in it. `entry` is `name=domain`. */
export function withFederation(value: string | undefined, entry: string): string {
  const [name] = entry.split('=');
  return [...entriesOf(value).filter((each) => each.split('=')[0] !== name), entry].join(',');
}

/** Returns the value without the federation; undefined when no other is left. */
export function withoutFederation(value: string | undefined, name: string): string | undefined {
  return (
    entriesOf(value)
      .filter((each) => each.split('=')[0] !== name)
      .join(',') || undefined
  );
}

function entriesOf(value = ''): readonly string[] {
  return value
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

/** Releases of the cluster and of the tool from which the tool manages the DNS configuration on a join. */
const FIRST_CLUSTER = { major: 1, minor: 5 };
const FIRST_TOOL = { major: 1, minor: 6 };

interface Release {
  readonly major: string;
  readonly minor: string;
}

/** Otherwise, the operator updates it. */
export function managesDns(cluster: Release, tool: Release): boolean {
  return isSince(cluster, FIRST_CLUSTER) && isSince(tool, FIRST_TOOL);
}

/** Compares releases. Some clusters report a minor release like `7+`. */
function isSince({ major, minor }: Release, first: { readonly major: number; readonly minor: number }): boolean {
  const [a, b] = [Number.parseInt(major, 10), Number.parseInt(minor, 10)];
  return a > first.major || (a === first.major && b >= first.minor);
}
