import { Level } from './level';

export function show(text: string): string {
  return Level.label(Level.parse(text));
}

show('high');
show('low');
