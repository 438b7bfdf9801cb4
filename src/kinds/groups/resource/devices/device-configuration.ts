/** Configuration of devices that only their driver interprets. */
import { isTree } from '../../../../base/json/tree.ts';
import { s } from '../../../../schema/builders.ts';
import { type FieldError, invalid, required, tooLong, under } from '../../../../schema/field-error.ts';
import type { TypeOf } from '../../../../schema/schema.ts';
import { driverName } from './device-names.ts';

const MAX_DATA_BYTES = 10 * 1024;

export const OpaqueDeviceConfiguration = s.object(
  'OpaqueDeviceConfiguration',
  'Parameters that only the driver interprets.',
  {
    driver: s.string('Name of the driver the parameters are for. Required.', { zero: true }),
    parameters: s.any('Driver-specific parameters, as an object of at most 10 KiB. Required.', { zero: true }),
  },
);
type OpaqueDeviceConfiguration = TypeOf<typeof OpaqueDeviceConfiguration>;

interface Configuration {
  readonly opaque?: OpaqueDeviceConfiguration;
}

/** Parameters that are already `stored` may be longer. */
export function configurationRules({ opaque }: Configuration, stored = false): FieldError[] {
  if (!opaque) return [required('opaque')];
  const { driver, parameters } = opaque;
  return under('opaque', [
    ...under('driver', driverName(driver)),
    ...(parameters === undefined ? [required('parameters')] : under('parameters', driverData(parameters, stored))),
  ]);
}

/** Checks driver-specific data. */
export function driverData(data: unknown, stored = false): FieldError[] {
  if (!stored && Buffer.byteLength(JSON.stringify(data)) > MAX_DATA_BYTES) return [tooLong('', MAX_DATA_BYTES)];
  return isTree(data) ? [] : [invalid('', '<value omitted>', 'must be a valid JSON object')];
}
