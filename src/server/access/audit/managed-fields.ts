type Tree = Record<string, any>;

/** Strips `managedFields` from the JSON of an object, a list or a table. */
export function withoutManagedFields(text: string): string {
  if (!text.includes('"managedFields"')) return text;
  const tree = JSON.parse(text) as Tree | null;
  strip(tree);
  if (Array.isArray(tree?.items)) tree.items.forEach(strip);
  if (Array.isArray(tree?.rows)) for (const row of tree.rows) strip(row?.object);
  return JSON.stringify(tree);
}

function strip(tree: Tree | null | undefined): void {
  if (typeof tree?.metadata === 'object' && tree.metadata !== null) delete tree.metadata.managedFields;
}
