/** What a node's agent says of its machine. */
import { s } from '../../../../schema/builders.ts';
import { duplicate, type FieldError, forbidden, invalid, required } from '../../../../schema/field-error.ts';
import { configMapKey, dnsLabel, dnsSubdomain } from '../../../../schema/names.ts';
import { matches } from '../../../../schema/rules.ts';
import type { RuleContext } from '../../../../schema/schema.ts';
import { ResourceList } from '../../../shapes/container/resources.ts';
import { conditionFields } from '../../../shapes/workload/workload-status.ts';

const ConfigMapNodeConfigSource = s.object(
  'ConfigMapNodeConfigSource',
  {
    namespace: s.string({ required: true, rules: [matches(dnsLabel)] }),
    name: s.string({ required: true, rules: [matches(dnsSubdomain)] }),
    uid: s.string({ omitZero: true }),
    resourceVersion: s.string({ omitZero: true }),
    kubeletConfigKey: s.string({ required: true, rules: [matches(configMapKey)] }),
  },
  { rules: [pinnedInStatusOnly] },
);

/** Where an agent's configuration once could come from. Kept for objects that still have it. */
export const NodeConfigSource = s.object(
  'NodeConfigSource',
  { configMap: ConfigMapNodeConfigSource },
  {
    rules: [
      (source: { configMap?: unknown }) =>
        source.configMap ? undefined : invalid('', source, 'exactly one reference subfield must be non-nil'),
    ],
  },
);

const amounts = s.use(ResourceList, { rules: [notNegative] });

const text = s.string({ zero: true });

const NodeSystemInfo = s.object('NodeSystemInfo', {
  machineID: text,
  systemUUID: text,
  bootID: text,
  kernelVersion: text,
  osImage: text,
  containerRuntimeVersion: text,
  kubeletVersion: text,
  kubeProxyVersion: text,
  operatingSystem: text,
  architecture: text,
  swap: s.object('NodeSwapStatus', {
    capacity: s.int64({
      rules: [(bytes: number) => (bytes > 0 ? undefined : invalid('', bytes, 'must be greater than zero'))],
    }),
  }),
});

const NodeRuntimeHandler = s.object('NodeRuntimeHandler', {
  name: s.string({ default: '' }),
  features: s.object('NodeRuntimeHandlerFeatures', {
    recursiveReadOnlyMounts: s.boolean(),
    userNamespaces: s.boolean(),
  }),
});

export const NodeStatus = s.object('NodeStatus', {
  capacity: s.use(amounts, { description: 'What the machine has.' }),
  allocatable: s.use(amounts, {
    default: (status: { capacity?: ResourceList }) => status.capacity,
    description: 'What of it is left for pods.',
  }),
  phase: s.string({ omitZero: true }),
  conditions: s.listMap(s.object('NodeCondition', { ...conditionFields, lastHeartbeatTime: s.time() }), {
    keys: ['type'],
    description: 'Whether it is ready, and what it lacks.',
  }),
  addresses: s.listMap(s.object('NodeAddress', { type: text, address: text }), {
    keys: ['type'],
    description: 'Where the machine can be reached.',
  }),
  daemonEndpoints: s.object(
    'NodeDaemonEndpoints',
    { kubeletEndpoint: s.object('DaemonEndpoint', { Port: s.int32({ zero: true }) }, { default: {} }) },
    { default: {}, description: 'Where its agent listens.' },
  ),
  nodeInfo: s.use(NodeSystemInfo, { default: {} }),
  images: s.list(s.object('ContainerImage', { names: s.list(s.string()), sizeBytes: s.int64({ omitZero: true }) }), {
    description: 'Images that need not be pulled any more.',
  }),
  volumesInUse: s.list(s.string()),
  volumesAttached: s.list(s.object('AttachedVolume', { name: text, devicePath: text })),
  config: s.object('NodeConfigStatus', {
    assigned: NodeConfigSource,
    active: NodeConfigSource,
    lastKnownGood: NodeConfigSource,
    error: s.string({ omitZero: true }),
  }),
  runtimeHandlers: s.list(NodeRuntimeHandler),
  features: s.object('NodeFeatures', { supplementalGroupsPolicy: s.boolean() }),
  declaredFeatures: s.list(s.string(), { rules: [featureNames] }),
});

function notNegative(list: Readonly<Record<string, string>>): FieldError[] {
  return Object.entries(list)
    .filter(([, amount]) => amount.startsWith('-'))
    .map(([name, amount]) => invalid(name, amount, 'must be greater than or equal to 0'));
}

/** A spec names an object, a status the very version that is in use. */
function pinnedInStatusOnly(
  source: { uid?: string; resourceVersion?: string },
  { root, parent }: RuleContext,
): FieldError[] {
  const pins = ['uid', 'resourceVersion'] as const;
  return root.spec?.configSource === parent
    ? pins.filter((pin) => source[pin]).map((pin) => forbidden(pin, `${pin} must not be set in spec`))
    : pins.filter((pin) => !source[pin]).map((pin) => required(pin));
}

const FEATURE = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/;
const FEATURE_WORDS =
  "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";

function featureNames(features: readonly string[]): FieldError[] {
  return features.flatMap((feature, index) => {
    const at = `[${index}]`;
    const errors: FieldError[] = [];
    const wrong = (words: string) => invalid(at, feature, `invalid feature name ${JSON.stringify(feature)}: ${words}`);
    if (feature.length > 253) errors.push(wrong('must be no more than 253 characters'));
    else if (!FEATURE.test(feature)) errors.push(wrong(FEATURE_WORDS));
    const before = features[index - 1];
    if (before === feature) errors.push(duplicate(at, feature));
    else if (before !== undefined && before > feature) {
      errors.push(invalid(at, feature, 'list must be sorted alphabetically'));
    }
    return errors;
  });
}
