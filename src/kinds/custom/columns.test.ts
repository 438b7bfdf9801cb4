import { expect, it } from 'vitest';
import { customColumns } from './columns.ts';

it('shows the start of many values, and looks at no others', () => {
  let looks = 0;
  const value = {
    get a() {
      looks++;
      return 'x'.repeat(50);
    },
  };
  const [, column] = customColumns({
    ...{ name: 'v1', served: true, storage: true },
    additionalPrinterColumns: [{ name: 'Values', type: 'string', jsonPath: '.list[*]' }],
  } as never);
  const object = { list: new Array(5_000).fill(value) };
  expect(column!.cell(object as never, 0)).toMatch(/^\{"a":"x+"\} \{"a":"x+"\} /);
  expect(looks).toBeLessThan(100);
});
