/** The environment of a container. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../schema/field-error.ts';
import { configMapKey, dnsLabel, dnsSubdomain, envVarName, nameRule } from '../../../schema/names.ts';
import { matches } from '../../../schema/rules.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { EnvFieldSelector, EnvResourceSelector } from '../meta/field-selectors.ts';
import { backsteps } from '../meta/paths.ts';

/** One key of a ConfigMap or Secret in the pod's namespace. */
const keySelector = {
  name: s.string(),
  key: s.string({ required: true, rules: [matches(configMapKey)] }),
  optional: s.boolean(),
};

/** The name is checked even when it is empty, which is how the API has always put it. */
const named = ({ name = '' }: { name?: string }): FieldError[] =>
  dnsSubdomain(name).map((complaint) => invalid('name', name, complaint));

const FileKeySelector = s.object(
  'FileKeySelector',
  {
    volumeName: s.string({ required: true, rules: [matches(dnsLabel)] }),
    path: s.string({ required: true, rules: [matches(backsteps)] }),
    key: s.string({ required: true, rules: [matches(envVarName)] }),
    optional: s.boolean({ default: false }),
  },
  { atomic: true },
);

const EnvVarSource = s.object('EnvVarSource', {
  fieldRef: EnvFieldSelector,
  resourceFieldRef: EnvResourceSelector,
  configMapKeyRef: s.object('ConfigMapKeySelector', keySelector, { atomic: true, rules: [named] }),
  secretKeyRef: s.object('SecretKeySelector', keySelector, { atomic: true, rules: [named] }),
  fileKeyRef: FileKeySelector,
});

const envVar = {
  name: s.string({ required: true, rules: [matches(envVarName)] }),
  value: s.string({
    omitZero: true,
    description: 'May name earlier variables as $(NAME); $$(NAME) keeps the text, and an unknown name stays as it is.',
  }),
  valueFrom: s.use(EnvVarSource, { description: 'Where the value comes from, instead of `value`.' }),
};
type EnvVar = ObjectType<typeof envVar>;

export const EnvVar = s.object('EnvVar', envVar, { rules: [oneSource] });

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
const envSource = { name: s.string(), optional: s.boolean() };

const envFrom = {
  prefix: s.string({ omitZero: true, description: 'Put before every key.', rules: [matches(envVarName)] }),
  configMapRef: s.object('ConfigMapEnvSource', envSource, { rules: [mustBeNamed] }),
  secretRef: s.object('SecretEnvSource', envSource, { rules: [mustBeNamed] }),
};
type EnvFromSource = ObjectType<typeof envFrom>;

/** The whole list, because its complaints are about the list, not about an item. */
export const EnvFrom = s.list(s.object('EnvFromSource', envFrom), {
  description:
    'Whole ConfigMaps and Secrets as variables. Keys must be C identifiers: others are left out and reported in an ' +
    'event when the container starts. Of equal keys the last source counts, and `env` before all of them.',
  rules: [oneSourceEach],
});

function mustBeNamed({ name }: { name?: string }): FieldError[] {
  return name ? sourceName(name, true).map((complaint) => invalid('name', name, complaint)) : [required('name')];
}

function oneSourceEach(list: readonly EnvFromSource[]): FieldError[] {
  return list.flatMap(({ configMapRef, secretRef }) => {
    if (!configMapRef && !secretRef) return [invalid('', '', 'must specify one of: `configMapRef` or `secretRef`')];
    return configMapRef && secretRef ? [invalid('', '', 'may not have more than one field specified at a time')] : [];
  });
}
