import { expect, it } from 'vitest';
import { customColumns } from './columns.ts';

it('a cell shows the first of many values, and does not look at others', () => {
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

it.each(['.list[*].a', '.list[?(@.a=="y")].a', '..a'])(
  'a row with many columns %s looks at a limited number of values',
  (path) => {
    let looks = 0;
    const value = {
      get a() {
        looks++;
        return 'x';
      },
    };
    const columns = customColumns({
      ...{ name: 'v1', served: true, storage: true },
      additionalPrinterColumns: Array.from({ length: 200 }, (_, i) => ({
        name: `c${i}`,
        type: 'string',
        jsonPath: path,
      })),
    } as never);
    const object = { list: new Array(5_000).fill(value), metadata: { name: 'a' } };
    for (const { cell } of columns) cell(object as never, 0);
    expect(looks).toBeGreaterThan(200);
    expect(looks).toBeLessThan(60_000);
  },
);
