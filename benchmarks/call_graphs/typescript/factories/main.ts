import { createParser } from './parsers';

export function load(kind: 'json' | 'lines', text: string): unknown {
  const parser = createParser(kind);
  return parser.parse(text);
}

load('json', '{}');
load('lines', 'a');
