import type { Handler, Upper } from './types';

export function pipe(first: Upper, rest: Handler[], input: string): string {
  return rest.reduce((text, handler) => handler.handle(text), first.handle(input));
}
