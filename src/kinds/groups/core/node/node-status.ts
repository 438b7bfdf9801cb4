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
  'ConfigMap with the configuration of a kubelet. Obsolete.',
  {
    namespace: s.string('Namespace of the ConfigMap.', { required: true, rules: [matches(dnsLabel)] }),
    name: s.string('Name of the ConfigMap.', { required: true, rules: [matches(dnsSubdomain)] }),
    uid: s.string('UID of the ConfigMap. Only in the status, where it is required.', { omitZero: true }),
    resourceVersion: s.string('Resource version of the ConfigMap. Only in the status, where it is required.', {
      omitZero: true,
    }),
    kubeletConfigKey: s.string('Key of the ConfigMap with the configuration.', {
      required: true,
      rules: [matches(configMapKey)],
    }),
  },
  { rules: [pinnedInStatusOnly] },
);

/** Source of a kubelet's dynamic configuration. Obsolete; kept for objects that still have it. */
export const NodeConfigSource = s.object(
  'NodeConfigSource',
  'Source of the configuration of a kubelet. Obsolete: kept only on objects that already have it.',
  { configMap: ConfigMapNodeConfigSource },
  {
    rules: [
      (source: { configMap?: unknown }) =>
        source.configMap ? undefined : invalid('', source, 'exactly one reference subfield must be non-nil'),
    ],
  },
);

const amounts = s.use(ResourceList, { rules: [notNegative] });

const NodeSystemInfo = s.object('NodeSystemInfo', 'Identity, operating system and software versions of the node.', {
  machineID: s.string('Machine ID of the node, as in /etc/machine-id.', { zero: true }),
  systemUUID: s.string('UUID of the machine as its firmware reports it.', { zero: true }),
  bootID: s.string('ID of the current boot; it changes when the node reboots.', { zero: true }),
  kernelVersion: s.string('Version of the kernel, such as 6.1.0-18-amd64.', { zero: true }),
  osImage: s.string('Name of the operating system, such as Debian GNU/Linux 12 (bookworm).', { zero: true }),
  containerRuntimeVersion: s.string('Container runtime and its version, such as containerd://1.7.2.', { zero: true }),
  kubeletVersion: s.string('Version of the kubelet.', { zero: true }),
  kubeProxyVersion: s.string('Deprecated. Version of the service proxy.', { zero: true }),
  operatingSystem: s.string('Operating system of the node, such as linux.', { zero: true }),
  architecture: s.string('Processor architecture of the node, such as amd64.', { zero: true }),
  swap: s.object('NodeSwapStatus', 'Swap space of the node.', {
    capacity: s.int64('Total swap space in bytes.', {
      rules: [(bytes: number) => (bytes > 0 ? undefined : invalid('', bytes, 'must be greater than zero'))],
    }),
  }),
});

const NodeRuntimeHandler = s.object('NodeRuntimeHandler', 'A runtime handler of the node and its features.', {
  name: s.string('Name of the handler, as in a RuntimeClass. Empty for the default handler.', { default: '' }),
  features: s.object('NodeRuntimeHandlerFeatures', 'Features of a runtime handler.', {
    recursiveReadOnlyMounts: s.boolean('Whether the handler supports recursive read-only mounts.'),
    userNamespaces: s.boolean('Whether the handler supports user namespaces, including for volumes.'),
  }),
});

export const NodeStatus = s.object(
  'NodeStatus',
  'Observed state of a node, as reported by its kubelet and the node controllers. Read-only.',
  {
    capacity: s.use(amounts, 'Total resources of the node, such as cpu, memory, ephemeral-storage and pods.'),
    allocatable: s.use(
      amounts,
      'Resources that are available to pods: the capacity less what is reserved for the system. Defaults to ' +
        'the capacity.',
      { default: (status: { capacity?: ResourceList }) => status.capacity },
    ),
    phase: s.string('Obsolete and never set.', { omitZero: true }),
    conditions: s.listMap(
      s.object('NodeCondition', 'One aspect of the observed state of a node.', {
        ...conditionFields,
        lastHeartbeatTime: s.time('Time of the last update of the condition, whether or not it changed.'),
      }),
      'Conditions of the node, such as Ready, MemoryPressure, DiskPressure and PIDPressure.',
      { keys: ['type'] },
    ),
    addresses: s.listMap(
      s.object('NodeAddress', 'An address of the node.', {
        type: s.string('Type of the address: Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS.', {
          zero: true,
        }),
        address: s.string('IP address or host name.', { zero: true }),
      }),
      'Addresses at which the node can be reached.',
      { keys: ['type'] },
    ),
    daemonEndpoints: s.struct('NodeDaemonEndpoints', 'Ports on which the components of a node listen.', {
      kubeletEndpoint: s.struct('DaemonEndpoint', 'Port of the kubelet.', {
        Port: s.int32('Port number that the component listens on.', { zero: true }),
      }),
    }),
    nodeInfo: s.use(NodeSystemInfo, { default: {} }),
    images: s.list(
      s.object('ContainerImage', 'An image on the node.', {
        names: s.list(s.string(), 'Names by which the image is known, with tag or digest.'),
        sizeBytes: s.int64('Size of the image in bytes.', { omitZero: true }),
      }),
      'Images that are already on the node.',
    ),
    volumesInUse: s.list(s.string(), 'Attachable volumes that pods of the node use. They must not be detached.'),
    volumesAttached: s.list(
      s.object('AttachedVolume', 'A volume that is attached to a node.', {
        name: s.string('Unique name of the volume.', { zero: true }),
        devicePath: s.string('Path of the device on the node.', { zero: true }),
      }),
      'Volumes that are attached to the node.',
    ),
    config: s.object('NodeConfigStatus', 'State of the dynamic configuration of the kubelet. Obsolete.', {
      assigned: s.use(NodeConfigSource, 'Configuration that the node was assigned.'),
      active: s.use(NodeConfigSource, 'Configuration that the node uses.'),
      lastKnownGood: s.use(
        NodeConfigSource,
        'Configuration that the node falls back to if the assigned one is invalid.',
      ),
      error: s.string('Problem with the assigned configuration.', { omitZero: true }),
    }),
    runtimeHandlers: s.list(NodeRuntimeHandler, 'Runtime handlers of the node and their features.'),
    features: s.object('NodeFeatures', 'Features of the container runtime that do not depend on a runtime handler.', {
      supplementalGroupsPolicy: s.boolean(
        'Whether the runtime supports supplementalGroupsPolicy and reports the user of containers.',
      ),
    }),
    declaredFeatures: s.list(s.string(), 'Optional features that the node supports, sorted by name.', {
      rules: [featureNames],
    }),
  },
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
