import { s } from '../../../schema/builders.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { defaultColumns } from '../../columns/column.ts';
import { defineKind, type KubeObject } from '../../kind.ts';
import { LocalObjectReference, ObjectReference } from '../../shapes/meta/references.ts';

const fields = {
  secrets: s.listMap(
    ObjectReference,
    'Secrets that belong to the service account, among them the one with its token. Only the name of a ' +
      'reference is kept.',
    { keys: ['name'] },
  ),
  imagePullSecrets: s.list(
    LocalObjectReference,
    'Secrets in the same namespace with credentials for pulling images, added to pods that set none ' + 'themselves.',
  ),
  automountServiceAccountToken: s.boolean(
    'Whether a token is mounted into pods that use the account. A pod can override it. Defaults to true.',
  ),
};

export type ServiceAccount = KubeObject & ObjectType<typeof fields>;

/** The identity of processes in pods. */
export const ServiceAccount = defineKind({
  kind: 'ServiceAccount',
  short: ['sa'],
  scope: 'Namespaced',
  description: 'Identity of processes in pods when they access the API.',
  versions: { v1: {} },
  fields,
  subresources: { token: true },
  onCreate: keepOnlyNames,
  onUpdate: keepOnlyNames,
  onExport: forgetTokens,
  warnings: mountWarnings,
  columns: defaultColumns,
});

/** Keeps only the names of references to secrets; the other fields have no meaning. */
function keepOnlyNames(account: ServiceAccount): void {
  if (account.secrets) account.secrets = account.secrets.map(({ name }) => (name ? { name } : {}));
}

/** Removes the token secrets that a controller created for the account. */
function forgetTokens(account: ServiceAccount): void {
  const prefix = `${account.metadata.name}-token-`;
  account.secrets = account.secrets?.filter(({ name = '' }) => !name.startsWith(prefix));
  if (!account.secrets?.length) delete account.secrets;
}

const ENFORCE = 'kubernetes.io/enforce-mountable-secrets';

function mountWarnings({ metadata }: KubeObject, old: KubeObject | undefined): string[] {
  const isNew = metadata.annotations?.[ENFORCE] !== undefined && old?.metadata.annotations?.[ENFORCE] === undefined;
  const words = 'deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets';
  return isNew ? [`metadata.annotations[${ENFORCE}]: ${words}`] : [];
}
