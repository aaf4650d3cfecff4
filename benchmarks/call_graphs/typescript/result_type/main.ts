import { err, ok, type Result } from './result';

function parse(text: string): Result<number> {
  return text ? ok(text.length) : err('empty');
}

const double = (value: number): number => value * 2;

export function run(text: string): boolean {
  return parse(text).map(double).ok;
}

run('ab');
run('');
