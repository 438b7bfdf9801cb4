/** The parts of the OCI runtime specification that bundles of this runtime use: `config.json` and `process.json`. */
import type { OciHook } from '../../container/hooks/own-mounts-hook.ts';

export interface OciSpec {
  readonly ociVersion: string;
  readonly hostname?: string;
  readonly root: { readonly path: string; readonly readonly: boolean };
  readonly process: OciProcess;
  readonly mounts: readonly OciMount[];
  readonly linux: OciLinux;
  readonly hooks?: OciHooks;
}

interface OciHooks {
  /** In the namespaces of the runtime, when those of the container exist. */
  readonly createRuntime?: readonly OciHook[];
  /** In the namespaces of the container, when everything is mounted. */
  readonly createContainer?: readonly OciHook[];
}

export interface OciProcess {
  readonly terminal: boolean;
  readonly user: { readonly uid: number; readonly gid: number; readonly additionalGids: readonly number[] };
  readonly args: readonly string[];
  /** `NAME=value`. */
  readonly env: readonly string[];
  readonly cwd: string;
  readonly capabilities: OciCapabilities;
  readonly noNewPrivileges: boolean;
  readonly oomScoreAdj?: number;
}

export interface OciCapabilities {
  readonly bounding: readonly string[];
  readonly effective: readonly string[];
  readonly permitted: readonly string[];
  readonly inheritable: readonly string[];
  readonly ambient: readonly string[];
}

export interface OciMount {
  readonly destination: string;
  readonly type: string;
  readonly source: string;
  readonly options: readonly string[];
}

export interface OciLinux {
  readonly namespaces: readonly OciNamespace[];
  readonly uidMappings?: readonly OciIdMapping[];
  readonly gidMappings?: readonly OciIdMapping[];
  readonly cgroupsPath?: string;
  readonly resources?: { readonly devices: readonly OciDeviceRule[] };
  readonly sysctl?: Readonly<Record<string, string>>;
  readonly seccomp?: OciSeccomp;
  readonly maskedPaths?: readonly string[];
  readonly readonlyPaths?: readonly string[];
  /** `rslave`: mounts that the node makes later appear in the container. */
  readonly rootfsPropagation?: string;
}

export interface OciNamespace {
  readonly type: 'mount' | 'network' | 'ipc' | 'uts' | 'pid' | 'user' | 'cgroup';
  /** A namespace that exists; absent: a new one. */
  readonly path?: string;
}

interface OciIdMapping {
  readonly containerID: number;
  readonly hostID: number;
  readonly size: number;
}

export interface OciDeviceRule {
  readonly allow: boolean;
  readonly type?: 'a' | 'b' | 'c';
  readonly major?: number;
  readonly minor?: number;
  readonly access: string;
}

export interface OciDevice {
  readonly path: string;
  readonly type: 'b' | 'c';
  readonly major: number;
  readonly minor: number;
  readonly fileMode: number;
}

export interface OciSeccomp {
  readonly defaultAction: string;
  readonly defaultErrnoRet: number;
  readonly architectures: readonly string[];
  readonly syscalls: readonly OciSyscalls[];
}

export interface OciSyscalls {
  readonly names: readonly string[];
  readonly action: string;
  readonly errnoRet?: number;
  readonly args?: readonly OciArgument[];
}

export interface OciArgument {
  readonly index: number;
  readonly value: number;
  readonly valueTwo?: number;
  readonly op: string;
}

export const OCI_VERSION = '1.0.2';
