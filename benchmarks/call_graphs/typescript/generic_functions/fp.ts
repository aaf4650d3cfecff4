export function identity<T>(value: T): T {
  return value;
}

export function mapValues<A, B>(source: Record<string, A>, change: (value: A) => B): Record<string, B> {
  const result: Record<string, B> = {};
  for (const key of Object.keys(source)) {
    result[key] = change(source[key]);
  }
  return result;
}

export const pluck = <T, K extends keyof T>(rows: T[], key: K): T[K][] => rows.map((row) => row[key]);
