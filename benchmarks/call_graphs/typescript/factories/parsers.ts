export abstract class Parser {
  abstract parse(text: string): unknown;
}

class JsonParser extends Parser {
  parse(text: string): unknown {
    return JSON.parse(text);
  }
}

class LineParser extends Parser {
  parse(text: string): unknown {
    return split(text);
  }
}

function split(text: string): string[] {
  return text.split('\n');
}

export function createParser(kind: 'json' | 'lines'): Parser {
  if (kind === 'json') return new JsonParser();
  return new LineParser();
}
