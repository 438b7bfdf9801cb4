/** Rules for single volume sources. */
import { type FieldError, invalid, notSupported, required } from '../../../schema/field-error.ts';

interface FibreChannel {
  readonly targetWWNs?: readonly string[];
  readonly wwids?: readonly string[];
  readonly lun?: number;
}

export function fibreChannelRule({ targetWWNs = [], wwids = [], lun }: FibreChannel): FieldError[] {
  if (targetWWNs.length === 0) {
    const detail = 'must specify either targetWWNs or wwids, but not both';
    return wwids.length === 0 ? [required('targetWWNs', detail)] : [];
  }
  const found: FieldError[] = [];
  if (wwids.length > 0) {
    found.push(invalid('targetWWNs', targetWWNs, 'targetWWNs and wwids can not be specified simultaneously'));
  }
  if (lun === undefined) {
    found.push(required('lun', 'lun is required if targetWWNs is specified'));
  } else if (lun < 0 || lun > 255) {
    found.push(invalid('lun', lun, 'must be between 0 and 255, inclusive'));
  }
  return found;
}

interface Flocker {
  readonly datasetName?: string;
  readonly datasetUUID?: string;
}

export function flockerRule({ datasetName: name, datasetUUID: uuid }: Flocker): FieldError[] {
  if (!name && !uuid) return [required('', 'one of datasetName and datasetUUID is required')];
  const found: FieldError[] = [];
  if (name && uuid) {
    found.push(invalid('', 'resource', 'datasetName and datasetUUID can not be specified simultaneously'));
  }
  if (name?.includes('/')) found.push(invalid('datasetName', name, "must not contain '/'"));
  return found;
}

interface Quobyte {
  readonly registry?: string;
  readonly tenant?: string;
}

/** Further pairs that are wrong are not reported: each error quotes the whole field. */
const MAX_PAIR_ERRORS = 100;

export function quobyteRule({ registry, tenant = '' }: Quobyte): FieldError[] {
  if (!registry) return [];
  if (tenant.length >= 65) {
    return [required('tenant', 'must be a UUID and may not exceed a length of 64 characters')];
  }
  const detail = 'must be a host:port pair or multiple pairs separated by commas';
  return registry
    .split(',')
    .filter((pair) => !isHostAndPort(pair))
    .slice(0, MAX_PAIR_ERRORS)
    .map(() => invalid('registry', registry, detail));
}

/** An IPv6 address is in brackets. */
const isHostAndPort = (pair: string): boolean => /^(\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/.test(pair);

interface AzureDisk {
  readonly kind?: string;
  readonly diskURI?: string;
}

const managedDisk = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const blobDisk = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

export function azureDiskRule({ kind, diskURI = '' }: AzureDisk): FieldError | undefined {
  const [start, shape] = kind === 'Managed' ? ['/subscriptions/', managedDisk] : ['https://', blobDisk];
  return diskURI.startsWith(start) ? undefined : notSupported('diskURI', diskURI, [shape]);
}

const iscsiNames: readonly [string, RegExp][] = [
  ['iqn', /iqn\.\d{4}-\d{2}\.([A-Za-z0-9\-.]+)(:[^,;*&$|\s]+)$/],
  ['eui', /^eui.[A-Za-z0-9]{16}$/],
  ['naa', /^naa.[A-Za-z0-9]{32}$/],
];

/** Problems of the name of an iSCSI target or initiator. */
export function iscsiName(name: string): string[] {
  const family = iscsiNames.find(([start]) => name.startsWith(start));
  if (!family) return ['must be valid format starting with iqn, eui, or naa'];
  return family[1].test(name) ? [] : ['must be valid format'];
}

/** Options with the domains kubernetes.io and k8s.io are reserved. */
export function flexOptionsRule(options: Readonly<Record<string, string>>): FieldError[] {
  return Object.keys(options)
    .filter((key) => /\.(kubernetes|k8s)\.io$/.test(`.${key.split('/', 1)[0]!.toLowerCase()}`))
    .map((key) => invalid(`[${key}]`, key, 'kubernetes.io and k8s.io namespaces are reserved'));
}
