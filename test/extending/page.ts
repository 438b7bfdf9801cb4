/** Reads docs/extending.md as instructions: the files that it creates, and its additions to others. */

export type Step =
  | { readonly type: 'create'; readonly path: string; readonly text: string }
  | { readonly type: 'change'; readonly path: string; readonly lines: readonly string[] };

const BLOCK = /^```(\w+) (\S+)\n([\s\S]*?)^```$/gm;

export function stepsOf(page: string): Step[] {
  return [...page.matchAll(BLOCK)].map(([, language, path, text]) =>
    language === 'diff'
      ? { type: 'change', path: path!, lines: text!.trimEnd().split('\n') }
      : { type: 'create', path: path!, text: text! },
  );
}

/** Applies a change: lines with a space are found in the text, those with `-` go, those with `+` come behind. */
export function changed(text: string, { path, lines }: Extract<Step, { type: 'change' }>): string {
  const found = lines.filter((line) => !line.startsWith('+')).map((line) => `${line.slice(1)}\n`);
  const after = lines.filter((line) => !line.startsWith('-')).map((line) => `${line.slice(1)}\n`);
  const parts = text.split(found.join(''));
  if (parts.length !== 2) {
    throw new Error(`docs/extending.md: ${path} has ${parts.length - 1} places for\n${lines.join('\n')}`);
  }
  return parts.join(after.join(''));
}
