export const add = (a: number) => (b: number): number => combine(a, b);

function combine(a: number, b: number): number {
  return a + b;
}

export function prefixed(prefix: string) {
  return function withPrefix(name: string) {
    return function build(end: string): string {
      return join(prefix, name, end);
    };
  };
}

const join = (...parts: string[]): string => parts.join('-');
