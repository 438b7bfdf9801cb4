/** Rules across the parts of a pod spec, other than its containers. Paths are relative to the spec. */
import { type FieldError, forbidden, invalid, tooLong } from '../../../schema/field-error.ts';
import { visitContainers } from '../container/container-rules.ts';
import { dnsPolicyRules } from './dns-config.ts';
import { osRules } from './pod-os-rules.ts';
import { podResourceRules } from './pod-resources.ts';
import type { PodSpecFields as PodSpec } from './pod-spec-fields.ts';

export function podRules(spec: PodSpec): FieldError[] {
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

const ipcSysctls = /^(kernel\.sem|kernel\.(shm|msg).*|fs\.mqueue\..*)$/;
const netSysctls = /^net\./;

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

const MAX_HOSTNAME = 64;

function hostnameOverride({ hostnameOverride: name = '', setHostnameAsFQDN, hostNetwork }: PodSpec): FieldError[] {
  const field = 'hostnameOverride';
  const found: FieldError[] = [];
  if (setHostnameAsFQDN) found.push(forbidden(field, 'may not be specified when setHostnameAsFQDN is true'));
  if (hostNetwork) found.push(forbidden(field, 'may not be specified when hostNetwork is true'));
  if (Buffer.byteLength(name) > MAX_HOSTNAME) found.push(tooLong(field, MAX_HOSTNAME));
  return found;
}
