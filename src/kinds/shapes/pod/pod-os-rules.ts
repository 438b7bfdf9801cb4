/** Rules that depend on the operating system of a pod. Paths are relative to the spec. */
import { addAll } from '../../../base/collections/add-all.ts';
import { type FieldError, forbidden, invalid } from '../../../schema/field-error.ts';
import { visitContainers } from '../container/container-rules.ts';
import type { PodSpecFields as PodSpec } from './pod-spec-fields.ts';

export function osRules(spec: PodSpec): FieldError[] {
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

const notInPod = [
  ...['appArmorProfile', 'seLinuxOptions', 'seccompProfile', 'fsGroup', 'fsGroupChangePolicy', 'sysctls', 'runAsUser'],
  ...['runAsGroup', 'supplementalGroups', 'supplementalGroupsPolicy', 'seLinuxChangePolicy'],
];
const notInSpec = ['hostUsers', 'hostPID', 'hostIPC', 'shareProcessNamespace'];
const notInContainer = [
  ...['appArmorProfile', 'seLinuxOptions', 'seccompProfile', 'capabilities', 'readOnlyRootFilesystem', 'privileged'],
  ...['allowPrivilegeEscalation', 'procMount', 'runAsUser', 'runAsGroup'],
];

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
