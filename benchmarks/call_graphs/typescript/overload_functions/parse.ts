export function parse(input: string): number;
export function parse(input: number): string;
export function parse(input: string | number): number | string {
  return typeof input === 'string' ? fromText(input) : toText(input);
}

function fromText(text: string): number {
  return Number(text);
}

function toText(value: number): string {
  return String(value);
}
