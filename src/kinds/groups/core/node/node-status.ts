/** Status of a node, as its kubelet reports it. */
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
    namespace: s.string({ required: true, description: 'Namespace of the ConfigMap.', rules: [matches(dnsLabel)] }),
    name: s.string({ required: true, description: 'Name of the ConfigMap.', rules: [matches(dnsSubdomain)] }),
    uid: s.string({ omitZero: true, description: 'UID of the ConfigMap. Only in the status, where it is required.' }),
    resourceVersion: s.string({
      omitZero: true,
      description: 'Resource version of the ConfigMap. Only in the status, where it is required.',
    }),
    kubeletConfigKey: s.string({
      required: true,
      description: 'Key of the ConfigMap with the configuration.',
      rules: [matches(configMapKey)],
    }),
  },
  { description: 'ConfigMap with the configuration of a kubelet. Obsolete.', rules: [pinnedInStatusOnly] },
);

/** Source of a kubelet's dynamic configuration. Obsolete; kept for objects that still have it. */
export const NodeConfigSource = s.object(
  'NodeConfigSource',
  { configMap: ConfigMapNodeConfigSource },
  {
    description: 'Source of the configuration of a kubelet. Obsolete: kept only on objects that already have it.',
    rules: [
      (source: { configMap?: unknown }) =>
        source.configMap ? undefined : invalid('', source, 'exactly one reference subfield must be non-nil'),
    ],
  },
);

const amounts = s.use(ResourceList, { rules: [notNegative] });

const NodeSystemInfo = s.object(
  'NodeSystemInfo',
  {
    machineID: s.string({ zero: true, description: 'Machine ID of the node, as in /etc/machine-id.' }),
    systemUUID: s.string({ zero: true, description: 'UUID of the machine as its firmware reports it.' }),
    bootID: s.string({ zero: true, description: 'ID of the current boot; it changes when the node reboots.' }),
    kernelVersion: s.string({ zero: true, description: 'Version of the kernel, such as 6.1.0-18-amd64.' }),
    osImage: s.string({
      zero: true,
      description: 'Name of the operating system, such as Debian GNU/Linux 12 (bookworm).',
    }),
    containerRuntimeVersion: s.string({
      zero: true,
      description: 'Container runtime and its version, such as containerd://1.7.2.',
    }),
    kubeletVersion: s.string({ zero: true, description: 'Version of the kubelet.' }),
    kubeProxyVersion: s.string({ zero: true, description: 'Deprecated. Version of the service proxy.' }),
    operatingSystem: s.string({ zero: true, description: 'Operating system of the node, such as linux.' }),
    architecture: s.string({ zero: true, description: 'Processor architecture of the node, such as amd64.' }),
    swap: s.object(
      'NodeSwapStatus',
      {
        capacity: s.int64({
          description: 'Total swap space in bytes.',
          rules: [(bytes: number) => (bytes > 0 ? undefined : invalid('', bytes, 'must be greater than zero'))],
        }),
      },
      { description: 'Swap space of the node.' },
    ),
  },
  { description: 'Identity, operating system and software versions of the node.' },
);

const NodeRuntimeHandler = s.object(
  'NodeRuntimeHandler',
  {
    name: s.string({
      default: '',
      description: 'Name of the handler, as in a RuntimeClass. Empty for the default handler.',
    }),
    features: s.object(
      'NodeRuntimeHandlerFeatures',
      {
        recursiveReadOnlyMounts: s.boolean({ description: 'Whether the handler supports recursive read-only mounts.' }),
        userNamespaces: s.boolean({
          description: 'Whether the handler supports user namespaces, including for volumes.',
        }),
      },
      { description: 'Features of a runtime handler.' },
    ),
  },
  { description: 'A runtime handler of the node and its features.' },
);

export const NodeStatus = s.object(
  'NodeStatus',
  {
    capacity: s.use(amounts, {
      description: 'Total resources of the node, such as cpu, memory, ephemeral-storage and pods.',
    }),
    allocatable: s.use(amounts, {
      default: (status: { capacity?: ResourceList }) => status.capacity,
      description:
        'Resources that are available to pods: the capacity less what is reserved for the system. Defaults to ' +
        'the capacity.',
    }),
    phase: s.string({ omitZero: true, description: 'Obsolete and never set.' }),
    conditions: s.listMap(
      s.object(
        'NodeCondition',
        {
          ...conditionFields,
          lastHeartbeatTime: s.time({
            description: 'Time of the last update of the condition, whether or not it changed.',
          }),
        },
        { description: 'One aspect of the observed state of a node.' },
      ),
      {
        keys: ['type'],
        description: 'Conditions of the node, such as Ready, MemoryPressure, DiskPressure and PIDPressure.',
      },
    ),
    addresses: s.listMap(
      s.object(
        'NodeAddress',
        {
          type: s.string({
            zero: true,
            description: 'Type of the address: Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS.',
          }),
          address: s.string({ zero: true, description: 'IP address or host name.' }),
        },
        { description: 'An address of the node.' },
      ),
      {
        keys: ['type'],
        description: 'Addresses at which the node can be reached.',
      },
    ),
    daemonEndpoints: s.object(
      'NodeDaemonEndpoints',
      {
        kubeletEndpoint: s.object(
          'DaemonEndpoint',
          { Port: s.int32({ zero: true, description: 'Port number that the component listens on.' }) },
          { default: {}, description: 'Port of the kubelet.' },
        ),
      },
      { default: {}, description: 'Ports on which the components of a node listen.' },
    ),
    nodeInfo: s.use(NodeSystemInfo, { default: {} }),
    images: s.list(
      s.object(
        'ContainerImage',
        {
          names: s.list(s.string(), { description: 'Names by which the image is known, with tag or digest.' }),
          sizeBytes: s.int64({ omitZero: true, description: 'Size of the image in bytes.' }),
        },
        { description: 'An image on the node.' },
      ),
      {
        description: 'Images that are already on the node.',
      },
    ),
    volumesInUse: s.list(s.string(), {
      description: 'Attachable volumes that pods of the node use. They must not be detached.',
    }),
    volumesAttached: s.list(
      s.object(
        'AttachedVolume',
        {
          name: s.string({ zero: true, description: 'Unique name of the volume.' }),
          devicePath: s.string({ zero: true, description: 'Path of the device on the node.' }),
        },
        { description: 'A volume that is attached to a node.' },
      ),
      { description: 'Volumes that are attached to the node.' },
    ),
    config: s.object(
      'NodeConfigStatus',
      {
        assigned: s.use(NodeConfigSource, { description: 'Configuration that the node was assigned.' }),
        active: s.use(NodeConfigSource, { description: 'Configuration that the node uses.' }),
        lastKnownGood: s.use(NodeConfigSource, {
          description: 'Configuration that the node falls back to if the assigned one is invalid.',
        }),
        error: s.string({ omitZero: true, description: 'Problem with the assigned configuration.' }),
      },
      { description: 'State of the dynamic configuration of the kubelet. Obsolete.' },
    ),
    runtimeHandlers: s.list(NodeRuntimeHandler, { description: 'Runtime handlers of the node and their features.' }),
    features: s.object(
      'NodeFeatures',
      {
        supplementalGroupsPolicy: s.boolean({
          description: 'Whether the runtime supports supplementalGroupsPolicy and reports the user of containers.',
        }),
      },
      { description: 'Features of the container runtime that do not depend on a runtime handler.' },
    ),
    declaredFeatures: s.list(s.string(), {
      description: 'Optional features that the node supports, sorted by name.',
      rules: [featureNames],
    }),
  },
  { description: 'Observed state of a node, as reported by its kubelet and the node controllers. Read-only.' },
);

function notNegative(list: Readonly<Record<string, string>>): FieldError[] {
  return Object.entries(list)
    .filter(([, amount]) => amount.startsWith('-'))
    .map(([name, amount]) => invalid(name, amount, 'must be greater than or equal to 0'));
}

interface Pins {
  uid?: string;
  resourceVersion?: string;
}

/**
 * Checks that only a status pins a version: in a spec the source names an object, in a status also the version of it
 * that is in use.
 */
function pinnedInStatusOnly(
  source: Pins,
  { root, parent }: RuleContext<never, { readonly spec?: { readonly configSource?: object } }>,
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
