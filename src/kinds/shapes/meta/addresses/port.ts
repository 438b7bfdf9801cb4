/** Port numbers and references to ports. */
import { type FieldError, invalid } from '../../../../schema/field-error.ts';
import { portName, portNumber } from '../../../../schema/names.ts';

/** The limits of a port number, for a field's options. */
export const portRange = { min: 1, max: 65535 } as const;

/** The number of a port, or its name in a container. */
export function portNumberOrName(port: number | string): FieldError[] {
  const complaints = typeof port === 'number' ? portNumber(port) : portName(port);
  return complaints.map((each) => invalid('', port, each));
}
