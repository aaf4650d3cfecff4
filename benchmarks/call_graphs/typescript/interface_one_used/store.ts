export interface Store {
  get(key: string): string | undefined;
  set(key: string, value: string): void;
}

export class MemoryStore implements Store {
  private entries = new Map<string, string>();
  get(key: string): string | undefined {
    return this.entries.get(key);
  }
  set(key: string, value: string): void {
    this.entries.set(key, value);
  }
}
