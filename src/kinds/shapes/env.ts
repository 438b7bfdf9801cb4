/** The environment of a container. */
import { s } from '../../schema/builders.ts';
import type { TypeOf } from '../../schema/schema.ts';
import { ObjectFieldSelector, ResourceFieldSelector } from './field-selectors.ts';

/** One key of a ConfigMap or Secret in the pod's namespace. */
const keySelector = { name: s.string(), key: s.string({ required: true }), optional: s.boolean() };

const FileKeySelector = s.object(
  'FileKeySelector',
  {
    volumeName: s.string({ required: true }),
    path: s.string({ required: true }),
    key: s.string({ required: true }),
    optional: s.boolean({ default: false }),
  },
  { atomic: true },
);

const EnvVarSource = s.object('EnvVarSource', {
  fieldRef: ObjectFieldSelector,
  resourceFieldRef: ResourceFieldSelector,
  configMapKeyRef: s.object('ConfigMapKeySelector', keySelector, { atomic: true }),
  secretKeyRef: s.object('SecretKeySelector', keySelector, { atomic: true }),
  fileKeyRef: FileKeySelector,
});

export const EnvVar = s.object('EnvVar', {
  name: s.string({ required: true }),
  value: s.string({
    description: 'May name earlier variables as $(NAME); $$(NAME) keeps the text, and an unknown name stays as it is.',
  }),
  valueFrom: s.use(EnvVarSource, { description: 'Where the value comes from, instead of `value`.' }),
});
export type EnvVar = TypeOf<typeof EnvVar>;

const envSource = { name: s.string(), optional: s.boolean() };

export const EnvFromSource = s.object('EnvFromSource', {
  prefix: s.string({ description: 'Put before every key.' }),
  configMapRef: s.object('ConfigMapEnvSource', envSource),
  secretRef: s.object('SecretEnvSource', envSource),
});
export type EnvFromSource = TypeOf<typeof EnvFromSource>;
