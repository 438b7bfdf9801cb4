/** Selectors of devices: CEL expressions over their attributes. */
import { s } from '../../../../schema/builders.ts';
import { type FieldError, invalid, required, tooLong } from '../../../../schema/field-error.ts';
import type { TypeOf } from '../../../../schema/schema.ts';
import { eachItem } from '../list-rules.ts';

const MAX_SELECTORS = 32;
const MAX_EXPRESSION_BYTES = 10 * 1024;

const DeviceSelector = s.object('DeviceSelector', 'A condition on devices.', {
  cel: s.object('CELDeviceSelector', 'Selects devices with a CEL expression.', {
    expression: s.string(
      'CEL expression that is true for devices to select, such as `device.driver == "gpu.example.com"`. The variable device offers driver, attributes and capacity. At most 10 KiB.',
      { zero: true },
    ),
  }),
});
export type DeviceSelector = TypeOf<typeof DeviceSelector>;

export const DeviceSelectors = s.list(DeviceSelector, 'Conditions that a device must fulfil, all of them. At most 32.');

/** Checks lengths only: expressions are not compiled. */
export function selectorRules(selectors: readonly DeviceSelector[] | undefined): FieldError[] {
  return eachItem('selectors', selectors, MAX_SELECTORS, ({ cel }) => {
    if (!cel) return [required('cel')];
    const { expression } = cel;
    if (Buffer.byteLength(expression) > MAX_EXPRESSION_BYTES) return [tooLong('cel.expression', MAX_EXPRESSION_BYTES)];
    return expression.trim()
      ? []
      : [invalid('cel.expression', expression, 'compilation failed: the expression is empty')];
  });
}
