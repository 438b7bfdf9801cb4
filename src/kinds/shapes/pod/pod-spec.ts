/** The spec of a pod: in a Pod, and in every template that creates pods. */

import { addAll } from '../../../base/collections/add-all.ts';
import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, invalid, tooLong } from '../../../schema/field-error.ts';
import type { RuleContext } from '../../../schema/schema.ts';
import { containerRules, visitContainers } from '../container/container-rules.ts';
import { dnsPolicyRules } from './dns-config.ts';
import { podResourceRules } from './pod-resources.ts';
import { type PodSpecFields, podSpecFields } from './pod-spec-fields.ts';

const notInPod = [
  ...['appArmorProfile', 'seLinuxOptions', 'seccompProfile', 'fsGroup', 'fsGroupChangePolicy', 'sysctls', 'runAsUser'],
  ...['runAsGroup', 'supplementalGroups', 'supplementalGroupsPolicy', 'seLinuxChangePolicy'],
];

const notInSpec = ['hostUsers', 'hostPID', 'hostIPC', 'shareProcessNamespace'];

const notInContainer = [
  ...['appArmorProfile', 'seLinuxOptions', 'seccompProfile', 'capabilities', 'readOnlyRootFilesystem', 'privileged'],
  ...['allowPrivilegeEscalation', 'procMount', 'runAsUser', 'runAsGroup'],
];

const ipcSysctls = /^(kernel\.sem|kernel\.(shm|msg).*|fs\.mqueue\..*)$/;
const netSysctls = /^net\./;
const MAX_HOSTNAME = 64;

export type PodSpec = PodSpecFields;

/** Spec of a pod. Its rules do not run on a status update, which does not change the spec. */
export const PodSpec = s.object(
  'PodSpec',
  'Containers, volumes, placement and security settings of a pod.',
  podSpecFields,
  {
    rules: [
      (spec: PodSpec, { subresource }: RuleContext) =>
        subresource === 'status' ? [] : [...containerRules(spec), ...podRules(spec)],
    ],
  },
);

function podRules(spec: PodSpec): FieldError[] {
  return [
    ...podResourceRules(spec),
    ...(spec.hostNetwork ? hostNetworkRules(spec) : []),
    ...dnsPolicyRules(spec.dnsPolicy, spec.dnsConfig),
    ...sharedNamespaces(spec),
    ...(spec.hostUsers === false ? userNamespaceRules(spec) : []),
    ...(spec.hostnameOverride === undefined ? [] : hostnameOverride(spec)),
    ...osRules(spec),
  ];
}

/** Checks pods with hostNetwork: host ports equal container ports, and hostAliases have no effect. */
function hostNetworkRules({ containers, hostAliases }: PodSpec): FieldError[] {
  const found: FieldError[] = [];
  containers?.forEach(({ ports }, index) => {
    ports?.forEach(({ hostPort, containerPort }, position) => {
      if (hostPort === undefined || hostPort === containerPort) return;
      const detail = 'must match `containerPort` when `hostNetwork` is true';
      found.push(invalid(`containers[${index}].ports[${position}].hostPort`, hostPort, detail));
    });
  });
  if (hostAliases) found.push(forbidden('hostAliases', 'may not be set when `hostNetwork` is true'));
  return found;
}

function sharedNamespaces({ hostNetwork, hostIPC, hostPID, shareProcessNamespace, securityContext }: PodSpec) {
  const found: FieldError[] = [];
  if (shareProcessNamespace && hostPID) {
    const detail = 'ShareProcessNamespace and HostPID cannot both be enabled';
    found.push(invalid('securityContext.shareProcessNamespace', true, detail));
  }
  securityContext.sysctls?.forEach(({ name }, index) => {
    const dotted = name.replaceAll('/', '.');
    const field = `securityContext.sysctls[${index}].name`;
    if (hostNetwork && netSysctls.test(dotted)) {
      found.push(invalid(field, name, "may not be specified when 'hostNetwork' is true"));
    } else if (hostIPC && ipcSysctls.test(dotted)) {
      found.push(invalid(field, name, "may not be specified when 'hostIPC' is true"));
    }
  });
  return found;
}

/** A pod with a user namespace cannot share the host's namespaces. */
function userNamespaceRules(spec: PodSpec): FieldError[] {
  const detail = 'when `hostUsers` is false';
  const found: FieldError[] = [];
  if (spec.hostNetwork) found.push(forbidden('hostNetwork', detail));
  if (spec.hostPID) found.push(forbidden('HostPID', detail));
  if (spec.hostIPC) found.push(forbidden('HostIPC', detail));
  visitContainers(spec, ({ volumeDevices }, path) => {
    if (volumeDevices) found.push(forbidden(`${path}.volumeDevices`, detail));
  });
  return found;
}

function hostnameOverride({ hostnameOverride: name = '', setHostnameAsFQDN, hostNetwork }: PodSpec): FieldError[] {
  const field = 'hostnameOverride';
  const found: FieldError[] = [];
  if (setHostnameAsFQDN) found.push(forbidden(field, 'may not be specified when setHostnameAsFQDN is true'));
  if (hostNetwork) found.push(forbidden(field, 'may not be specified when hostNetwork is true'));
  if (Buffer.byteLength(name) > MAX_HOSTNAME) found.push(tooLong(field, MAX_HOSTNAME));
  return found;
}

function osRules(spec: PodSpec): FieldError[] {
  const found = hostProcesses(spec);
  switch (spec.os?.name) {
    case 'linux':
      addAll(found, onLinux(spec));
      break;
    case 'windows':
      addAll(found, onWindows(spec));
      break;
  }
  return found;
}

/** Checks Windows pods: all containers of a pod are HostProcess containers or none; such pods use the host network. */
function hostProcesses(spec: PodSpec): FieldError[] {
  const found: FieldError[] = [];
  const ofPod = spec.securityContext.windowsOptions?.hostProcess;
  let containers = 0;
  let onHost = 0;
  visitContainers(spec, ({ securityContext }, path) => {
    const own = securityContext?.windowsOptions?.hostProcess;
    containers++;
    if (own ?? ofPod) onHost++;
    if (ofPod !== undefined && own !== undefined && own !== ofPod) {
      const detail = `pod hostProcess value must be identical if both are specified, was ${ofPod}`;
      found.push(invalid(`${path}.securityContext.windowsOptions.hostProcess`, own, detail));
    }
  });
  if (onHost === 0) return found;
  if (onHost !== containers) {
    const detail = 'If pod contains any hostProcess containers then all containers must be HostProcess containers';
    found.push(invalid('', '', detail));
  }
  if (!spec.hostNetwork) {
    found.push(invalid('hostNetwork', false, 'hostNetwork must be true if pod contains any hostProcess containers'));
  }
  return found;
}

function onLinux(spec: PodSpec): FieldError[] {
  const detail = 'windows options cannot be set for a linux pod';
  const found: FieldError[] = [];
  if (spec.securityContext.windowsOptions) found.push(forbidden('securityContext.windowsOptions', detail));
  visitContainers(spec, ({ securityContext }, path) => {
    if (securityContext?.windowsOptions) found.push(forbidden(`${path}.securityContext.windowsOptions`, detail));
  });
  return found;
}

function onWindows(spec: PodSpec): FieldError[] {
  const found = [...notSet(spec.securityContext, notInPod, 'securityContext.'), ...notSet(spec, notInSpec, '')];
  if (spec.resources) found.push(forbidden('resources', 'may not be set for a windows pod'));
  visitContainers(spec, ({ securityContext }, path) => {
    if (securityContext) addAll(found, notSet(securityContext, notInContainer, `${path}.securityContext.`));
  });
  return found;
}

function notSet(holder: object, fields: readonly string[], path: string): FieldError[] {
  return fields
    .filter((field) => (holder as Readonly<Record<string, unknown>>)[field] !== undefined)
    .map((field) => forbidden(path + field, 'cannot be set for a windows pod'));
}
