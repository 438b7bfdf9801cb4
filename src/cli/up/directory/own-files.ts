/** Every name that this or an earlier release gives to something in a data directory. */
const OWN_NAMES: readonly RegExp[] = [
  /^(cluster|last-start|agent|cluster-dns|servers|store-move|backup-request)\.json$/,
  /^lock(\.\d+\.\d+|\.[0-9a-f]{16})?$/,
  /^(pki|audit|volumes|nodes|network|backups|restoring)$/,
  /^store(\.next|\.before-.+)?$/,
  /^history(\.before-.+)?$/,
  /^etcd(\.before-.+)?$/,
  /^encryption\.key$/,
  /^join-token$/,
  /^admin\.kubeconfig(\.lock)?$/,
  /^qd\.log(\.1)?$/,
  /^upgrade\.(json|log|part|tgz)$/,
  /^upgrade\.lock(\.\d+\.\d+|\.[0-9a-f]{16})?$/,
  /^\.(rotate|lost)-.+$/,
  // Files that were about to replace others when the process ended.
  /^(cluster\.json|last-start\.json|agent\.json|upgrade\.json|store-move\.json|backup-request\.json|admin\.kubeconfig|encryption\.key)\.\d+\.tmp$/,
];

/** Reports whether a file or folder in a data directory was created by qd. */
export function isOwnFile(name: string): boolean {
  return OWN_NAMES.some((pattern) => pattern.test(name));
}
