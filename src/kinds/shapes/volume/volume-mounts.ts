/** Mounts volumes of a pod into a container: as directories and as block devices. */
import { addAll } from '../../../base/collections/add-all.ts';
import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, invalid, notFound, notSupported, required } from '../../../schema/field-error.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { backsteps, descendingPath } from '../meta/paths.ts';

const mount = {
  name: s.string('Name of the volume in spec.volumes.', { zero: true }),
  readOnly: s.boolean('Mounts the volume read-only. Defaults to false.', { omitZero: true }),
  recursiveReadOnly: s.string(
    'Whether mounts below a read-only mount are read-only, too: Disabled, Enabled or IfPossible (where the ' +
      'runtime supports it). Requires readOnly. Defaults to Disabled.',
  ),
  mountPath: s.string('Path in the container at which the volume is mounted. Unique within the container.', {
    zero: true,
  }),
  subPath: s.string(
    "Path within the volume that is mounted instead of its root. Must be relative and must not contain '..'.",
    { omitZero: true },
  ),
  mountPropagation: s.string(
    'How mounts propagate between the node and the container: None, HostToContainer, or Bidirectional ' +
      '(privileged containers only). Defaults to None.',
  ),
  subPathExpr: s.string(
    'Like subPath, with $(NAME) replaced by environment variables of the container. Cannot be combined with ' +
      'subPath.',
    { omitZero: true },
  ),
};
type VolumeMount = ObjectType<typeof mount>;

const device = {
  name: s.string(
    'Name of a volume in spec.volumes that uses a PersistentVolumeClaim, or an ephemeral claim, with ' +
      'volumeMode Block.',
    { zero: true },
  ),
  devicePath: s.string('Path of the device in the container. Unique within the container.', { zero: true }),
};
type VolumeDevice = ObjectType<typeof device>;

export const VolumeMounts = s.listMap(
  s.object('VolumeMount', 'Mount of a volume into a container.', mount),
  'Volumes of the pod that are mounted into the file system of the container.',
  { keys: ['mountPath'] },
);

export const VolumeDevices = s.listMap(
  s.object('VolumeDevice', 'Use of a volume as a raw block device.', device),
  'Volumes of the pod that the container uses as raw block devices.',
  { keys: ['devicePath'] },
);

/** The part of a container that uses volumes. */
interface Mounting {
  readonly volumeMounts?: readonly VolumeMount[];
  readonly volumeDevices?: readonly VolumeDevice[];
  readonly securityContext?: { readonly privileged?: boolean };
}

interface KnownVolume {
  /** True when the volume is a claim, which can also be used as a block device. */
  readonly claimed: boolean;
  readonly emptyDir: boolean;
}

/** The volumes of a pod by name. */
export type KnownVolumes = ReadonlyMap<string, KnownVolume>;

/** Errors of the mounts of a container, with paths relative to the container. */
export function mountProblems(container: Mounting, volumes: KnownVolumes): FieldError[] {
  const { volumeMounts, volumeDevices } = container;
  if (!volumeMounts && !volumeDevices) return [];
  return [...directories(container, volumes), ...devices(container, volumes)];
}

function directories({ volumeMounts = [], volumeDevices = [], securityContext }: Mounting, volumes: KnownVolumes) {
  const found: FieldError[] = [];
  const paths = new Set<string>();
  const deviceNames = new Set(volumeDevices.map(({ name }) => name));
  const devicePaths = new Set(volumeDevices.map(({ devicePath }) => devicePath));
  volumeMounts.forEach((each, index) => {
    const { name, mountPath } = each;
    const at = (field: string) => `volumeMounts[${index}].${field}`;
    if (!name) found.push(required(at('name')));
    if (!volumes.has(name)) found.push(notFound(at('name'), name));
    if (!mountPath) found.push(required(at('mountPath')));
    if (paths.has(mountPath)) found.push(invalid(at('mountPath'), mountPath, 'must be unique'));
    paths.add(mountPath);
    if (deviceNames.has(name)) {
      found.push(invalid(at('name'), name, 'must not already exist in volumeDevices'));
    }
    if (devicePaths.has(mountPath)) {
      found.push(invalid(at('mountPath'), mountPath, 'must not already exist as a path in volumeDevices'));
    }
    if (each.subPath && each.subPathExpr) {
      found.push(invalid(at('subPathExpr'), each.subPathExpr, 'subPathExpr and subPath are mutually exclusive'));
    }
    addAll(found, mountOptions(each, securityContext?.privileged === true));
  });
  return found;
}

const propagations = ['Bidirectional', 'HostToContainer', 'None'];
const recursions = ['Disabled', 'Enabled', 'IfPossible'];

/** The API reports these at the list, not at the item. */
function mountOptions(each: VolumeMount, privileged: boolean): FieldError[] {
  const { subPath, subPathExpr, mountPropagation: propagation, recursiveReadOnly: recursion } = each;
  const found: FieldError[] = [];
  for (const complaint of descendingPath(subPath ?? ''))
    found.push(invalid('volumeMounts.subPath', subPath, complaint));
  for (const complaint of descendingPath(subPathExpr ?? '')) {
    found.push(invalid('volumeMounts.subPathExpr', subPathExpr, complaint));
  }
  if (propagation !== undefined && !propagations.includes(propagation)) {
    found.push(notSupported('volumeMounts.mountPropagation', propagation, propagations));
  }
  if (propagation === 'Bidirectional' && !privileged) {
    const detail = 'Bidirectional mount propagation is available only to privileged containers';
    found.push(forbidden('volumeMounts.mountPropagation', detail));
  }
  if (recursion === undefined || recursion === 'Disabled') return found;
  const field = 'volumeMounts.recursiveReadOnly';
  if (!recursions.includes(recursion)) return [...found, notSupported(field, recursion, recursions)];
  if (!each.readOnly) found.push(forbidden(field, 'may only be specified when readOnly is true'));
  if (propagation !== undefined && propagation !== 'None') {
    found.push(forbidden(field, 'may only be specified when mountPropagation is None or not specified'));
  }
  return found;
}

function devices({ volumeMounts = [], volumeDevices = [] }: Mounting, volumes: KnownVolumes): FieldError[] {
  const found: FieldError[] = [];
  const names = new Set<string>();
  const paths = new Set<string>();
  const mountNames = new Set(volumeMounts.map(({ name }) => name));
  const mountPaths = new Set(volumeMounts.map(({ mountPath }) => mountPath));
  volumeDevices.forEach(({ name, devicePath }, index) => {
    const at = (field: string) => `volumeDevices[${index}].${field}`;
    const volume = volumes.get(name);
    if (!name) found.push(required(at('name')));
    if (names.has(name)) found.push(invalid(at('name'), name, 'must be unique'));
    if (!volume) {
      found.push(notFound(at('name'), name));
    } else if (!volume.claimed) {
      const detail = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
      found.push(invalid(at('name'), name, detail));
    }
    if (!devicePath) found.push(required(at('devicePath')));
    if (paths.has(devicePath)) found.push(invalid(at('devicePath'), devicePath, 'must be unique'));
    if (backsteps(devicePath).length) {
      found.push(invalid(at('devicePath'), devicePath, "can not contain backsteps ('..')"));
    } else {
      paths.add(devicePath);
    }
    if (mountNames.has(name)) {
      found.push(invalid(at('name'), name, 'must not already exist in volumeMounts'));
    }
    if (mountPaths.has(devicePath)) {
      found.push(invalid(at('devicePath'), devicePath, 'must not already exist as a path in volumeMounts'));
    }
    if (name) names.add(name);
  });
  return found;
}
