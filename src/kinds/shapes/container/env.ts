/** The environment of a container. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../schema/field-error.ts';
import { configMapKey, dnsLabel, dnsSubdomain, envVarName, nameRule } from '../../../schema/names.ts';
import { matches } from '../../../schema/rules.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { EnvFieldSelector, EnvResourceSelector } from '../meta/field-selectors.ts';
import { backsteps } from '../meta/paths.ts';

/** Key of a ConfigMap or Secret in the pod's namespace. */
const keySelector = {
  name: s.string('Name of the ConfigMap or Secret, in the namespace of the pod.'),
  key: s.string('Key whose value is used.', { required: true, rules: [matches(configMapKey)] }),
  optional: s.boolean(
    'If true, the ConfigMap or Secret or its key may be missing; the variable is then not set. Defaults to ' +
      'false, so that the container waits for it.',
  ),
};

/** The name is checked even when it is empty, as in Kubernetes. */
const named = ({ name = '' }: { name?: string }): FieldError[] =>
  dnsSubdomain(name).map((complaint) => invalid('name', name, complaint));

const FileKeySelector = s.object(
  'FileKeySelector',
  'Selects a variable from a file in the format of environment files (NAME=VALUE), in a volume of the pod.',
  {
    volumeName: s.string('Name of the volume with the file.', { required: true, rules: [matches(dnsLabel)] }),
    path: s.string("Path of the file within the volume. Must be relative and must not contain '..'.", {
      required: true,
      rules: [matches(backsteps)],
    }),
    key: s.string('Name of the variable in the file.', { required: true, rules: [matches(envVarName)] }),
    optional: s.boolean(
      'If true, the file or the variable may be missing; the variable is then not set. Defaults to false.',
      { default: false },
    ),
  },
  { atomic: true },
);

const EnvVarSource = s.object(
  'EnvVarSource',
  'Source of the value of an environment variable. Exactly one of its fields must be set.',
  {
    fieldRef: s.use(
      EnvFieldSelector,
      "Field of the pod: metadata.name, metadata.namespace, metadata.uid, metadata.labels['<key>'], " +
        "metadata.annotations['<key>'], spec.nodeName, spec.serviceAccountName, status.hostIP, status.hostIPs, " +
        'status.podIP or status.podIPs.',
    ),
    resourceFieldRef: EnvResourceSelector,
    configMapKeyRef: s.object('ConfigMapKeySelector', 'Selects the value of a key of a ConfigMap.', keySelector, {
      atomic: true,
      rules: [named],
    }),
    secretKeyRef: s.object('SecretKeySelector', 'Selects the value of a key of a Secret.', keySelector, {
      atomic: true,
      rules: [named],
    }),
    fileKeyRef: FileKeySelector,
  },
);

const envVar = {
  name: s.string("Name of the variable: printable ASCII characters other than '='.", {
    required: true,
    rules: [matches(envVarName)],
  }),
  value: s.string(
    'Value of the variable; empty by default. $(NAME) is replaced by the value of an earlier variable, $$ ' +
      'stands for a literal $, and references to unknown variables are left unchanged.',
    { omitZero: true },
  ),
  valueFrom: s.use(EnvVarSource, 'Source of the value. Cannot be combined with value.'),
};
type EnvVar = ObjectType<typeof envVar>;

export const EnvVar = s.object('EnvVar', 'An environment variable of a container.', envVar, { rules: [oneSource] });

function oneSource({ value, valueFrom }: EnvVar): FieldError | undefined {
  if (!valueFrom) return undefined;
  const sources = Object.keys(valueFrom).length;
  if (sources === 0) {
    return invalid(
      'valueFrom',
      '',
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
    );
  }
  if (value) return invalid('valueFrom', '', 'may not be specified when `value` is not empty');
  return sources > 1 ? invalid('valueFrom', '', 'may not have more than one field specified at a time') : undefined;
}

const sourceName = nameRule(dnsSubdomain);
const envSource = {
  name: s.string('Name of the ConfigMap or Secret, in the namespace of the pod.'),
  optional: s.boolean(
    'If true, the ConfigMap or Secret may be missing. Defaults to false, so that the container waits for it.',
  ),
};

const envFrom = {
  prefix: s.string('Text put before every key to form the name of the variable.', {
    omitZero: true,
    rules: [matches(envVarName)],
  }),
  configMapRef: s.object('ConfigMapEnvSource', 'ConfigMap whose keys become environment variables.', envSource, {
    rules: [mustBeNamed],
  }),
  secretRef: s.object('SecretEnvSource', 'Secret whose keys become environment variables.', envSource, {
    rules: [mustBeNamed],
  }),
};
type EnvFromSource = ObjectType<typeof envFrom>;

/** A rule on the whole list, because its errors are reported at the list. */
export const EnvFrom = s.list(
  s.object(
    'EnvFromSource',
    'A ConfigMap or Secret whose keys become environment variables. Exactly one of configMapRef and ' +
      'secretRef must be set.',
    envFrom,
  ),
  'ConfigMaps and Secrets whose keys become environment variables. Keys that are not C identifiers are ' +
    'reported in an event when the container starts. If a key occurs several times, the last ' +
    'source wins; env wins over all of them.',
  { rules: [oneSourceEach] },
);

function mustBeNamed({ name }: { name?: string }): FieldError[] {
  return name ? sourceName(name, true).map((complaint) => invalid('name', name, complaint)) : [required('name')];
}

function oneSourceEach(list: readonly EnvFromSource[]): FieldError[] {
  return list.flatMap(({ configMapRef, secretRef }) => {
    if (!configMapRef && !secretRef) return [invalid('', '', 'must specify one of: `configMapRef` or `secretRef`')];
    return configMapRef && secretRef ? [invalid('', '', 'may not have more than one field specified at a time')] : [];
  });
}
