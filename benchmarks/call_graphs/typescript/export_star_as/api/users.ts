export function list(): string[] {
  return ['ann'];
}

export const remove = (name: string): boolean => list().includes(name);
