export interface Statement {
  text: string;
  values: unknown[];
}

export function sql(parts: TemplateStringsArray, ...values: unknown[]): Statement {
  return { text: parts.join(placeholder()), values };
}

const placeholder = (): string => '?';

export function raw(text: string): Statement {
  return { text, values: [] };
}
