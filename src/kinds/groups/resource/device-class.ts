import { deepEqual } from '../../../base/json/tree.ts';
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import type { ObjectType, RuleContext } from '../../../schema/schema.ts';
import { defaultColumns } from '../../columns/column.ts';
import { defineKind, type KubeObject } from '../../kind.ts';
import { isExtended } from '../../shapes/pod/resource-names.ts';
import { configurationRules, OpaqueDeviceConfiguration } from './devices/device-configuration.ts';
import { DeviceSelectors, selectorRules } from './devices/device-selector.ts';
import { eachItem } from './list-rules.ts';

const MAX_CONFIGURATIONS = 32;

const spec = {
  selectors: DeviceSelectors,
  config: s.list(
    s.object('DeviceClassConfiguration', 'Configuration for devices that are allocated through the class.', {
      opaque: OpaqueDeviceConfiguration,
    }),
    'Configuration that is passed to the drivers of allocated devices, in addition to that of the claim. At most 32.',
  ),
  extendedResourceName: s.string(
    'Name of an extended resource, such as example.com/gpu. Pods that request it in their resources get devices of this class without a claim of their own.',
  ),
};
type Spec = ObjectType<typeof spec>;

const fields = {
  spec: s.object('DeviceClassSpec', 'Which devices belong to the class, and how they are configured.', spec, {
    zero: true,
    rules: [specRules],
  }),
};

export type DeviceClass = KubeObject & ObjectType<typeof fields>;

/** A class of devices that claims can request. */
export const DeviceClass = defineKind({
  kind: 'DeviceClass',
  plural: 'deviceclasses',
  scope: 'Cluster',
  description:
    'A class of devices, such as a model of GPU, that claims request by name. It selects the devices by their attributes and can carry configuration for their drivers.',
  versions: { 'resource.k8s.io/v1': {} },
  fields,
  generation: true,
  columns: defaultColumns,
});

function specRules({ selectors, config, extendedResourceName }: Spec, { old }: RuleContext<Spec>): FieldError[] {
  const stored = old !== undefined && deepEqual(config, old.config);
  const found = [
    ...selectorRules(selectors),
    ...eachItem('config', config, MAX_CONFIGURATIONS, (each) => configurationRules(each, stored)),
  ];
  if (extendedResourceName !== undefined && !isExtended(extendedResourceName)) {
    found.push(invalid('extendedResourceName', extendedResourceName, 'must be a valid extended resource name'));
  }
  return found;
}
