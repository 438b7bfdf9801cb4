/** The configuration of an own containerd, as TOML. */
import { ownMountsHook } from '../../container/hooks/own-mounts-hook.ts';
import { atLeast } from '../features/features.ts';
import type { Machine } from './machine.ts';
import type { OwnPaths } from './paths.ts';

interface ConfigInput {
  readonly paths: OwnPaths;
  readonly machine: Machine;
  readonly sandboxImage: string;
  readonly streamAddress: string;
}

type Value = string | number | boolean | readonly string[];
/** Keys and values by the path of their table. */
export type Tables = readonly (readonly [path: readonly string[], values: Readonly<Record<string, Value>>])[];

export function containerdConfig(input: ConfigInput): string {
  const isVersion1 = input.machine.containerdVersion.startsWith('1.');
  const { paths } = input;
  return toml([
    [[], { version: isVersion1 ? 2 : 3, root: paths.root, state: paths.state, oom_score: 0 }],
    [['grpc'], { address: paths.socket }],
    [['debug'], { level: 'warn' }],
    // Otherwise it would create /opt/containerd.
    [['plugins', 'io.containerd.internal.v1.opt'], { path: `${paths.root}/opt` }],
    // Its socket is one for the whole machine.
    [['plugins', 'io.containerd.nri.v1.nri'], { disable: true }],
    ...(isVersion1 ? version2(input) : version3(input)),
  ]);
}

/** Returns the configuration for containerd 1.x. */
function version2({ paths, machine, sandboxImage, streamAddress }: ConfigInput): Tables {
  const cri = ['plugins', 'io.containerd.grpc.v1.cri'];
  return [
    [
      cri,
      {
        sandbox_image: sandboxImage,
        restrict_oom_score_adj: !machine.mayLowerOomScore,
        netns_mounts_under_state_dir: true,
        stream_server_address: streamAddress,
        tolerate_missing_hugetlb_controller: true,
      },
    ],
    [[...cri, 'cni'], { bin_dir: pluginFolder(machine), conf_dir: paths.cniConfiguration }],
    [[...cri, 'containerd'], { snapshotter: machine.snapshotter, default_runtime_name: 'runc' }],
    ...runc([...cri, 'containerd', 'runtimes', 'runc'], machine, paths),
    [[...cri, 'registry'], { config_path: paths.registries }],
  ];
}

/** Returns the configuration for containerd 2.x. */
function version3({ paths, machine, sandboxImage, streamAddress }: ConfigInput): Tables {
  const runtime = ['plugins', 'io.containerd.cri.v1.runtime'];
  const images = ['plugins', 'io.containerd.cri.v1.images'];
  // 2.1 takes several folders; 2.3 no longer knows the old name.
  const plugins: Readonly<Record<string, Value>> = atLeast(machine.containerdVersion, '2.1')
    ? { bin_dirs: [pluginFolder(machine)] }
    : { bin_dir: pluginFolder(machine) };
  return [
    [images, { snapshotter: machine.snapshotter }],
    [[...images, 'pinned_images'], { sandbox: sandboxImage }],
    [[...images, 'registry'], { config_path: paths.registries }],
    [
      runtime,
      {
        restrict_oom_score_adj: !machine.mayLowerOomScore,
        netns_mounts_under_state_dir: true,
        tolerate_missing_hugetlb_controller: true,
      },
    ],
    [[...runtime, 'cni'], { ...plugins, conf_dir: paths.cniConfiguration }],
    [[...runtime, 'containerd'], { default_runtime_name: 'runc' }],
    ...runc([...runtime, 'containerd', 'runtimes', 'runc'], machine, paths),
    [['plugins', 'io.containerd.grpc.v1.cri'], { stream_server_address: streamAddress }],
  ];
}

function pluginFolder({ cniPlugins }: Machine): string {
  return cniPlugins ?? '/opt/cni/bin';
}

function runc(path: readonly string[], machine: Machine, { baseSpec }: OwnPaths): Tables {
  const base: Readonly<Record<string, Value>> =
    machine.defaultSpec === undefined ? {} : { base_runtime_spec: baseSpec };
  return [
    [path, { runtime_type: 'io.containerd.runc.v2', ...base }],
    [[...path, 'options'], { SystemdCgroup: machine.usesSystemdCgroups }],
  ];
}

export function toml(tables: Tables): string {
  return tables
    .map(([path, values]) => {
      const head = path.length > 0 ? `[${path.map((name) => JSON.stringify(name)).join('.')}]\n` : '';
      const lines = Object.entries(values).map(([key, value]) => `${quoted(key)} = ${JSON.stringify(value)}\n`);
      return head + lines.join('');
    })
    .join('\n');
}

function quoted(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

/** Returns the base specification of every container: that of containerd, and a check of the mounts. */
export function baseSpecOf(defaultSpec: string): string {
  return JSON.stringify({ ...(JSON.parse(defaultSpec) as object), hooks: { createContainer: [ownMountsHook()] } });
}
